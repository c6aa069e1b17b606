/**
 * Decorator of every governed Flux kind. It writes the object's FluxBinding, which lists what the object requires;
 * makes the webhook set what its Rollouts deploy; and reports the state of its Gates in the object's conditions. Gate
 * changes don't trigger it: the decorator in holdHook.ts suspends and resumes the object, and this one acts after that
 * write.
 */
import { RESUME_LABEL } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import { FLUX_BINDINGS, KINDS, KUSTOMIZATIONS, ROLLOUTS } from '../../api/kinds.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { RelatedResourceRule } from '../../api/metacontroller.ts';
import type { ClusterReader, HookCall } from '../../api/ports.ts';
import type { FluxBinding, Gate, Rollout } from '../../api/types.ts';
import { bindingName, reportInputsOf } from '../../core/binding/bindingSpec.ts';
import { decorate } from '../../core/binding/decorate.ts';
import { byRefKey } from '../../core/kube/names.ts';
import { objectAt, objectsOf } from '../../core/kube/objectMap.ts';
import { secondsUntil } from '../../core/kube/time.ts';
import { managedFieldsOf } from '../../core/managedField/managedFields.ts';
import { evaluateRecordedGates, type ObjectGates, recordedRefs } from '../../core/objectGates/objectGates.ts';
import {
  awaitedApply,
  MAX_REQUESTING,
  mayApply,
  mayApplyFluxObjects,
  objectKeyOf,
  resumeLabel,
} from '../../core/suspension/applier.ts';
import { fitsGates } from '../../core/suspension/stateTriggers.ts';
import { recentGates } from '../../live/gateReads.ts';
import { namedRules } from '../customizeRules.ts';
import { CONFLICT_REQUEUE_SECONDS, type DecoratorHook, resyncAfter } from '../hook.ts';

/** The maximum age of a Gate that the object's marks contradict: a freeze may have marked the object since. */
const DOUBTED_GATE_MAX_AGE_MS = 200;

export const fluxHook: DecoratorHook<FluxObject> = {
  /**
   * Metacontroller caches the answer by generation. Until the generation changes, Rollouts that the annotations name
   * later are related by the FluxBinding's own hook.
   */
  async customize({ parent }) {
    const { namespace = '', name = '' } = parent.metadata;
    const rollouts = [...new Set(managedFieldsOf(parent).fields.map(({ rollout }) => rollout))];
    const relatedResources: RelatedResourceRule[] = namedRules(
      ROLLOUTS,
      rollouts.map((name) => ({ namespace, name })),
    );
    if (mayApplyFluxObjects(parent)) {
      const waiting = { matchLabels: { [RESUME_LABEL]: resumeLabel({ namespace, name }) } };
      relatedResources.push({ ...FLUX_BINDINGS, labelSelector: waiting });
    }
    return { relatedResources };
  },

  async sync({ object, attachments, related }, call) {
    const stored = objectAt<FluxBinding>(
      attachments,
      KINDS.FluxBinding,
      object.metadata.namespace,
      bindingName(object),
    );
    const { gates, found } = await readRecordedGates(object, call);
    const applier = awaitedApply(object);
    const mayRequest = applier !== undefined && (await mayRequestFrom(applier, object, stored, call.cluster));
    const reportInputs = reportInputsOf(objectsOf<Rollout>(related, KINDS.Rollout), found);
    const waiting = objectsOf<FluxBinding>(related, KINDS.FluxBinding);
    const decoration = decorate({ object, stored, gates, reportInputs, waiting, mayRequest }, call.now);
    const { binding, annotations, status, requeueAt } = decoration;
    return {
      attachments: binding ? [binding] : [],
      annotations,
      status,
      ...resyncAfter([
        annotations || status ? CONFLICT_REQUEUE_SECONDS : requeueAt && secondsUntil(requeueAt, call.now),
      ]),
    };
  },
};

/** The Gates that the object's annotations record, which this decorator doesn't relate. */
async function readRecordedGates(object: FluxObject, call: HookCall): Promise<{ gates: ObjectGates; found: Gate[] }> {
  const refs = recordedRefs(object, call.settings);
  const read = async (maxAgeMs?: number) => {
    const found = await recentGates(refs, call, maxAgeMs);
    return { found, gates: evaluateRecordedGates(object, byRefKey(found), call.settings, call.now) };
  };
  const known = await read();
  return refs.length === 0 || fitsGates(object, known.gates) ? known : read(DOUBTED_GATE_MAX_AGE_MS);
}

/**
 * Whether the object may request an apply: false if MAX_REQUESTING objects request already, or if the Kustomization
 * does not apply the object.
 */
async function mayRequestFrom(
  applier: NamespacedName,
  object: FluxObject,
  stored: FluxBinding | undefined,
  cluster: ClusterReader,
): Promise<boolean> {
  const label = resumeLabel(applier);
  if (stored?.metadata.labels?.[RESUME_LABEL] === label) return true;
  const [found, requesting] = await Promise.all([
    cluster.get<FluxObject>({ ...KUSTOMIZATIONS, ...applier }),
    cluster.list({ ...FLUX_BINDINGS, labelSelector: `${RESUME_LABEL}=${label}`, atMost: MAX_REQUESTING }),
  ]);
  return requesting.length < MAX_REQUESTING && found !== undefined && mayApply(found, objectKeyOf(object));
}
