/**
 * Virtual time: planned actions in order. Between two actions every ready promise runs, and only then the time
 * advances, so that a seed decides the order of everything. Times have whole milliseconds, as in a process.
 */
import type { Clock } from '../../engine/runtime/clock.ts';

interface PlannedAction {
  at: number;
  /** undefined once cancelled. */
  run: (() => void) | undefined;
}

export class VirtualTime {
  now: number;
  readonly #random: () => number;
  /** By time; actions of the same time in the order in which they were planned. */
  readonly #planned: PlannedAction[] = [];

  constructor(start: number, random: () => number) {
    this.now = start;
    this.#random = random;
  }

  /** Plans an action; the returned function cancels it. */
  after(ms: number, run: () => void): () => void {
    const action: PlannedAction = { at: Math.ceil(this.now + Math.max(0, ms)), run };
    let [low, high] = [0, this.#planned.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#planned[middle]!.at <= action.at) low = middle + 1;
      else high = middle;
    }
    this.#planned.splice(low, 0, action);
    return () => {
      action.run = undefined;
    };
  }

  random(): number {
    return this.#random();
  }

  /** Moves every clock forward, as after a suspended machine: actions planned meanwhile run late. */
  leap(ms: number): void {
    this.now += ms;
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  /** Runs every action until this time, and the actions that they plan. */
  async runUntil(end: number): Promise<void> {
    const until = Math.ceil(end);
    await idle();
    while (this.#planned[0] && this.#planned[0].at <= until) {
      const next = this.#planned.shift()!;
      if (!next.run) continue;
      this.now = Math.max(this.now, next.at);
      next.run();
      await idle();
    }
    this.now = Math.max(this.now, until);
  }
}

/** The clock of a process, which may be wrong. After the end of the process, its planned actions don't run. */
export class ProcessClock implements Clock {
  readonly #time: VirtualTime;
  readonly #offset: () => number;
  #ended = false;

  constructor(time: VirtualTime, offset: () => number) {
    this.#time = time;
    this.#offset = offset;
  }

  now(): number {
    return this.#time.now + this.#offset();
  }

  random(): number {
    return this.#time.random();
  }

  after(ms: number, action: () => void): () => void {
    return this.#time.after(ms, () => {
      if (!this.#ended) action();
    });
  }

  end(): void {
    this.#ended = true;
  }
}

/** Resolves after every ready promise has run: Node empties its queue of microtasks before the next tick. */
const idle = () => new Promise<void>((resolve) => process.nextTick(resolve));
