/** When Metacontroller asks again. */
import { LIMITS } from '../core/limits.ts';

/** For times that have come already: 0 and less would mean never. */
const SOONEST_SECONDS = 0.1;

/**
 * Metacontroller turns the seconds into nanoseconds in 64 bits, and what does not fit becomes negative: it would ask again
 * at once, for ever. A far time is looked at again on the way.
 */
export function boundedResync<T extends { resyncAfterSeconds?: number }>(answer: T): T {
  const { resyncAfterSeconds: wanted } = answer;
  if (wanted === undefined) return answer;
  const seconds = Number.isNaN(wanted) ? LIMITS.resyncAfterSeconds : wanted;
  return { ...answer, resyncAfterSeconds: Math.min(Math.max(seconds, SOONEST_SECONDS), LIMITS.resyncAfterSeconds) };
}
