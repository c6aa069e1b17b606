/**
 * A work queue with client-go's rules, and its workers: a key waits at most once, is never worked on twice at the same
 * time, and one that is added while it is worked on comes again afterwards. Of several delayed adds of a key, the
 * earliest counts.
 */
import type { EpochMs } from '../../../api/kubernetes.ts';
import type { Clock } from '../runtime/clock.ts';

/** A key's delay after its first failure, doubled with each further one, and the longest delay. */
const FIRST_RETRY_MS = 5;
const LONGEST_RETRY_MS = 1_000_000;

export class WorkQueue {
  readonly #clock: Clock;
  readonly #workers: number;
  readonly #work: (key: string) => Promise<void>;
  readonly #ready = new Set<string>();
  readonly #inWork = new Set<string>();
  readonly #again = new Set<string>();
  readonly #delayed = new Map<string, { readyAt: EpochMs; cancel(): void }>();
  readonly #failures = new Map<string, number>();
  #state: 'waiting' | 'running' | 'stopped' = 'waiting';
  #isScheduled = false;
  #onIdle = () => {};

  /** `work` handles its own failures: it never rejects. Nothing is worked on before `start`. */
  constructor(clock: Clock, workers: number, work: (key: string) => Promise<void>) {
    this.#clock = clock;
    this.#workers = workers;
    this.#work = work;
  }

  start(): void {
    this.#state = 'running';
    this.#schedule();
  }

  /** Drops what waits. Resolves when the work that has begun is finished. */
  async stop(): Promise<void> {
    this.#state = 'stopped';
    for (const { cancel } of this.#delayed.values()) cancel();
    if (this.#inWork.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }

  add(key: string): void {
    if (this.#inWork.has(key)) this.#again.add(key);
    else this.#ready.add(key);
    this.#schedule();
  }

  addAfter(key: string, delayMs: number): void {
    if (!(delayMs > 0)) {
      this.add(key);
      return;
    }
    const readyAt = this.#clock.now() + delayMs;
    const waiting = this.#delayed.get(key);
    if (this.#state === 'stopped' || (waiting && waiting.readyAt <= readyAt)) return;
    waiting?.cancel();
    const cancel = this.#clock.after(delayMs, () => {
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, { readyAt, cancel });
  }

  /** After a failure: comes again after a delay that grows with each failure since the last `forget`. */
  addRateLimited(key: string): void {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    this.addAfter(key, Math.min(FIRST_RETRY_MS * 2 ** failures, LONGEST_RETRY_MS));
  }

  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** Deferred, so that an event reaches every cache and index before the first sync that it causes. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#fill();
    });
  }

  #fill(): void {
    for (const key of this.#ready) {
      if (this.#state !== 'running' || this.#inWork.size === this.#workers) return;
      this.#ready.delete(key);
      this.#inWork.add(key);
      void this.#work(key).finally(() => this.#done(key));
    }
  }

  #done(key: string): void {
    this.#inWork.delete(key);
    if (this.#inWork.size === 0) this.#onIdle();
    if (this.#again.delete(key)) this.#ready.add(key);
    this.#schedule();
  }
}
