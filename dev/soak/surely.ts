import { setTimeout as wait } from 'node:timers/promises';

const PATIENCE_MS = 120_000;
const AGAIN_MS = 1000;

/** Tries again what fails while something is down; rejects with its last failure after two minutes, or when the signal comes. */
export async function surely(what: () => Promise<unknown>, signal?: AbortSignal): Promise<void> {
  for (const deadline = Date.now() + PATIENCE_MS; ; ) {
    try {
      await what();
      return;
    } catch (error) {
      if (signal?.aborted || Date.now() > deadline) throw error;
      await wait(AGAIN_MS);
    }
  }
}
