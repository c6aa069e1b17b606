/** Waits for objects to reach a state by watching them: polling lists would cost the API server more than the work measured. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Access } from '../../client/kubeconfig.ts';
import { type AnyObject, watchLines } from '../../client/send.ts';

const AGAIN_MS = 200;

export interface ObjectWatch {
  /** Resolves when `count` different objects satisfy `arrived`; rejects after `timeoutMs`. */
  all(count: number, arrived: (object: AnyObject) => boolean, timeoutMs: number): Promise<void>;
  close(): void;
}

/** Watches a collection from now on, with what is there already. `each` gets every state as it comes. */
export function watchObjects(access: Access, path: string, each: (object: AnyObject) => void = () => {}): ObjectWatch {
  const objects = new Map<string, AnyObject>();
  let changed = () => {};
  const end = new AbortController();
  const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
  const follow = async () => {
    for await (const line of watchLines(access, `${path}?${query}`, { signal: end.signal })) {
      const { type, object } = JSON.parse(line) as { type: string; object: AnyObject };
      if (type !== 'ADDED' && type !== 'MODIFIED') continue;
      objects.set(`${object.metadata.namespace}/${object.metadata.name}`, object);
      each(object);
      changed();
    }
  };
  // A watch that breaks off, on a busy machine, begins again with what is there.
  const followOn = async () => {
    while (!end.signal.aborted) {
      await follow().catch(() => {});
      await wait(AGAIN_MS);
    }
  };
  void followOn();
  return {
    all: (count, arrived, timeoutMs) =>
      new Promise((resolve, reject) => {
        const missing = () => count - [...objects.values()].filter(arrived).length;
        const timer = setTimeout(
          () => reject(new Error(`${missing()} of ${count} have not arrived in ${timeoutMs} ms`)),
          timeoutMs,
        );
        let waiting = missing();
        changed = () => {
          // Counting all of them for each event would be quadratic: count only when enough events came.
          waiting--;
          if (waiting > 0) return;
          waiting = missing();
          if (waiting > 0) return;
          clearTimeout(timer);
          changed = () => {};
          resolve();
        };
        if (waiting <= 0) changed();
      }),
    close: () => end.abort(),
  };
}
