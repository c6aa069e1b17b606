/** Limits log lines that any client can cause. */
import type { Logger } from './log.ts';
import { Lru } from './lru.ts';

const MAX_LINES_PER_MINUTE = 60;
const MAX_KEYS = 1000;
const MINUTE_MS = 60_000;

/** Writes the line, unless its key has had too many in this minute; then one line reports that, with fields `about`. */
type LineLimit = (key: string, about: object, write: () => void) => void;

/** @param clock milliseconds of a monotonic clock */
export function createLineLimit(log: Pick<Logger, 'warn'>, clock: () => number): LineLimit {
  const counts = new Lru<{ minute: number; count: number }>(MAX_KEYS);
  return (key, about, write) => {
    const minute = Math.floor(clock() / MINUTE_MS);
    const known = counts.get(key);
    const count = known?.minute === minute ? known.count + 1 : 1;
    counts.set(key, { minute, count });
    if (count <= MAX_LINES_PER_MINUTE) write();
    else if (count === MAX_LINES_PER_MINUTE + 1)
      log.warn(about, `more than ${MAX_LINES_PER_MINUTE} lines in this minute: further ones are not logged`);
  };
}
