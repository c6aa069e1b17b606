/** A clock that a test advances. */
import type { Clock } from '../../../../dev/engine/runtime/clock.ts';

export class FakeClock implements Clock {
  /** Every delay that was asked for. */
  readonly delays: number[] = [];
  #now = 0;
  #timers: { at: number; action: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  random(): number {
    return 0;
  }

  after(delayMs: number, action: () => void): () => void {
    this.delays.push(delayMs);
    const timer = { at: this.#now + delayMs, action };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Runs timers that become due meanwhile, in order. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const [next] = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (!next) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.#now = next.at;
      next.action();
    }
    this.#now = end;
  }
}
