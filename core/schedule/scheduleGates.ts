/** The RolloutGates of a schedule: one for each Rollout it matches. Names and labels: docs/schedules.md. */
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

const COPIED = [GATE_PRETTY_NAME, GATE_DESCRIPTION];

/**
 * The same schedule and Rollout give the same name, so that a repeat creates no second gate. The schedule's uid is in
 * it: one that is created again must not wait for the garbage collector to remove its predecessor's gates.
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
  const copies = copied(schedule.metadata.annotations);
  const annotations = until === undefined ? copies : { ...copies, [GATE_UNTIL]: formatTime(until) };
  return {
    apiVersion: apiVersionOf(KINDS.RolloutGate),
    kind: 'RolloutGate',
    metadata: {
      name: gateName,
      // Needed of the children of a cluster-scoped parent.
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

/** A gate as it is, in the form of an answer: what Metacontroller and the API server added is left out. */
export function unchangedGate({ apiVersion, kind, metadata, spec }: RolloutGate): RolloutGate {
  const annotations = copied(metadata.annotations);
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

/** undefined instead of an empty map, which would be rewritten at every sync. */
function copied(annotations: Record<string, string> | undefined): Record<string, string> | undefined {
  const found = Object.entries(annotations ?? {}).filter(([key]) => COPIED.includes(key));
  return found.length > 0 ? Object.fromEntries(found) : undefined;
}
