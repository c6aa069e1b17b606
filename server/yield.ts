import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * A function that gives each caller a turn of the event loop of its own, in the order of the calls. Otherwise many
 * expensive decisions, which tenants can cause, would keep everything else in this process waiting until the last.
 */
export function createYield(): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return () => {
    last = last.then(() => nextTurn());
    return last;
  };
}
