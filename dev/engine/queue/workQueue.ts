/**
 * A work queue with client-go's rules: a key waits at most once, is never worked on twice at the same time, and one
 * that is added while it is worked on comes again afterwards. Of several delayed adds of a key, the earliest counts.
 */
import type { EpochMs } from '../../../api/kubernetes.ts';
import type { Clock } from '../runtime/clock.ts';
import { TokenBucket } from '../runtime/rateLimit.ts';

interface Delayed {
  readyAt: EpochMs;
  cancel(): void;
}

export class WorkQueue {
  readonly #clock: Clock;
  readonly #onReady: () => void;
  readonly #backoff = new Backoff();
  readonly #ready = new Set<string>();
  readonly #inWork = new Set<string>();
  readonly #again = new Set<string>();
  readonly #delayed = new Map<string, Delayed>();
  #stopped = false;

  /** `onReady` is called when there may be something to take. */
  constructor(clock: Clock, onReady: () => void = () => {}) {
    this.#clock = clock;
    this.#onReady = onReady;
  }

  add(key: string): void {
    if (this.#stopped) return;
    if (this.#inWork.has(key)) {
      this.#again.add(key);
      return;
    }
    if (this.#ready.has(key)) return;
    this.#ready.add(key);
    this.#onReady();
  }

  addAfter(key: string, delayMs: number): void {
    if (this.#stopped) return;
    if (!(delayMs > 0)) {
      this.add(key);
      return;
    }
    const readyAt = this.#clock.now() + delayMs;
    const waiting = this.#delayed.get(key);
    if (waiting && waiting.readyAt <= readyAt) return;
    waiting?.cancel();
    const cancel = this.#clock.after(delayMs, () => {
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, { readyAt, cancel });
  }

  /** After a failure: comes again after a delay that grows with each failure since the last `forget`. */
  addRateLimited(key: string): void {
    if (this.#stopped) return;
    this.addAfter(key, this.#backoff.next(key, this.#clock.now()));
  }

  forget(key: string): void {
    this.#backoff.forget(key);
  }

  /** The next key, now in work until `done`; undefined when nothing waits. */
  take(): string | undefined {
    for (const key of this.#ready) {
      this.#ready.delete(key);
      this.#inWork.add(key);
      return key;
    }
    return undefined;
  }

  done(key: string): void {
    this.#inWork.delete(key);
    if (this.#again.delete(key)) this.add(key);
  }

  /** Drops what waits; keys in work end as they do. */
  stop(): void {
    this.#stopped = true;
    for (const { cancel } of this.#delayed.values()) cancel();
    this.#delayed.clear();
    this.#ready.clear();
    this.#again.clear();
  }
}

const FIRST_MS = 5;
const LONGEST_MS = 1_000_000;

/** Delays after failures, as client-go's default for controllers: the later of a key's backoff and an overall limit. */
export class Backoff {
  readonly #failures = new Map<string, number>();
  readonly #overall = new TokenBucket(10, 100);

  /** Counts one more failure of `key`; returns how long it has to wait, in milliseconds. */
  next(key: string, now: EpochMs): number {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    return Math.max(Math.min(FIRST_MS * 2 ** failures, LONGEST_MS), this.#overall.reserve(now));
  }

  forget(key: string): void {
    this.#failures.delete(key);
  }
}
