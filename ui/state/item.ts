/** One object from the server, read again when it has changed. */
import { useEffect, useState } from 'preact/hooks';
import { Refused } from './refused.ts';

export interface Loaded<T> {
  value?: T;
  /** The error of the last request. */
  problem?: { status: number; message: string };
}

/** Loads an object, and loads it again when one of the `versions` changes. */
export function useItem<T>(load: (signal: AbortSignal) => Promise<T>, ...versions: unknown[]): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({});
  useEffect(() => {
    const own = new AbortController();
    load(own.signal).then(
      (value) => setLoaded({ value }),
      (error: Error) => {
        if (own.signal.aborted) return;
        const status = error instanceof Refused ? error.status : 0;
        setLoaded(({ value }) => ({
          ...(value !== undefined && status !== 404 && { value }),
          problem: { status, message: error.message },
        }));
      },
    );
    return () => own.abort();
  }, versions);
  return loaded;
}
