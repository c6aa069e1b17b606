import { setTimeout as wait } from 'node:timers/promises';
import { Problem } from './problem.ts';

const PATIENCE_MS = 30_000;

/** Polls until `probe` returns a value. Throws a Problem with `what` and the detail `why()` after a timeout. */
export async function until<T>(
  what: string,
  probe: () => Promise<T | undefined>,
  why: () => string = () => '',
): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await probe();
    if (found !== undefined) return found;
    if (performance.now() > deadline) {
      throw new Problem(`Gave up after waiting ${PATIENCE_MS / 1000} s for ${what}.`, [why()].filter(Boolean));
    }
    await wait(50);
  }
}
