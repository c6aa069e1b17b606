/** One object from the server, read again when it has changed. */
import { useEffect, useState } from 'preact/hooks';
import { Refused } from './refused.ts';

export interface Loaded<T> {
  value?: T;
  /** Why the last request failed. */
  problem?: string;
}

/** Loads an object, and loads it again when one of the `versions` changes. */
export function useItem<T>(load: (signal: AbortSignal) => Promise<T>, ...versions: unknown[]): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({});
  useEffect(() => {
    const own = new AbortController();
    load(own.signal).then(
      (value) => own.signal.aborted || setLoaded({ value }),
      (error: Error) => {
        if (own.signal.aborted) return;
        const isGone = error instanceof Refused && error.status === 404;
        setLoaded(({ value }) => ({ ...(value !== undefined && !isGone && { value }), problem: error.message }));
      },
    );
    return () => own.abort();
  }, versions);
  return loaded;
}

const TYPING_PAUSE_MS = 300;

/** Loads once the user has stopped typing: a newer version aborts the signal. */
export function whenTyped<T>(load: () => Promise<T>): (signal: AbortSignal) => Promise<T> {
  return async (signal) => {
    await new Promise((resolve) => setTimeout(resolve, TYPING_PAUSE_MS));
    signal.throwIfAborted();
    return load();
  };
}
