/** A shutdown that no client notices, provided that its load balancer probes /readyz or follows the Endpoints. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Listener } from './listen.ts';

/** Longer than the API server and Metacontroller wait for an answer. */
const FINISH_MS = 15_000;

/**
 * Keeps answering for `delaySeconds`, each answer the last one on its connection; then accepts nothing more and finishes
 * what has begun. Resolves when all is done, or after a time limit.
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
