/** When a Gate has to be looked at again. */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import { parseDuration } from '../kube/duration.ts';
import { shortHash } from '../kube/names.ts';
import { LIMITS } from '../limits.ts';
import type { GateEvaluation } from './evaluate.ts';

/** For Gates without `spec.interval`: the count of what they hold is at most this old. */
const DEFAULT_MS = 60_000;
const SHORTEST_MS = 1000;
const LONGEST_MS = LIMITS.resyncAfterSeconds * 1000;
/** Gates created together do not stay in step: an interval is cut short by up to a tenth, always the same for one Gate. */
const SPREAD = 0.1;

/** Seconds until the next edge, exactly, or until the interval is over. Always above 0: 0 would mean never. */
export function resyncSeconds(gate: Gate, { until, planned }: GateEvaluation, now: EpochMs): number {
  const wanted = parseDuration(gate.spec.interval) ?? DEFAULT_MS;
  const interval = Math.min(Math.max(wanted, SHORTEST_MS), LONGEST_MS);
  const share = Number.parseInt(shortHash(gate.metadata.uid ?? '').slice(0, 4), 16) / 0xffff;
  const next = Math.min(
    interval * (1 - SPREAD * share),
    (until ?? Number.POSITIVE_INFINITY) - now,
    (planned?.at ?? Number.POSITIVE_INFINITY) - now,
  );
  return Math.ceil(next) / 1000;
}
