import { afterAll, onTestFinished } from 'vitest';

/** Calls `end` when the test has finished, or, outside of tests, after the last test of the file. */
export function atEnd(end: () => unknown): void {
  try {
    onTestFinished(end as () => void);
  } catch {
    afterAll(end as () => void);
  }
}
