/** Time for the engine, as a port, so that queues and caches can be tested without waiting. */
import type { EpochMs } from '../../../api/kubernetes.ts';

export interface Clock {
  now(): EpochMs;
  /** From 0 to below 1, for what is spread over a time. */
  random(): number;
  /** Runs `action` once after `delayMs`; the returned function cancels it. */
  after(delayMs: number, action: () => void): () => void;
}

/**
 * setTimeout fires at once when its delay does not fit into 31 bits, which would turn a long resync into a hot loop.
 */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  random: () => Math.random(),
  after(delayMs, action) {
    const timer = setTimeout(action, Math.min(Math.max(delayMs, 0), LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  },
};

/** Runs `action` again and again; the returned function ends it. */
export function every(clock: Clock, ms: number, action: () => void): () => void {
  let cancel = clock.after(ms, again);
  function again(): void {
    cancel = clock.after(ms, again);
    action();
  }
  return () => cancel();
}

/** Resolves after `ms`, or earlier when the signal aborts. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const finish = () => {
      cancel();
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const cancel = clock.after(ms, finish);
    signal?.addEventListener('abort', finish, { once: true });
  });
}

const NANOSECONDS = 1_000_000_000;

/**
 * Milliseconds, as Go's `time.Duration(seconds * float64(time.Second))` on amd64, which Metacontroller computes delays
 * with. A float that does not fit into 64 bits becomes the least of all integers: a queue then adds at once.
 */
export function goDurationMs(seconds: number): number {
  const nanoseconds = seconds * NANOSECONDS;
  return Math.abs(nanoseconds) < 2 ** 63 ? Math.trunc(nanoseconds) / 1_000_000 : -(2 ** 63) / 1_000_000;
}
