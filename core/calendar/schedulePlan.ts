/**
 * The plan of a schedule at an instant: its RolloutGates, its status, and the next change. Rules: docs/schedules.md.
 */

import {
  GATE_DESCRIPTION,
  GATE_PRETTY_NAME,
  GATE_UNTIL,
  ROLLOUT_NAME_LABEL,
  SCHEDULE_KIND_LABEL,
  SCHEDULE_NAME_LABEL,
  SCHEDULE_NAMESPACE_LABEL,
  SCHEDULE_ROLLOUT_LABEL,
} from '../../api/annotations.ts';
import { READY, STALLED } from '../../api/conditions.ts';
import { apiVersionOf, KINDS } from '../../api/kinds.ts';
import type { Condition, EpochMs, KubeObject, NamespacedName } from '../../api/kubernetes.ts';
import type { ClusterRolloutSchedule, RolloutGate, RolloutSchedule } from '../../api/types.ts';
import { falseCondition, setCondition, setConditions, trueCondition } from '../kube/conditions.ts';
import { type FieldProblem, problemText } from '../kube/fieldProblem.ts';
import { labelValue, refKey, shortHash, without } from '../kube/names.ts';
import { selectorProblems } from '../kube/selector.ts';
import { formatTime } from '../kube/time.ts';
import { LIMITS } from '../limits.ts';
import { countOf } from '../text/count.ts';
import { activeRules, nextTransition } from './activeRules.ts';
import { compileCalendar } from './calendarRules.ts';

export type ScheduleStatus = NonNullable<RolloutSchedule['status']>;

interface SchedulePlan {
  gates: RolloutGate[];
  status: ScheduleStatus;
  /** The next instant at which a RolloutGate changes. */
  until?: EpochMs;
}

/**
 * The RolloutGates of a schedule, its status, and the time of its next change.
 * @param matching the Rollouts that the schedule selects
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
        ? trueCondition(
            READY,
            'ScheduleEvaluated',
            `${passing ? 'Passing' : 'Holding'} ${countOf(managed.length, KINDS.Rollout.kind)}`,
          )
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

/** The Rollouts that a schedule selects. */
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

// The RolloutGates of a schedule, one for each Rollout that it matches. Names and labels: docs/schedules.md.

export type Schedule = RolloutSchedule | ClusterRolloutSchedule;

/** Annotations of the schedule that its RolloutGates have too. */
const COPIED_ANNOTATIONS = [GATE_PRETTY_NAME, GATE_DESCRIPTION];

/**
 * The RolloutGate for a Rollout. Its name follows from schedule and Rollout, so that a repeated sync creates no second
 * one. The schedule's uid is part of the name: a re-created schedule need not wait until the garbage collector has
 * removed the old RolloutGates.
 */
function scheduleGate(
  schedule: Schedule,
  rollout: NamespacedName,
  passing: boolean,
  until: EpochMs | undefined,
): RolloutGate {
  const { name = '', namespace, uid = '' } = schedule.metadata;
  const { namespace: home, name: rolloutName } = rollout;
  const gateName = `schedule-gate-${shortHash([uid, home, rolloutName].join('/'))}`;
  const copied = annotationsIn(schedule.metadata.annotations, COPIED_ANNOTATIONS);
  const annotations = until === undefined ? copied : { ...copied, [GATE_UNTIL]: formatTime(until) };
  return {
    apiVersion: apiVersionOf(KINDS.RolloutGate),
    kind: 'RolloutGate',
    metadata: {
      name: gateName,
      // A cluster-scoped parent has to name the namespace of its children.
      namespace: home,
      labels: {
        [SCHEDULE_NAME_LABEL]: labelValue(name),
        [SCHEDULE_KIND_LABEL]: schedule.kind,
        [SCHEDULE_ROLLOUT_LABEL]: labelValue(rolloutName),
        ...(namespace && { [SCHEDULE_NAMESPACE_LABEL]: namespace }),
        [ROLLOUT_NAME_LABEL]: labelValue(rolloutName),
      },
      ...(annotations && { annotations }),
    },
    spec: { rolloutRef: { name: rolloutName }, passing },
  };
}

/**
 * The RolloutGate unchanged, in the form of an answer: without what Metacontroller and the API server have added.
 * The RolloutGate keeps the time of its next change, from which on it doesn't count as passing.
 */
function unchangedGate({ apiVersion, kind, metadata, spec }: RolloutGate): RolloutGate {
  const annotations = annotationsIn(metadata.annotations, [...COPIED_ANNOTATIONS, GATE_UNTIL]);
  const labels = Object.fromEntries(
    Object.entries(metadata.labels ?? {}).filter(
      ([key]) => key.startsWith('gate.kuberik.com/') || key === ROLLOUT_NAME_LABEL,
    ),
  );
  return {
    apiVersion,
    kind,
    metadata: {
      name: metadata.name!,
      namespace: metadata.namespace!,
      labels,
      ...(annotations && { annotations }),
    },
    spec: spec!,
  };
}

/** The annotations with these keys; undefined instead of an empty map, which would be written again at every sync. */
function annotationsIn(annotations: Record<string, string> | undefined, keys: readonly string[]) {
  const copied = Object.entries(annotations ?? {}).filter(([key]) => keys.includes(key));
  return copied.length > 0 ? Object.fromEntries(copied) : undefined;
}
