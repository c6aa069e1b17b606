/** CompositeControllers `rolloutschedules` and `clusterrolloutschedules`: make RolloutGates from calendar rules. */
import { KINDS, NAMESPACES, ROLLOUTS } from '../api/kinds.ts';
import type { EpochMs, KubeObject } from '../api/kubernetes.ts';
import type { ClusterReader, HookCall } from '../api/ports.ts';
import type { ClusterRolloutSchedule, RolloutGate } from '../api/types.ts';
import {
  listedRollout,
  type MatchingRollouts,
  planSchedule,
  type Schedule,
  scheduleProblems,
} from '../core/calendar/schedulePlan.ts';
import { objectsOf } from '../core/kube/objectMap.ts';
import { toSelectorString } from '../core/kube/selector.ts';
import { LIMITS } from '../core/limits.ts';
import { listKept } from '../live/objectReads.ts';
import type { CompositeHook } from './hook.ts';

/** The interval for changes that trigger no sync: a new Rollout, and changed labels of a Rollout or Namespace. */
const NEW_ROLLOUT_REQUEUE_SECONDS = 10;
/**
 * The maximum age of a list of Rollouts: each write of a RolloutGate triggers a sync of its schedule, which must not
 * list again.
 */
const ROLLOUTS_MAX_AGE_MS = 2000;
/** The longest wait: a longer timer may drift, and a new release of ours may change a time zone's rules. */
const LONGEST_REQUEUE_SECONDS = 3600;

export const scheduleHook: CompositeHook<Schedule> = {
  async sync({ parent: schedule, children }, call) {
    const isValid = scheduleProblems(schedule).length === 0;
    const matching = isValid ? await matchingRollouts(schedule, call) : { listed: [], isTruncated: false };
    const observed = objectsOf<RolloutGate>(children, KINDS.RolloutGate);
    const { gates, status, until } = planSchedule(schedule, matching, observed, call.now);
    const longest = isValid ? NEW_ROLLOUT_REQUEUE_SECONDS : LONGEST_REQUEUE_SECONDS;
    return {
      status,
      children: gates as unknown as KubeObject[],
      resyncAfterSeconds: nextSyncSeconds(longest, until, call.now),
    };
  },
};

/**
 * The Rollouts that the schedule selects. They are listed, not related: related Rollouts are sent in full, so one
 * tenant could make the request of a schedule for all tenants too large.
 */
async function matchingRollouts(schedule: Schedule, { cluster, sharedReads }: HookCall): Promise<MatchingRollouts> {
  const { namespace } = schedule.metadata;
  const labelSelector = toSelectorString(schedule.spec?.rolloutSelector);
  const ref = { ...ROLLOUTS, labelSelector, ...(namespace && { namespace }), metadataOnly: true as const };
  const key = `rollouts ${namespace ?? ''} ${labelSelector}`;
  const [rollouts, namespaces] = await Promise.all([
    sharedReads.recent(ROLLOUTS_MAX_AGE_MS, key, () =>
      listKept(ref, listedRollout, cluster, { atMost: LIMITS.listedRollouts }),
    ),
    namespacesOf(schedule, cluster),
  ]);
  if (!namespaces) return rollouts;
  return { ...rollouts, listed: rollouts.listed.filter((rollout) => namespaces.has(rollout.namespace)) };
}

/** The namespaces that the schedule selects; undefined means all, as does an empty selector. */
async function namespacesOf(schedule: Schedule, cluster: ClusterReader): Promise<ReadonlySet<string> | undefined> {
  const selector = (schedule as ClusterRolloutSchedule).spec?.namespaceSelector;
  const labelSelector = toSelectorString(selector);
  if (schedule.metadata.namespace || labelSelector === '') return undefined;
  const namespaces = await cluster.listMetadata({ ...NAMESPACES, labelSelector });
  return new Set(namespaces.map(({ metadata }) => metadata.name ?? ''));
}

/** Seconds to the next transition, at most `longest`. */
function nextSyncSeconds(longest: number, until: EpochMs | undefined, now: EpochMs): number {
  return Math.min(longest, ((until ?? Number.POSITIVE_INFINITY) - now) / 1000);
}
