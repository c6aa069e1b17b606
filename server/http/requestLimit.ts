interface Key {
  running: number;
  /** Each continues a request. */
  waiting: (() => void)[];
}

/**
 * A limit on the requests of each key, such as a namespace, that are answered at the same time. The others wait, and
 * requests of another key don't wait for them.
 */
export function createRequestLimit({ perKey, atOnce }: { perKey: number; atOnce: number }) {
  const keys = new Map<string, Key>();
  let all = 0;
  return {
    /**
     * Waits until the request may run; false if too many run or wait. A key may have as many as `atOnce` still leaves,
     * half of all at most, so that the keys of one tenant leave room for another's.
     */
    async enter(name: string): Promise<boolean> {
      const key = keys.get(name) ?? { running: 0, waiting: [] };
      if (key.running + key.waiting.length >= atOnce - all) return false;
      all++;
      keys.set(name, key);
      if (key.running < perKey) key.running++;
      else await new Promise<void>((resolve) => key.waiting.push(resolve));
      return true;
    },
    /** Ends the request: the one of the same key that has waited longest runs. */
    leave(name: string): void {
      all--;
      const key = keys.get(name)!;
      const next = key.waiting.shift();
      if (next) next();
      else if (--key.running === 0) keys.delete(name);
    },
  };
}
