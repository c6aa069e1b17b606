/** How often something may happen in a minute, by path. */
import type { EpochMs } from '../api/kubernetes.ts';

/** False when it is once too often. Only paths of existing Gates are counted, so that the map stays small. */
export function createCallLimit(now: () => EpochMs, perMinute: number): (path: string) => boolean {
  let minute = 0;
  let counts = new Map<string, number>();
  return (path) => {
    const current = Math.floor(now() / 60_000);
    if (current !== minute) {
      minute = current;
      counts = new Map();
    }
    const count = (counts.get(path) ?? 0) + 1;
    counts.set(path, count);
    return count <= perMinute;
  };
}
