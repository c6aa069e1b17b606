/** A token bucket that lends: each caller gets the time it has to wait, in order of arrival. */
import type { EpochMs } from '../../../api/kubernetes.ts';

export class TokenBucket {
  readonly #perSecond: number;
  readonly #burst: number;
  #tokens: number;
  #filledAt: EpochMs = Number.NEGATIVE_INFINITY;

  constructor(perSecond: number, burst: number) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#tokens = burst;
  }

  /** Takes one token; returns the milliseconds after which it may be used (0: now). */
  reserve(now: EpochMs): number {
    if (now > this.#filledAt) {
      const gained = ((now - this.#filledAt) / 1000) * this.#perSecond;
      this.#tokens = Math.min(this.#burst, this.#tokens + gained);
      this.#filledAt = now;
    }
    this.#tokens -= 1;
    return this.#tokens >= 0 ? 0 : (-this.#tokens / this.#perSecond) * 1000;
  }
}
