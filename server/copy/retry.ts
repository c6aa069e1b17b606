/** Asks again what may succeed the next time: ever later, as late as the registry says, and not for ever. */
import { RegistryError } from '../registry/error.ts';

const FIRST_MS = 500;
/** However long a registry wants to be left alone. */
const LONGEST_MS = 60_000;

export interface Retries {
  /** How often a request is made, at most. */
  attempts: number;
  /** Ends the copy. */
  signal: AbortSignal;
  wait(ms: number): Promise<unknown>;
  /** From 0 to 1. */
  random(): number;
  say(line: string): void;
}

/** @throws what the last attempt threw, or why the copy was ended */
export async function withRetries<T>(attempt: () => Promise<T>, retries: Retries): Promise<T> {
  const { attempts, signal, wait, random, say } = retries;
  for (let made = 1; ; made++) {
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof RegistryError) || !error.transient) throw error;
      if (made === attempts) {
        throw new RegistryError(`${error.message}, ${attempts} times`, error.failure, { transient: false });
      }
      const backoff = FIRST_MS * 2 ** (made - 1) * (0.5 + random() / 2);
      const ms = Math.round(Math.min(Math.max(error.retryAfterMs, backoff), LONGEST_MS));
      say(`${error.message}: attempt ${made} of ${attempts}, the next in ${ms} ms`);
      await wait(ms);
      signal.throwIfAborted();
    }
  }
}

/** Of the header Retry-After, seconds or a date; 0 without one. */
export function retryAfterMs(header: string | null | undefined, now: number): number {
  if (!header) return 0;
  const ms = /^[0-9]{1,9}$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - now;
  return Math.max(ms || 0, 0);
}
