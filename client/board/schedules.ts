/** A RolloutSchedule over the coming weeks, as bands of the page's calendar: what its RolloutGates let through, and when that changes. */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { ClusterRolloutSchedule, RolloutSchedule } from '../../api/types.ts';
import { refKey } from '../../core/kube/names.ts';
import { scheduleRow } from '../explain/calendar/spans.ts';
import { type Band, HORIZON_MS } from './bands.ts';

export interface ScheduleView {
  /** `namespace/name`; of a ClusterRolloutSchedule the name. */
  id: string;
  kind: 'RolloutSchedule' | 'ClusterRolloutSchedule';
  namespace: string;
  name: string;
  opened: boolean;
  /** `3 Rollouts`. */
  holds: string;
  until?: string;
  bands: Band[];
  /** What of it does not parse: it opens and closes nothing. */
  problem?: string;
}

/** As many as of a Gate. */
const MOST_BANDS = 120;

export function scheduleView(schedule: RolloutSchedule | ClusterRolloutSchedule, now: EpochMs): ScheduleView {
  const { kind, namespace, name, holds, spans, problem } = scheduleRow(schedule, now, now + HORIZON_MS);
  const bands = spans.slice(0, MOST_BANDS).map(({ from, to, state, why }, index) => ({
    from,
    // The last one ends where nobody looks any further.
    ...(index < spans.length - 1 && { to }),
    opened: state === 'open',
    message: why,
    reason: why,
  }));
  const [first] = bands;
  return {
    id: refKey({ namespace, name }),
    kind: kind as ScheduleView['kind'],
    namespace,
    name,
    opened: first?.opened ?? true,
    holds,
    bands,
    ...(first?.to && { until: first.to }),
    ...(problem && { problem }),
  };
}
