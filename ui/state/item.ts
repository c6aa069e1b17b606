/** One object from the server, requested again when it has changed. */
import { useEffect, useState } from 'preact/hooks';
import { Refused } from './session.ts';

export interface Loaded<T> {
  value?: T;
  /** Error of the last request. */
  problem?: { status: number; message: string };
}

/** `versions`: values whose change causes another request. */
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
