/**
 * DecoratorController `rollout-requests`: takes used one-shot annotations off a Rollout, exactly those whose request is
 * recorded as handled, and repairs the label by which HealthChecks find it, which the webhook sets.
 * A composite cannot change its parent's metadata.
 */
import { REQUESTED_AT } from '../../api/annotations.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { DecoratorResponse } from '../../api/metacontroller.ts';
import type { Rollout } from '../../api/types.ts';
import { watchesLabel } from '../../core/health/association.ts';
import { parseTime } from '../../core/kube/time.ts';
import { requestIdsOf, usedAnnotations } from '../../core/rollout/evaluation/rolloutRequests.ts';
import { repairedLabels } from '../gateLabelsHook.ts';
import { CONFLICT_RETRY_S, type DecoratorHook } from '../hook.ts';

/**
 * The controller ignores changes of the status, which each release writes several times: while something is asked for,
 * it looks itself.
 * What was just asked for is mostly done at once, and repeating the same request before the annotation is removed
 * changes nothing.
 */
const REQUESTED_REQUEUE_S = { first: 0.25, last: 2 };

export const rolloutRequestsHook: DecoratorHook = {
  async sync({ object }, { now }) {
    const rollout = object as unknown as Rollout;
    if (rollout.metadata.deletionTimestamp) return { attachments: [] };
    const used = usedAnnotations(rollout);
    const response: DecoratorResponse = { attachments: [], ...repairedLabels(rollout, watchesLabel(rollout)) };
    if (used.length > 0) response.annotations = Object.fromEntries(used.map((annotation) => [annotation, null]));
    if (used.length > 0) response.resyncAfterSeconds = CONFLICT_RETRY_S;
    else if (Object.keys(requestIdsOf(rollout.metadata.annotations)).length > 0)
      response.resyncAfterSeconds ??= nextSync(rollout, now);
    return response;
  },
};

/** Seconds; a quarter of how long ago it was asked for. */
function nextSync({ metadata }: Rollout, now: EpochMs): number {
  const requested = parseTime(metadata.annotations?.[REQUESTED_AT]) ?? 0;
  return Math.min(Math.max((now - requested) / 4000, REQUESTED_REQUEUE_S.first), REQUESTED_REQUEUE_S.last);
}
