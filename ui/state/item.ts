/** One application or Gate, asked for again whenever the stream says that it has changed. */
import { useEffect, useState } from 'preact/hooks';
import { Refused } from './session.ts';

export interface Loaded<T> {
  value?: T;
  /** Of the last try. */
  problem?: { status: number; message: string };
}

/** `versions`: anything that changes when it is to be asked for again. */
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
