import { setTimeout as wait } from 'node:timers/promises';

/** Calls `work` with pauses until it is stopped, also after an error. */
export function repeat(
  pauseMs: number,
  work: () => Promise<unknown>,
  onError: (error: Error) => void = () => {},
): { stop(): Promise<void> } {
  const end = new AbortController();
  const loop = async () => {
    while (!end.signal.aborted) {
      await work().catch(onError);
      await wait(pauseMs, undefined, { signal: end.signal }).catch(() => {});
    }
  };
  const done = loop();
  return {
    async stop() {
      end.abort();
      await done;
    },
  };
}
