/** What a schedule wants at an instant: its gates, its status, and the next look. The rules: docs/schedules.md. */
import { READY, STALLED } from '../../api/conditions.ts';
import type { Condition, EpochMs } from '../../api/kubernetes.ts';
import type { RolloutGate, RolloutSchedule } from '../../api/types.ts';
import { compileCalendar } from '../calendar/calendar.ts';
import { activeRules, nextTransition } from '../calendar/evaluate.ts';
import { setCondition } from '../kube/conditions.ts';
import { problemText } from '../kube/fieldProblem.ts';
import { formatTime } from '../kube/time.ts';
import { type Schedule, scheduleGate, unchangedGate } from './gates.ts';
import { scheduleProblems } from './problems.ts';
import { type MatchingRollouts, scheduledRollouts } from './rollouts.ts';

export type ScheduleStatus = NonNullable<RolloutSchedule['status']>;

export interface SchedulePlan {
  gates: RolloutGate[];
  status: ScheduleStatus;
  /** The next instant at which a gate changes. */
  until?: EpochMs;
}

/** `matching`: the Rollouts that match; `observed`: the gates that exist. */
export function planSchedule(
  schedule: Schedule,
  matching: MatchingRollouts,
  observed: RolloutGate[],
  now: EpochMs,
): SchedulePlan {
  const problems = scheduleProblems(schedule);
  const calendar = schedule.spec && compileCalendar(schedule.spec, 'spec').calendar;
  if (problems.length > 0 || !calendar) return keep(schedule, observed, problems.map(problemText).join('; '), now);

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
    ...generation(schedule),
    ...(active && { active, activeRules: names }),
    ...(until !== undefined && { nextTransition: formatTime(until) }),
    ...(managed.length > 0 && { managedGates: managed, matchingRollouts: managed.length }),
    conditions: setCondition<Condition>(
      schedule.status?.conditions?.filter(({ type }) => type !== STALLED),
      problem === undefined
        ? {
            type: READY,
            status: 'True',
            reason: 'ScheduleEvaluated',
            message: `${passing ? 'Passing' : 'Holding'} ${managed.length} Rollouts`,
          }
        : { type: READY, status: 'False', reason: 'TooManyRollouts', message: problem },
      now,
    ),
  };
  return { gates, status, ...(until !== undefined && { until }) };
}

/** What such a schedule wants is unknown: everything stays as it is. */
function keep(schedule: Schedule, observed: RolloutGate[], message: string, now: EpochMs): SchedulePlan {
  const { nextTransition: _, conditions, ...last } = schedule.status ?? {};
  const reason = 'InvalidSchedule';
  const notReady = setCondition<Condition>(conditions, { type: READY, status: 'False', reason, message }, now);
  return {
    gates: observed.map(unchangedGate),
    status: {
      ...last,
      ...generation(schedule),
      conditions: setCondition(notReady, { type: STALLED, status: 'True', reason, message }, now),
    },
  };
}

function generation({ metadata }: Schedule) {
  return metadata.generation === undefined ? {} : { observedGeneration: metadata.generation };
}
