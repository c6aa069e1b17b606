/** The end of the process that no client notices, if its balancer asks /readyz, or has been told otherwise. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Listener } from './listen.ts';

/** Above what the API server and Metacontroller wait for an answer. */
const FINISH_MS = 15_000;

/**
 * Answers for `delaySeconds` more, each answer the last one on its connection; then accepts nothing more and finishes what
 * has begun. Resolves when all is done, or when it takes too long.
 */
export async function shutDown(listeners: readonly Listener[], delaySeconds: number): Promise<void> {
  for (const listener of listeners) listener.drain();
  await wait(delaySeconds * 1000);
  const late = new AbortController();
  await Promise.race([
    Promise.all(listeners.map((listener) => listener.close())),
    wait(FINISH_MS, undefined, { signal: late.signal }).catch(() => undefined),
  ]);
  late.abort();
}
