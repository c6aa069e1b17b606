/**
 * DecoratorController `rollout-requests`: removes one-shot annotations from a Rollout whose requests are recorded as
 * handled, and repairs the label by which HealthChecks find the Rollout, which the webhook sets.
 * The composite of Rollouts can't do this: it writes only its parent's status.
 */
import type { DecoratorResponse } from '../../api/metacontroller.ts';
import type { Rollout } from '../../api/types.ts';
import { watchesLabel } from '../../core/health/association.ts';
import { setRequests } from '../../core/rollout/evaluation/rolloutRequests.ts';
import { CONFLICT_REQUEUE_SECONDS, type DecoratorHook, repairedLabels, requeueByAge } from '../hook.ts';

/**
 * The time to the next sync while a request is pending. Changes of the status, which would show that the request is
 * handled, trigger no sync, because each release writes the status several times. The time is short for a new request:
 * most are handled at once, and until its annotation is removed, the same request made again has no effect. It is
 * longer for an old one, which may wait for days, on thousands of Rollouts.
 */
const SHORTEST_REQUEUE_SECONDS = 0.25;
const LONGEST_REQUEUE_SECONDS = 10;

export const rolloutRequestsHook: DecoratorHook<Rollout> = {
  async sync({ object: rollout }, { now }) {
    if (rollout.metadata.deletionTimestamp) return { attachments: [] };
    const requests = setRequests(rollout);
    const used = requests.filter(({ isHandled }) => isHandled);
    const response: DecoratorResponse = { attachments: [], ...repairedLabels(rollout, watchesLabel(rollout)) };
    if (used.length > 0) {
      response.annotations = Object.fromEntries(used.map(({ annotation }) => [annotation, null]));
      response.resyncAfterSeconds = CONFLICT_REQUEUE_SECONDS;
    } else if (requests.length > 0) {
      const requested = Math.max(...requests.map(({ record }) => record?.at ?? 0));
      response.resyncAfterSeconds ??= requeueByAge(now - requested, SHORTEST_REQUEUE_SECONDS, LONGEST_REQUEUE_SECONDS);
    }
    return response;
  },
};
