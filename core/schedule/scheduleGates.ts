/** The RolloutGates of a schedule, one for each Rollout that it matches. Names and labels: docs/schedules.md. */
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
import { apiVersionOf, KINDS } from '../../api/kinds.ts';
import type { EpochMs, NamespacedName } from '../../api/kubernetes.ts';
import type { ClusterRolloutSchedule, RolloutGate, RolloutSchedule } from '../../api/types.ts';
import { labelValue, shortHash } from '../kube/names.ts';
import { formatTime } from '../kube/time.ts';

export type Schedule = RolloutSchedule | ClusterRolloutSchedule;

/** Annotations of the schedule that its RolloutGates have too. */
const COPIED_ANNOTATIONS = [GATE_PRETTY_NAME, GATE_DESCRIPTION];

/**
 * The RolloutGate for a Rollout. Its name follows from schedule and Rollout, so that a repeated sync creates no second
 * one. The schedule's uid is part of the name: a re-created schedule need not wait until the garbage collector has
 * removed the old RolloutGates.
 */
export function scheduleGate(
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
 * It keeps the time of its next change, from which on it doesn't count as passing.
 */
export function unchangedGate({ apiVersion, kind, metadata, spec }: RolloutGate): RolloutGate {
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
