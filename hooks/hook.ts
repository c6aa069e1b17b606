/** The shapes of a hook module. hooks/index.ts mounts each at `/hooks/<name>/sync` and `/hooks/<name>/customize`. */
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
  /** The answer to a request that is larger than `maxBytes`, which is not read. */
  answerTooLarge?(): DecoratorResponse;
  maxBytes?: number;
}

/**
 * An error that ends a sync, which a hook in doubt throws: nothing is applied, and Metacontroller calls again later.
 * Metacontroller shows the message in an event.
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
 * Until the next sync after a decorator's write. Metacontroller silently drops a write that meets a conflict, so the
 * hook is called until there is nothing to write.
 */
export const CONFLICT_REQUEUE_SECONDS = 1;

/** The field of an answer, for the soonest of these times; empty if all are undefined. */
export function resyncAfter(seconds: readonly (number | undefined)[]): { resyncAfterSeconds?: number } {
  const times = seconds.filter((each) => each !== undefined);
  return times.length > 0 ? { resyncAfterSeconds: times.reduce((a, b) => Math.min(a, b)) } : {};
}

/** The answer for times that have come already: 0 and less would mean never. */
const SOONEST_REQUEUE_SECONDS = 0.1;

/**
 * The answer with its time within limits; a time far ahead is reached in several steps.
 * Metacontroller turns the seconds into nanoseconds in 64 bits. If they don't fit, they become negative, and it would
 * call again at once, forever.
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
