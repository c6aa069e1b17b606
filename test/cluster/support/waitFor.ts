import { setTimeout as wait } from 'node:timers/promises';
import { inspect } from 'node:util';

/** Long waits poll less often, and leave the processor to the cluster. */
const pauseFor = (waitMs: number) => Math.min(Math.max(waitMs / 10, 20), 250);

/**
 * Asks `probe` until it answers something truthy, and answers that. Gives up after `timeoutMs` with what it saw last:
 * an assertion (or any error) that `probe` throws counts as "not yet" and its words are in the message.
 */
export async function waitFor<T>(
  probe: () => Promise<T> | T,
  what: string,
  timeoutMs = 30_000,
): Promise<Exclude<T, undefined | null | false | 0 | ''>> {
  const start = performance.now();
  let last: unknown;
  for (;;) {
    try {
      last = await probe();
      if (last) return last as Exclude<T, undefined | null | false | 0 | ''>;
    } catch (error) {
      last = error;
    }
    const waited = performance.now() - start;
    if (waited > timeoutMs) throw new Error(`Not seen within ${timeoutMs} ms: ${what}. Last: ${show(last)}`);
    await wait(pauseFor(waited));
  }
}

/**
 * Fails as soon as `probe` answers something falsy or throws; otherwise resolves after `forMs`. For things that must
 * not happen.
 */
export async function staysTrue(probe: () => Promise<unknown> | unknown, what: string, forMs: number): Promise<void> {
  const deadline = performance.now() + forMs;
  do {
    const seen = await probe();
    if (!seen) throw new Error(`Did not last: ${what}. Last: ${show(seen)}`);
    await wait(pauseFor(forMs));
  } while (performance.now() < deadline);
}

function show(value: unknown): string {
  if (value instanceof Error) return value.message;
  return inspect(value, { depth: 6, breakLength: 120, maxStringLength: 400 });
}
