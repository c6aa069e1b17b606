/** Takes keys from a work queue with a fixed number of workers. */
import type { Clock } from '../runtime/clock.ts';
import { WorkQueue } from './workQueue.ts';

export class Workers {
  readonly queue: WorkQueue;
  readonly #limit: number;
  readonly #work: (key: string) => Promise<void>;
  #active = 0;
  #running = false;
  #scheduled = false;
  #onIdle: (() => void) | undefined;

  /** `work` handles its own failures: it never rejects. Nothing is taken before `start`. */
  constructor(clock: Clock, limit: number, work: (key: string) => Promise<void>) {
    this.queue = new WorkQueue(clock, () => this.#schedule());
    this.#limit = limit;
    this.#work = work;
  }

  start(): void {
    this.#running = true;
    this.#schedule();
  }

  /** Resolves when the work that has begun is finished. */
  async stop(): Promise<void> {
    this.#running = false;
    this.queue.stop();
    if (this.#active === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }

  /** Deferred, so that an event reaches every cache and index before the first sync that it causes. */
  #schedule(): void {
    if (!this.#running || this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#fill();
    });
  }

  #fill(): void {
    while (this.#running && this.#active < this.#limit) {
      const key = this.queue.take();
      if (key === undefined) return;
      this.#active += 1;
      void this.#work(key).finally(() => {
        this.#active -= 1;
        this.queue.done(key);
        if (this.#active === 0) this.#onIdle?.();
        this.#schedule();
      });
    }
  }
}
