/** Waits for objects to reach a state, by a watch: polling would cost the API server more than the measured work. */
import type { Access } from '../../client/kubeconfig.ts';
import { type AnyObject, watchLines } from '../../client/send.ts';
import { logToStderr } from '../../local/process/log.ts';
import { Problem } from '../../local/process/problem.ts';
import { repeat } from '../../local/process/repeat.ts';

const RETRY_MS = 200;
/** The time from one line of progress to the next. */
const PROGRESS_MS = 30_000;

/** Watches a collection, existing objects included. `each` gets every version as it arrives. */
export function watchObjects(access: Access, path: string, each: (object: AnyObject) => void = () => {}) {
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
  // On a busy machine a watch may break off.
  const following = repeat(RETRY_MS, follow);
  return {
    /** Resolves when `count` different objects are in the state; rejects after `timeoutMs`. */
    async until(count: number, isInState: (object: AnyObject) => boolean, timeoutMs: number) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const missing = () => count - [...objects.values()].filter(isInState).length;
      const timer = setTimeout(
        () => reject(new Problem(`${missing()} of ${count} objects didn't reach the state within ${timeoutMs} ms`)),
        timeoutMs,
      );
      const report = () => logToStderr(`${count - missing()} of ${count} objects have reached the state`);
      const progress = setInterval(report, PROGRESS_MS);
      let waiting = missing();
      changed = () => {
        // Counting for each event would be quadratic: count after as many events as objects are missing.
        waiting--;
        if (waiting > 0) return;
        waiting = missing();
        if (waiting <= 0) resolve();
      };
      if (waiting <= 0) resolve();
      await promise.finally(() => {
        changed = () => {};
        clearTimeout(timer);
        clearInterval(progress);
      });
    },
    close() {
      void following.stop();
      end.abort();
    },
  };
}
