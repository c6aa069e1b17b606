/**
 * Decorator of every governed Flux kind: publishes what the object asks for as its FluxBinding, has the webhook set what its Rollouts deploy,
 * and says on the object what its Gates do. What suspends and resumes it is hold.ts: Gates don't wake this one, which has nothing to do in a
 * freeze before the object is written.
 */
import { DEPLOYED, GATE_STATE, RECONCILE_REQUESTED_AT, RESUME_LABEL, SUSPENDED } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import { FLUX_BINDINGS, KINDS, KUSTOMIZATIONS, ROLLOUTS } from '../../api/kinds.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { DecoratorRequest, DecoratorResponse, RelatedResourceRule } from '../../api/metacontroller.ts';
import type { ClusterReader } from '../../api/ports.ts';
import type { FluxBinding, Rollout } from '../../api/types.ts';
import { withGateCondition } from '../../core/admission/conditions.ts';
import { stateByRollouts } from '../../core/admission/gating.ts';
import { pinAnnotationsOf } from '../../core/admission/managedFields/annotations.ts';
import { appliedOf } from '../../core/admission/suspend/applier.ts';
import { reconcileRequest } from '../../core/admission/suspend/reconcileRequest.ts';
import {
  awaitedApply,
  currentAwaits,
  MAX_ASKING,
  mayApplyFluxObjects,
  mayAsk,
  resumedAloneAt,
  resumeLabel,
} from '../../core/admission/suspend/resume.ts';
import { withReport } from '../../core/binding/delay.ts';
import { inputsOf } from '../../core/binding/report.ts';
import { bindingName, bindingOf } from '../../core/binding/spec.ts';
import { artifactTrigger, deploymentTrigger } from '../../core/binding/trigger.ts';
import { objectAt, objectsOf } from '../../core/kube/objectMap.ts';
import { secondsUntil } from '../../core/kube/time.ts';
import { namedRules } from '../customizeRules.ts';
import type { DecoratorHook } from '../hook.ts';
import { readGating } from './gates.ts';

export const fluxHook: DecoratorHook = {
  /** Metacontroller caches the answer by generation: Rollouts that the annotations name later are related by the FluxBinding until then. */
  async customize({ parent }) {
    const { namespace = '', name = '' } = parent.metadata;
    const rollouts = [...new Set(pinAnnotationsOf(parent).pins.map(({ rollout }) => rollout))];
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

  async sync(request, call) {
    const { now, cluster } = call;
    const { object, attachments, related } = request as DecoratorRequest<FluxObject>;
    const { namespace } = object.metadata;
    const observed = objectAt<FluxBinding>(attachments, KINDS.FluxBinding, namespace, bindingName(object));
    const { gating, gates } = await readGating(object, call, { ownNamespaceOnly: call.settings.noCrossNamespaceRefs });

    const inputs = inputsOf(objectsOf<Rollout>(related, KINDS.Rollout), gates);
    const awaited = awaitedApply(object);
    const asks = awaited !== undefined && (await mayAskFor(awaited, object, observed, cluster));
    const wanted = bindingOf(object, gating, observed, asks);
    const reporting = wanted && withReport(wanted, observed, inputs, now);
    const answer: DecoratorResponse = { attachments: reporting ? [reporting.binding] : [] };
    if (object.metadata.deletionTimestamp) return answer;

    const seen = reporting ? reporting.status : observed?.status;
    const annotations: Record<string, string | null> = {};
    const state = stateByRollouts(object, gating, seen, now);
    if (state !== undefined) annotations[GATE_STATE] = state;
    const deployed = deploymentTrigger(object, seen);
    if (deployed !== undefined) annotations[DEPLOYED] = deployed;
    Object.assign(annotations, artifactTrigger(object, seen));
    const waiting = objectsOf<FluxBinding>(related, KINDS.FluxBinding).filter((binding) =>
      isAppliedBy(object, binding),
    );
    const requested = reconcileRequest(object, waiting, now);
    if (requested !== undefined) annotations[RECONCILE_REQUESTED_AT] = requested;

    const isSuspendedByUs = object.metadata.annotations?.[SUSPENDED] !== undefined;
    const awaits = currentAwaits(object, seen);
    const closed = gating.gates.length > 0 ? gating.closed : undefined;
    const isSettled = state === undefined && gating.isMarked;
    const status = isSettled ? withGateCondition(object, closed, now, awaits, gating.closings) : undefined;
    const saysAt = gating.changedAt + FREEZE_MS;
    if (Object.keys(annotations).length > 0) answer.annotations = annotations;
    if (status && saysAt <= now) answer.status = status;
    const looks = [
      reporting?.requeueAt,
      status && saysAt > now ? saysAt : undefined,
      resumedAloneAt(awaits),
      (awaited && !asks) || !gating.isMarked ? now + LATER_MS : undefined,
      isSuspendedByUs ? now + HELD_LOOK_MS : undefined,
    ].filter((at) => at !== undefined);
    // Metacontroller swallows a conflict of either write: look again soon.
    if (answer.annotations || answer.status) answer.resyncAfterSeconds = 1;
    else if (looks.length > 0) answer.resyncAfterSeconds = secondsUntil(Math.min(...looks), now);
    return answer;
  },
};

/** First a freeze suspends, then the objects say so: each status that is written costs two writes of Metacontroller, in the way of the next suspension. */
const FREEZE_MS = 5000;

/** How often what is reported of a held object is read again: its Gates wake the decorator that holds it, and not this one. */
const HELD_LOOK_MS = 60_000;

/** When an object looks again whether it may ask for its applier, or still has to; and at Gates that want it otherwise than it is. */
const LATER_MS = 10_000;

/** Not where so many ask already, and not for a Kustomization that does not apply the object, whatever its labels say. */
async function mayAskFor(
  applier: NamespacedName,
  object: FluxObject,
  observed: FluxBinding | undefined,
  cluster: ClusterReader,
): Promise<boolean> {
  const label = resumeLabel(applier);
  if (observed?.metadata.labels?.[RESUME_LABEL] === label) return true;
  const [found, asking] = await Promise.all([
    cluster.get<FluxObject>({ ...KUSTOMIZATIONS, ...applier }),
    cluster.list({ ...FLUX_BINDINGS, labelSelector: `${RESUME_LABEL}=${label}`, atMost: MAX_ASKING }),
  ]);
  return asking.length < MAX_ASKING && mayAsk(found, appliedOf(object));
}

function isAppliedBy(applier: FluxObject, { spec, metadata }: FluxBinding): boolean {
  const { apiVersion = '', kind = '', name = '' } = spec?.target ?? {};
  return mayAsk(applier, { apiVersion, kind, name, namespace: metadata.namespace ?? '' });
}
