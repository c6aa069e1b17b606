/** CompositeControllers `rolloutschedules` and `clusterrolloutschedules`: calendar rules → RolloutGates. */
import { KINDS, ROLLOUTS } from '../api/kinds.ts';
import type { EpochMs, KubeObject } from '../api/kubernetes.ts';
import type { RelatedResourceRule } from '../api/metacontroller.ts';
import type { ClusterRolloutSchedule, Rollout, RolloutGate } from '../api/types.ts';
import { objectsOf } from '../core/kube/objectMap.ts';
import { compileSelector } from '../core/kube/selector.ts';
import type { Schedule } from '../core/schedule/gates.ts';
import { planSchedule } from '../core/schedule/plan.ts';
import { scheduleProblems } from '../core/schedule/problems.ts';
import type { CompositeHook } from './hook.ts';

/** A label that changes on a Namespace triggers no sync. */
const NAMESPACE_LOOK_S = 60;
/** A timer much longer than this may drift, and a time zone's rules may change with a new release of ours. */
const LONGEST_LOOK_S = 3600;

const scheduleHook: CompositeHook = {
  async customize({ parent }) {
    const rule = rolloutRule(parent as unknown as Schedule);
    return { relatedResources: rule ? [rule] : [] };
  },

  async sync({ parent, related, children }, { now }) {
    const schedule = parent as unknown as Schedule;
    const observed = objectsOf<RolloutGate>(children, KINDS.RolloutGate);
    const { gates, status, until } = planSchedule(
      schedule,
      matching(schedule, objectsOf(related, KINDS.Rollout)),
      observed,
      now,
    );
    return { status, children: gates as unknown as KubeObject[], resyncAfterSeconds: nextLook(schedule, until, now) };
  },
};

export const rolloutScheduleHook = scheduleHook;
export const clusterRolloutScheduleHook = scheduleHook;

/** undefined for a schedule that does not compile: Metacontroller would fail on its selectors. */
function rolloutRule(schedule: Schedule): RelatedResourceRule | undefined {
  if (!schedule.spec || scheduleProblems(schedule).length > 0) return undefined;
  const rule = {
    ...ROLLOUTS,
    labelSelector: schedule.spec.rolloutSelector,
  };
  if (schedule.metadata.namespace) return { ...rule, namespace: schedule.metadata.namespace };
  const namespaceSelector = namespacesOf(schedule);
  return namespaceSelector ? { ...rule, namespaceSelector } : rule;
}

/** What is related may be as old as the customize answer: up to 20 minutes for labels of a Rollout. */
function matching(schedule: Schedule, rollouts: Rollout[]): Rollout[] {
  if (scheduleProblems(schedule).length > 0) return [];
  const matches = compileSelector(schedule.spec?.rolloutSelector);
  return rollouts.filter(({ metadata }) => matches(metadata.labels));
}

/** undefined: all namespaces, as the API document says of an empty selector. */
function namespacesOf(schedule: Schedule) {
  const selector = (schedule as ClusterRolloutSchedule).spec?.namespaceSelector;
  const empty = !Object.keys(selector?.matchLabels ?? {}).length && !selector?.matchExpressions?.length;
  return empty ? undefined : selector;
}

/** Seconds until the next transition, exactly. */
function nextLook(schedule: Schedule, until: EpochMs | undefined, now: EpochMs): number {
  const longest = namespacesOf(schedule) ? NAMESPACE_LOOK_S : LONGEST_LOOK_S;
  return Math.min(longest, ((until ?? Number.POSITIVE_INFINITY) - now) / 1000);
}
