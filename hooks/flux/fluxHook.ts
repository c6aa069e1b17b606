/**
 * Decorator of every governed Flux kind. It writes the object's FluxBinding, which lists what the object requires;
 * makes the webhook set what its Rollouts deploy; and reports the state of its Gates in the object's conditions. Gate
 * changes don't trigger it: the decorator in holdHook.ts suspends and resumes the object, and this one acts after that
 * write.
 */
import { DEPLOYED, GATE_STATE, RECONCILE_REQUESTED_AT, RESUME_LABEL, SUSPENDED } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import { FLUX_BINDINGS, KINDS, KUSTOMIZATIONS, ROLLOUTS } from '../../api/kinds.ts';
import type { EpochMs, NamespacedName } from '../../api/kubernetes.ts';
import type { DecoratorResponse, RelatedResourceRule } from '../../api/metacontroller.ts';
import type { ClusterReader, HookCall } from '../../api/ports.ts';
import type { FluxBinding, Gate, Rollout } from '../../api/types.ts';
import { reportInputs } from '../../core/binding/bindingReport.ts';
import { bindingName, makeBinding } from '../../core/binding/bindingSpec.ts';
import { nextBinding, targetOfBinding } from '../../core/binding/bindingStatus.ts';
import { artifactTrigger, deploymentTrigger } from '../../core/binding/trigger.ts';
import { byRefKey } from '../../core/kube/names.ts';
import { objectAt, objectsOf } from '../../core/kube/objectMap.ts';
import { secondsUntil } from '../../core/kube/time.ts';
import { managedFieldsOf } from '../../core/managedField/managedFields.ts';
import { recordedRefs } from '../../core/objectGates/objectGates.ts';
import {
  awaitedApply,
  currentWait,
  MAX_REQUESTING,
  mayApplyFluxObjects,
  mayRequestApply,
  objectKeyOf,
  reconcileRequest,
  resumedAloneAt,
  resumeLabel,
} from '../../core/suspension/applier.ts';
import { type Gating, gatingOf, stateByRollouts } from '../../core/suspension/fluxMarks.ts';
import { withGateCondition } from '../../core/suspension/gateConditions.ts';
import { recentGates, refRules } from '../../live/gateReads.ts';
import { namedRules } from '../customizeRules.ts';
import { CONFLICT_REQUEUE_SECONDS, type DecoratorHook, resyncAfter } from '../hook.ts';

