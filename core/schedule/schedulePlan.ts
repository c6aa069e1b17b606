/**
 * The plan of a schedule at an instant: its RolloutGates, its status, and the next change. Rules: docs/schedules.md.
 */
import { READY, STALLED } from '../../api/conditions.ts';
import type { Condition, EpochMs, KubeObject } from '../../api/kubernetes.ts';
import type { RolloutGate, RolloutSchedule } from '../../api/types.ts';
import { activeRules, nextTransition } from '../calendar/activeRules.ts';
import { compileCalendar } from '../calendar/calendarRules.ts';
import { falseCondition, setCondition, setConditions, trueCondition } from '../kube/conditions.ts';
import { type FieldProblem, problemText } from '../kube/fieldProblem.ts';
import { refKey, without } from '../kube/names.ts';
import { selectorProblems } from '../kube/selector.ts';
import { formatTime } from '../kube/time.ts';
import { LIMITS } from '../limits.ts';
import { type Schedule, scheduleGate, unchangedGate } from './scheduleGates.ts';

export type ScheduleStatus = NonNullable<RolloutSchedule['status']>;

interface SchedulePlan {
  gates: RolloutGate[];
  status: ScheduleStatus;
  /** The next instant at which a RolloutGate changes. */
  until?: EpochMs;
}

/**
 * @param matching the Rollouts that match
 * @param observed the RolloutGates that exist
 */
export function planSchedule(
  schedule: Schedule,
  matching: MatchingRollouts,
  observed: RolloutGate[],
  now: EpochMs,
): SchedulePlan {
  const problems = scheduleProblems(schedule);
  const calendar = schedule.spec && compileCalendar(schedule.spec, 'spec').calendar;
  if (problems.length > 0 || !calendar)
    return unchangedPlan(schedule, observed, problems.map(problemText).join('; '), now);

  const names = activeRules(calendar, now);
  const active = names.length > 0;
  const passing = schedule.spec?.action === 'Allow' ? active : !active;
  const until = nextTransition(calendar, now);
  const { rollouts, problem } = scheduledRollouts(matching, observed);
  const gates = rollouts.map((rollout) => scheduleGate(schedule, rollout, passing, until));
  const managed = gates
    .map(({ metadata: { namespace, name } }) => (schedule.metadata.namespace ? name! : `${namespace}/${name}`))
    .sort();
  const status: ScheduleStatus = {
    ...observedGeneration(schedule),
    ...(active && { active, activeRules: names }),
    ...(until !== undefined && { nextTransition: formatTime(until) }),
    ...(managed.length > 0 && { managedGates: managed, matchingRollouts: managed.length }),
    conditions: setCondition<Condition>(
      schedule.status?.conditions?.filter(({ type }) => type !== STALLED),
      problem === undefined
        ? trueCondition(READY, 'ScheduleEvaluated', `${passing ? 'Passing' : 'Holding'} ${managed.length} Rollouts`)
        : falseCondition(READY, 'TooManyRollouts', problem),
      now,
    ),
  };
  return { gates, status, ...(until !== undefined && { until }) };
}

/** The plan of an invalid schedule, which changes no RolloutGate. */
function unchangedPlan(schedule: Schedule, observed: RolloutGate[], message: string, now: EpochMs): SchedulePlan {
  const { nextTransition: _, conditions, ...last } = schedule.status ?? {};
  const reason = 'InvalidSchedule';
  const added = [falseCondition(READY, reason, message), trueCondition(STALLED, reason, message)];
  return {
    gates: observed.map(unchangedGate),
    status: {
      ...last,
      ...observedGeneration(schedule),
      conditions: setConditions<Condition>(conditions, added, now),
    },
  };
}

function observedGeneration({ metadata }: Schedule) {
  return metadata.generation === undefined ? {} : { observedGeneration: metadata.generation };
}

/**
 * The fields that do not compile. Admission denies them; in a stored schedule they leave its RolloutGates unchanged.
 */
export function scheduleProblems({ spec }: Schedule): FieldProblem[] {
  if (!spec) return [{ field: 'spec', value: null, reason: 'expected rolloutSelector and rules' }];
  const selectors = {
    rolloutSelector: spec.rolloutSelector,
    namespaceSelector: 'namespaceSelector' in spec ? spec.namespaceSelector : undefined,
  };
  return [
    ...compileCalendar(spec, 'spec').problems,
    ...Object.entries(selectors).flatMap(([key, selector]) => selectorProblems(selector, `spec.${key}`)),
  ];
}

// The Rollouts for which a schedule has a RolloutGate, if more match than the limit.

interface ListedRollout {
  namespace: string;
  name: string;
  createdAt?: string | undefined;
}

export interface MatchingRollouts {
  listed: readonly ListedRollout[];
  /** Whether more match than `listed` has. */
  isTruncated: boolean;
}

interface ScheduledRollouts {
  rollouts: readonly ListedRollout[];
  /** Why some Rollouts that match have no RolloutGate. */
  problem?: string;
}

/**
 * The Rollouts that get a RolloutGate. Namespaces take turns, so that a large namespace takes no RolloutGate from a
 * small one. Within a namespace the Rollouts that have a RolloutGate come first, then the oldest. If not all Rollouts
 * are listed, a RolloutGate whose Rollout isn't listed stays, because that Rollout may still exist.
 */
function scheduledRollouts(
  { listed, isTruncated }: MatchingRollouts,
  observed: readonly RolloutGate[],
): ScheduledRollouts {
  if (!isTruncated && listed.length <= LIMITS.scheduledRollouts) return { rollouts: listed };
  const gated = new Map(observed.map((gate) => [refKey(rolloutOf(gate)), rolloutOf(gate)]));
  const unseen = isTruncated ? without([...gated.values()], listed) : [];
  const turns = [...Map.groupBy([...listed, ...unseen], ({ namespace }) => namespace).values()].flatMap((all) =>
    all.toSorted((a, b) => compareRollouts(a, b, gated)).map((rollout, turn) => ({ rollout, turn })),
  );
  const inTurn = turns.toSorted((a, b) => a.turn - b.turn).map(({ rollout }) => rollout);
  const count = isTruncated ? `more than ${LIMITS.listedRollouts}` : listed.length;
  const limit = isTruncated ? `limits scheduledRollouts and listedRollouts` : 'limit scheduledRollouts';
  return {
    rollouts: inTurn.slice(0, LIMITS.scheduledRollouts),
    problem:
      `spec.rolloutSelector matches ${count} Rollouts, but at most ${LIMITS.scheduledRollouts} get a RolloutGate (${limit}). ` +
      'The newest in the largest namespaces have none: narrow the selector, or split the schedule',
  };
}

function rolloutOf({ metadata, spec }: RolloutGate): ListedRollout {
  return { namespace: metadata.namespace ?? '', name: spec?.rolloutRef.name ?? '' };
}

function compareRollouts(a: ListedRollout, b: ListedRollout, gated: ReadonlyMap<string, unknown>): number {
  const key = (each: ListedRollout) => `${gated.has(refKey(each)) ? 0 : 1} ${each.createdAt ?? ''} ${each.name}`;
  return key(a) < key(b) ? -1 : 1;
}

export function listedRollout({ metadata }: Pick<KubeObject, 'metadata'>): ListedRollout {
  return { namespace: metadata.namespace ?? '', name: metadata.name ?? '', createdAt: metadata.creationTimestamp };
}
