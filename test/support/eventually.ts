import { vi } from 'vitest';

/** Waits until `check` no longer throws. Generous, since a test must not fail because the machine is busy. */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 60_000, interval: 20 });
