/** How many calls a path may make to this process, right or wrong ones: each costs reads and an HMAC. */
import type { EpochMs } from '../api/kubernetes.ts';

const PER_MINUTE = 60;

/** False when the call is one too many. Only paths of existing Gates are counted, so that the map stays small. */
export function createCallLimit(now: () => EpochMs): (path: string) => boolean {
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
    return count <= PER_MINUTE;
  };
}
