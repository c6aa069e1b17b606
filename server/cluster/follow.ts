/** Follows a collection: lists it, watches it, and resumes a lost watch. */
import { setTimeout as wait } from 'node:timers/promises';
import type { KubeObject } from '../../api/kubernetes.ts';
import { ApiError, isApiError } from './apiError.ts';
import type { Collection, Collections, ListSelectors } from './collections.ts';

export type CollectionChange<T> =
  /** All objects, at the beginning and whenever the watch can't be resumed. */
  | { type: 'all'; items: T[] }
  | { type: 'set'; object: T }
  | { type: 'gone'; object: T }
  /** The connection is lost; it is retried. */
  | { type: 'lost'; error: Error };

/** The API server sends a bookmark about once a minute: a connection that is silent for longer is dead. */
const SILENCE_MS = 150_000;
const TICK_MS = 5000;
/** If more time than this passes between two ticks, the machine has slept, and the connection may be dead. */
const SLEPT_MS = 30_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;

/**
 * Follows a collection until the signal aborts.
 * @throws ApiError if retrying is useless: no rights, no such kind, refused credentials
 */
export async function* follow<T extends KubeObject<any, any>>(
  client: Collections,
  from: Collection & ListSelectors,
  signal: AbortSignal,
  silenceMs = SILENCE_MS,
): AsyncGenerator<CollectionChange<T>> {
  let resourceVersion = '';
  let pause = FIRST_PAUSE_MS;
  while (!signal.aborted) {
    const timer = new SilenceTimer(signal, silenceMs);
    try {
      if (resourceVersion === '') {
        const items: T[] = [];
        let listed = '';
        for await (const page of client.pages<T>({ ...from, signal: timer.signal, withoutFieldOwners: true })) {
          items.push(...page.items);
          listed = page.resourceVersion;
          timer.reset();
        }
        // Set only now: if a later page fails, everything is listed again.
        resourceVersion = listed;
        yield { type: 'all', items };
      }
      for await (const event of client.watch<T>({ ...from, resourceVersion, signal: timer.signal })) {
        timer.reset();
        pause = FIRST_PAUSE_MS;
        if (event.type === 'ERROR') throw new ApiError(event.object.code ?? 0, 'Watch', event.object.message ?? '');
        resourceVersion = event.object.metadata.resourceVersion ?? resourceVersion;
        if (event.type === 'DELETED') yield { type: 'gone', object: event.object };
        else if (event.type !== 'BOOKMARK') yield { type: 'set', object: event.object };
      }
      // A lost connection is replaced silently. If this request gets no answer either, that is reported below.
      if (timer.timedOut) await client.raw('/version');
      // The API server ends every watch after some minutes. If a watch ends at once, the next one waits.
      await pauseFor(FIRST_PAUSE_MS, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (isApiError(error, 401, 403, 404, 405)) throw error;
      if (!(error instanceof ApiError)) throw error;
      // 410 Gone: the API server no longer has the changes since then, so all objects are listed again.
      if (error.code === 410) resourceVersion = '';
      else yield { type: 'lost', error };
      await pauseFor((error.retryAfterSeconds ?? 0) * 1000 || pause, signal);
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
    } finally {
      timer.close();
    }
  }
}

async function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined);
}

/** Aborts a connection that is silent, or that was open while the machine slept. */
class SilenceTimer {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #outer: AbortSignal;
  readonly #abort = () => this.#controller.abort();
  #resetAt = Date.now();
  #tickAt = Date.now();

  readonly #silenceMs: number;

  constructor(outer: AbortSignal, silenceMs: number) {
    this.#outer = outer;
    this.#silenceMs = silenceMs;
    outer.addEventListener('abort', this.#abort, { once: true });
    this.#timer = setInterval(() => this.#tick(), Math.min(TICK_MS, silenceMs));
    this.#timer.unref();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether this timer has ended the watch. */
  get timedOut(): boolean {
    return this.#controller.signal.aborted && !this.#outer.aborted;
  }

  reset(): void {
    this.#resetAt = Date.now();
  }

  #tick(): void {
    const now = Date.now();
    const slept = now - this.#tickAt > TICK_MS + SLEPT_MS;
    this.#tickAt = now;
    if (slept || now - this.#resetAt > this.#silenceMs) this.#abort();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#outer.removeEventListener('abort', this.#abort);
  }
}
