/** Time for the engine, as a port, so that queues and caches can be tested without waiting. */
import type { EpochMs } from '../../../api/kubernetes.ts';

export interface Clock {
  now(): EpochMs;
  /** Runs `action` once after `delayMs`; the returned function cancels it. */
  after(delayMs: number, action: () => void): () => void;
}

/** setTimeout fires at once when its delay does not fit into 31 bits, which would turn a long resync into a hot loop. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(delayMs, action) {
    const timer = setTimeout(action, Math.min(Math.max(delayMs, 0), LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  },
};

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
