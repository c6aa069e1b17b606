/**
 * Places for requests that are being answered: so many for each key, such as a namespace. The requests of one key wait
 * behind each other, and keep none of another key waiting.
 */
interface Key {
  taken: number;
  /** Each continues a request. */
  waiting: (() => void)[];
}

export function createPlaces({ perKey, atOnce }: { perKey: number; atOnce: number }) {
  const keys = new Map<string, Key>();
  let all = 0;
  return {
    /**
     * Takes a place, and waits for it if necessary; false if too many requests have a place or wait. A key may have as
     * many as are still free, half of all at most, so that the keys of one tenant leave room for another's.
     */
    async take(name: string): Promise<boolean> {
      const key = keys.get(name) ?? { taken: 0, waiting: [] };
      if (key.taken + key.waiting.length >= atOnce - all) return false;
      all++;
      keys.set(name, key);
      if (key.taken < perKey) key.taken++;
      else await new Promise<void>((resolve) => key.waiting.push(resolve));
      return true;
    },
    /** Gives the place back, to the request that has waited longest. */
    leave(name: string): void {
      all--;
      const key = keys.get(name)!;
      const next = key.waiting.shift();
      if (next) next();
      else if (--key.taken === 0) keys.delete(name);
    },
  };
}
