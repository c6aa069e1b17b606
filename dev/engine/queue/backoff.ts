/** Delays after failures, as client-go's default for controllers: the later of a per-key backoff and an overall limit. */
import type { EpochMs } from '../../../api/kubernetes.ts';
import { TokenBucket } from '../runtime/rateLimit.ts';

const FIRST_MS = 5;
const LONGEST_MS = 1_000_000;

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
