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

export interface CompositeHook {
  customize?(request: CustomizeRequest, call: HookCall): Promise<CustomizeResponse>;
  sync(request: CompositeRequest, call: HookCall): Promise<CompositeResponse>;
}

export interface DecoratorHook {
  customize?(request: CustomizeRequest, call: HookCall): Promise<CustomizeResponse>;
  sync(request: DecoratorRequest, call: HookCall): Promise<DecoratorResponse>;
  /** The answer to a request that is larger than `maxBytes`, which is not read. */
  unseen?(): DecoratorResponse;
  maxBytes?: number;
}

/**
 * A hook in doubt throws: nothing is applied and Metacontroller asks again later.
 * The message is for the reader of its event.
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
 * Metacontroller drops a decorator's write that meets a conflict, silently: the hook is called again until there is
 * nothing to write.
 */
export const CONFLICT_RETRY_S = 1;

/** The soonest of some times; absent if there are none. */
export function resyncAfter(seconds: readonly (number | undefined)[]): { resyncAfterSeconds?: number } {
  const times = seconds.filter((each) => each !== undefined);
  return times.length > 0 ? { resyncAfterSeconds: times.reduce((a, b) => Math.min(a, b)) } : {};
}

/** For times that have come already: 0 and less would mean never. */
const SOONEST_SECONDS = 0.1;

/**
 * Metacontroller turns the seconds into nanoseconds in 64 bits, and what does not fit becomes negative: it would ask
 * again at once, forever. A time far ahead is reached in several steps.
 */
export function boundedResync<T extends { resyncAfterSeconds?: number }>(answer: T): T {
  const { resyncAfterSeconds: wanted } = answer;
  if (wanted === undefined) return answer;
  const seconds = Number.isNaN(wanted) ? LIMITS.resyncAfterSeconds : wanted;
  return { ...answer, resyncAfterSeconds: Math.min(Math.max(seconds, SOONEST_SECONDS), LIMITS.resyncAfterSeconds) };
}