export const fluxHook: DecoratorHook<FluxObject> = {
  /**
   * Metacontroller caches the answer by generation. Until the next generation, the FluxBinding relates the Rollouts
   * that the annotations name since.
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
    const { now } = call;
    const { namespace } = object.metadata;
    const observed = objectAt<FluxBinding>(attachments, KINDS.FluxBinding, namespace, bindingName(object));
    const { gating, gates } = await readGating(object, call);

    const applier = awaitedApply(object);
    const mayRequest = applier !== undefined && (await mayRequestFrom(applier, object, observed, call.cluster));
    const binding = makeBinding(object, gating.binding, observed, mayRequest);
    const inputs = reportInputs(objectsOf<Rollout>(related, KINDS.Rollout), gates);
    const next = binding && nextBinding(binding, observed, inputs, now);
    const answer: DecoratorResponse = { attachments: next ? [next.binding] : [] };
    if (object.metadata.deletionTimestamp) return answer;

    const bindingStatus = next ? next.status : observed?.status;
    const state = stateByRollouts(object, gating, bindingStatus, now);
    const annotations = annotationsFor(object, state, bindingStatus, objectsOf(related, KINDS.FluxBinding), now);
    const recordsSuspension = object.metadata.annotations?.[SUSPENDED] !== undefined;
    const applierProgress = currentWait(object, bindingStatus);
    const isUpToDate = state === undefined && gating.isMarked;
    const status = isUpToDate ? withGateCondition(object, gating, now, applierProgress) : undefined;
    const reportAt = gating.statusChangedAt + REPORT_DELAY_MS;
    if (Object.keys(annotations).length > 0) answer.annotations = annotations;
    if (status && reportAt <= now) answer.status = status;
    if (answer.annotations ?? answer.status) return { ...answer, resyncAfterSeconds: CONFLICT_REQUEUE_SECONDS };
    const changesAt = [next?.requeueAt, status && reportAt, resumedAloneAt(applierProgress)];
    const requeues = [
      ...changesAt.map((at) => (at === undefined ? undefined : secondsUntil(at, now))),
      (applier && !mayRequest) || !gating.isMarked ? PENDING_REQUEUE_SECONDS : undefined,
      recordsSuspension ? HELD_REQUEUE_SECONDS : undefined,
    ];
    return { ...answer, ...resyncAfter(requeues) };
  },
};

/** The annotations to write: `state`, the triggers of the webhook, and a request to the object as an applier. */
function annotationsFor(
  object: FluxObject,
  state: string | undefined,
  bindingStatus: FluxBinding['status'],
  bindings: readonly FluxBinding[],
  now: EpochMs,
): Record<string, string | null> {
  const deployed = deploymentTrigger(object, bindingStatus);
  const waitingBindings = bindings.filter((binding) => mayRequestApply(object, targetOfBinding(binding)));
  const requestedAt = reconcileRequest(object, waitingBindings, now);
  return {
    ...(state !== undefined && { [GATE_STATE]: state }),
    ...(deployed !== undefined && { [DEPLOYED]: deployed }),
    ...artifactTrigger(object, bindingStatus),
    ...(requestedAt !== undefined && { [RECONCILE_REQUESTED_AT]: requestedAt }),
  };
}

/**
 * The delay from a Gate's change to the status. A freeze suspends before it reports: each status costs two writes of
 * Metacontroller, which delay the next suspension.
 */
const REPORT_DELAY_MS = 5000;

/**
 * The interval at which the report on a held object is computed again: Gate changes trigger only the decorator `hold`.
 */
const HELD_REQUEUE_SECONDS = 60;

/**
 * The time to the next sync of an object that may not yet request its applier's apply, or isn't marked yet as its Gates
 * require.
 */
const PENDING_REQUEUE_SECONDS = 10;

/** The maximum age of a Gate that was read: one read serves all its objects. */
const GATE_MAX_AGE_MS = 1000;
/** The maximum age if the object's marks contradict the Gate: a freeze may have marked the object since. */
const DOUBTED_GATE_MAX_AGE_MS = 200;

/** Reads the object's Gates, which this decorator doesn't relate, and what they require of the object. */
async function readGating(object: FluxObject, call: HookCall): Promise<{ gating: Gating; gates: Gate[] }> {
  const rules = refRules(call.settings);
  const refs = recordedRefs(object, rules);
  const read = async (maxAgeMs: number) => {
    const gates = await recentGates(refs, maxAgeMs, call);
    return { gates, gating: gatingOf(object, byRefKey(gates), call.now, rules) };
  };
  const known = await read(GATE_MAX_AGE_MS);
  return known.gating.isMarked || refs.length === 0 ? known : read(DOUBTED_GATE_MAX_AGE_MS);
}

/**
 * Whether the object may request an apply: false if MAX_REQUESTING objects request already, or if the Kustomization
 * does not apply the object.
 */
async function mayRequestFrom(
  applier: NamespacedName,
  object: FluxObject,
  observed: FluxBinding | undefined,
  cluster: ClusterReader,
): Promise<boolean> {
  const label = resumeLabel(applier);
  if (observed?.metadata.labels?.[RESUME_LABEL] === label) return true;
  const [found, requesting] = await Promise.all([
    cluster.get<FluxObject>({ ...KUSTOMIZATIONS, ...applier }),
    cluster.list({ ...FLUX_BINDINGS, labelSelector: `${RESUME_LABEL}=${label}`, atMost: MAX_REQUESTING }),
  ]);
  return requesting.length < MAX_REQUESTING && mayRequestApply(found, objectKeyOf(object));
}
