/**
 * The shapes of a hook module, and parts of answers. hooks/index.ts mounts each at `/hooks/<name>/sync` and
 * `/hooks/<name>/customize`.
 */
import type { EpochMs, KubeObject } from '../api/kubernetes.ts';
import type {
  CompositeRequest,
  CompositeResponse,
  CustomizeRequest,
  CustomizeResponse,
  DecoratorRequest,
  DecoratorResponse,
} from '../api/metacontroller.ts';
import type { HookCall } from '../api/ports.ts';
import { LIMITS } from '../core/limits.ts';

export interface CompositeHook<Parent> {
  customize?(request: CustomizeRequest<Parent>, call: HookCall): Promise<CustomizeResponse>;
  sync(request: CompositeRequest<Parent>, call: HookCall): Promise<CompositeResponse>;
}

export interface DecoratorHook<Target> {
  customize?(request: CustomizeRequest<Target>, call: HookCall): Promise<CustomizeResponse>;
  sync(request: DecoratorRequest<Target>, call: HookCall): Promise<DecoratorResponse>;
  /** Answers a request that is larger than `maxBytes`, without reading it. */
  answerTooLarge?(now: EpochMs): DecoratorResponse;
  maxBytes?: number;
}

/**
 * An error that ends a sync. A hook in doubt throws it: nothing is applied, and Metacontroller calls again later.
 * Metacontroller reports the message in an Event.
 */
export class HookError extends Error {
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;
  constructor(status: 400 | 422 | 429 | 500 | 503, message: string, retryAfterSeconds?: number) {
    super(message);
    this.name = 'HookError';
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * The time to the next sync after a decorator's write. Metacontroller silently drops a write that meets a conflict, so
 * the hook is called until there is nothing left to write.
 */
export const CONFLICT_REQUEUE_SECONDS = 1;

/**
 * The part of an answer that repairs the labels by which hooks and the webhook find an object; empty if all are right.
 * @param wanted a label without a value is one that the object must not have
 */
export function repairedLabels(
  { metadata }: KubeObject,
  wanted: Record<string, string | undefined>,
): Pick<DecoratorResponse, 'labels' | 'resyncAfterSeconds'> {
  const { labels = {}, deletionTimestamp } = metadata;
  const wrong = Object.entries(wanted).filter(([label, value]) => labels[label] !== value);
  if (deletionTimestamp || wrong.length === 0) return {};
  const repaired = Object.fromEntries(wrong.map(([label, value]) => [label, value ?? null]));
  return { labels: repaired, resyncAfterSeconds: CONFLICT_REQUEUE_SECONDS };
}

/**
 * Seconds to the next sync for something that has waited for `waitedMs`: a quarter of the wait, within these limits.
 */
export function requeueByAge(waitedMs: number, shortest: number, longest: number): number {
  return Math.min(Math.max(waitedMs / 4000, shortest), longest);
}

/** The field `resyncAfterSeconds` for the soonest of these times; empty if all are undefined. */
export function resyncAfter(seconds: readonly (number | undefined)[]): { resyncAfterSeconds?: number } {
  const times = seconds.filter((each) => each !== undefined);
  return times.length > 0 ? { resyncAfterSeconds: times.reduce((a, b) => Math.min(a, b)) } : {};
}

/** Used for times that have passed: Metacontroller takes 0 or less for never. */
const SOONEST_REQUEUE_SECONDS = 0.1;

/**
 * The answer with its time within limits, so that a time far ahead is reached in several steps. Metacontroller converts
 * the seconds to nanoseconds in 64 bits. On overflow they would be negative, and it would call again at once, forever.
 */
export function boundedResync<T extends { resyncAfterSeconds?: number }>(answer: T): T {
  const { resyncAfterSeconds: wanted } = answer;
  if (wanted === undefined) return answer;
  const seconds = Number.isNaN(wanted) ? LIMITS.resyncAfterSeconds : wanted;
  return {
    ...answer,
    resyncAfterSeconds: Math.min(Math.max(seconds, SOONEST_REQUEUE_SECONDS), LIMITS.resyncAfterSeconds),
  };
}
