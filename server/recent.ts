/** The port `Recent`: answers of a short while ago. */
import type { Recent } from '../api/ports.ts';
import { Lru } from './lru.ts';

const MAX_ANSWERS = 10_000;

/** @param clock milliseconds that only grow */
export function createRecent(clock: () => number): Recent {
  const answers = new Lru<{ at: number; answer: Promise<unknown> }>(MAX_ANSWERS);
  return {
    within<T>(maxAgeMs: number, key: string, ask: () => Promise<T>) {
      const known = answers.get(key);
      if (known && clock() - known.at < maxAgeMs) return known.answer as Promise<T>;
      const answer = ask();
      const entry = { at: clock(), answer };
      answers.set(key, entry);
      answer.catch(() => {
        if (answers.get(key) === entry) answers.delete(key);
      });
      return answer;
    },
  };
}
