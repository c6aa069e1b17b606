import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * A function that gives each of its callers a turn of the event loop of their own, in the order of the calls. Many
 * decisions that tenants make expensive would otherwise keep everything else in this process waiting until the last.
 */
export function createTurns(): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return () => {
    last = last.then(() => nextTurn());
    return last;
  };
}
