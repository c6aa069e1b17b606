/** How often a caller is answered. */
import type { EpochMs } from '../api/kubernetes.ts';

/** False once a key has exceeded its calls per minute. Only keys of which there are few are counted, so the map stays small. */
export function createCallLimit(now: () => EpochMs, perMinute: number): (key: string) => boolean {
  let minute = 0;
  let counts = new Map<string, number>();
  return (key) => {
    const current = Math.floor(now() / 60_000);
    if (current !== minute) {
      minute = current;
      counts = new Map();
    }
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return count <= perMinute;
  };
}
