/**
 * Virtual time: what is to happen, in order. The time goes on when nothing is left to do at this one. Between two events everything runs that
 * a promise has made ready, so that a seed decides the order of all that happens.
 */
import type { Clock } from '../../engine/runtime/clock.ts';

interface Planned {
  at: number;
  order: number;
  run: (() => void) | undefined;
}

export class VirtualTime {
  now: number;
  readonly #random: () => number;
  readonly #heap: Planned[] = [];
  #order = 0;

  constructor(start: number, random: () => number) {
    this.now = start;
    this.#random = random;
  }

  /** The returned function calls it off. */
  after(ms: number, run: () => void): () => void {
    const planned: Planned = { at: this.now + Math.max(0, ms), order: this.#order++, run };
    push(this.#heap, planned);
    return () => {
      planned.run = undefined;
    };
  }

  random(): number {
    return this.#random();
  }

  /** Every clock leaps forward, as after a machine has slept: what was to happen meanwhile happens late. */
  leap(ms: number): void {
    this.now += ms;
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  /** Everything that happens until this time, and what that causes. */
  async runUntil(end: number): Promise<void> {
    await idle();
    for (let next = this.#heap[0]; next && next.at <= end; next = this.#heap[0]) {
      pop(this.#heap);
      if (!next.run) continue;
      this.now = Math.max(this.now, next.at);
      next.run();
      await idle();
    }
    this.now = Math.max(this.now, end);
  }
}

/** A process: its clock may be wrong, and when it ends, nothing it has planned happens. */
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

/** Every promise that is ready runs first: Node empties its queue of microtasks before the next tick. */
const idle = () => new Promise<void>((resolve) => process.nextTick(resolve));

const isBefore = (a: Planned, b: Planned) => a.at < b.at || (a.at === b.at && a.order < b.order);

function push(heap: Planned[], item: Planned): void {
  let at = heap.push(item) - 1;
  while (at > 0) {
    const above = (at - 1) >> 1;
    if (!isBefore(item, heap[above]!)) break;
    heap[at] = heap[above]!;
    at = above;
  }
  heap[at] = item;
}

function pop(heap: Planned[]): void {
  const item = heap.pop()!;
  if (heap.length === 0) return;
  let at = 0;
  for (;;) {
    let below = 2 * at + 1;
    if (below >= heap.length) break;
    if (below + 1 < heap.length && isBefore(heap[below + 1]!, heap[below]!)) below++;
    if (!isBefore(heap[below]!, item)) break;
    heap[at] = heap[below]!;
    at = below;
  }
  heap[at] = item;
}
