/**
 * Places for requests that are being answered: so many for each key, such as a namespace. The requests of one key wait
 * behind each other, and keep none of another key waiting.
 */
interface Key {
  taken: number;
  /** Each continues a request. */
  waiting: (() => void)[];
}

export function createPlaces({ perKey, mostWaiting }: { perKey: number; mostWaiting: number }) {
  const keys = new Map<string, Key>();
  let waiting = 0;
  return {
    /**
     * Takes a place, and waits for it if necessary; false if too many wait. The requests of one key fill at most half
     * of the room that others leave for waiting, so that a tenant with many keys leaves room for others.
     */
    async take(name: string): Promise<boolean> {
      const key = keys.get(name) ?? { taken: 0, waiting: [] };
      keys.set(name, key);
      if (key.taken < perKey) {
        key.taken++;
        return true;
      }
      if (key.waiting.length >= mostWaiting - waiting) return false;
      waiting++;
      await new Promise<void>((resolve) => key.waiting.push(resolve));
      return true;
    },
    /** Gives the place back, to the request that has waited longest. */
    leave(name: string): void {
      const key = keys.get(name)!;
      const next = key.waiting.shift();
      if (next) {
        waiting--;
        next();
      } else if (--key.taken === 0) keys.delete(name);
    },
  };
}
