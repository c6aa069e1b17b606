/** Access reviews, cached for a short while: for repeated reads, never to decide on a write. */
import type { AccessReviewer } from '../../api/ports.ts';
import { Lru } from '../lru.ts';

const REMEMBERED_MS = 60_000;
const MAX_ANSWERS = 10_000;

/** @param clock milliseconds that only grow */
export function withRememberedAnswers(reviewer: AccessReviewer, clock: () => number): AccessReviewer {
  const answers = new Lru<{ at: number; may: Promise<boolean> }>(MAX_ANSWERS);
  return {
    may(user, what) {
      const key = JSON.stringify([user, what]);
      const known = answers.get(key);
      if (known && clock() - known.at < REMEMBERED_MS) return known.may;
      const may = reviewer.may(user, what);
      answers.set(key, { at: clock(), may });
      may.catch(() => answers.delete(key));
      return may;
    },
  };
}
