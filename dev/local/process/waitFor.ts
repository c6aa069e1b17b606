import { setTimeout as wait } from 'node:timers/promises';
import { inspect } from 'node:util';
import { Problem } from './problem.ts';

/** Long waits poll less often, and leave the processor to the cluster. */
const pauseFor = (waitMs: number) => Math.min(Math.max(waitMs / 10, 20), 250);

/**
 * Polls until `probe` returns something truthy, and returns that. An error of `probe` counts as "not yet".
 * @throws a Problem with the last result or error, after `timeoutMs`
 */
export async function waitFor<T>(
  probe: () => Promise<T> | T,
  what: string,
  timeoutMs = 60_000,
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
    if (waited > timeoutMs) throw new Problem(`Not seen within ${timeoutMs} ms: ${what}. Last: ${show(last)}`);
    await wait(pauseFor(waited));
  }
}

/**
 * Throws as soon as `probe` returns something falsy or throws; resolves after `forMs`, with a last look then. For what
 * must not happen.
 */
export async function staysTrue(probe: () => Promise<unknown> | unknown, what: string, forMs: number): Promise<void> {
  const deadline = performance.now() + forMs;
  for (;;) {
    const left = deadline - performance.now();
    const seen = await probe();
    if (!seen) throw new Error(`Did not last: ${what}. Last: ${show(seen)}`);
    if (left <= 0) return;
    await wait(Math.min(left, forMs / 4, 250));
  }
}

function show(value: unknown): string {
  if (value instanceof Error) return value.message;
  return inspect(value, { depth: 6, breakLength: 120, maxStringLength: 400 });
}
