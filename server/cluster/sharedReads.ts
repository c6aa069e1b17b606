/** The port `SharedReads`: reads that several callers share. */
import type { SharedReads } from '../../api/ports.ts';
import { memoryBytes } from '../../core/collection/memoryLimit.ts';
import { Lru } from '../lru.ts';
import { createYield } from '../yield.ts';

const MAX_ANSWERS = 10_000;
const MAX_BYTES = 64 * 1024 * 1024;
/** The interval at which old answers are dropped: tenants can make objects large. */
const SWEEP_MS = 10_000;

interface Answer {
  at: number;
  maxAgeMs: number;
  answer: Promise<unknown>;
  isRunning: boolean;
}

interface Running {
  answer: Promise<unknown>;
  next?: Promise<unknown>;
}

/**
 * @param clock milliseconds of a monotonic clock
 * @param ownTurn waits for a turn of the event loop; without it all callers that share a read would continue in the
 * same turn
 */
export function createSharedReads(clock: () => number, ownTurn = createYield()): SharedReads {
  const answers = new Lru<Answer>(MAX_ANSWERS, MAX_BYTES);
  let sweptAt = clock();
  const running = new Map<string, Running>();

  function start(key: string, read: () => Promise<unknown>): Promise<unknown> {
    const answer = read();
    const entry: Running = { answer };
    running.set(key, entry);
    const end = () => {
      if (!entry.next) running.delete(key);
    };
    answer.then(end, end);
    return answer;
  }

  /** The next read, shared by the calls that arrive before it starts. Its answer isn't cached. */
  function readNext(key: string, read: () => Promise<unknown>): Promise<unknown> {
    const current = running.get(key);
    if (!current) return start(key, read);
    const startNext = () => start(key, read);
    current.next ??= current.answer.then(startNext, startNext);
    return current.next.finally(ownTurn);
  }

  function sweep(now: number): void {
    if (now - sweptAt < SWEEP_MS) return;
    sweptAt = now;
    answers.deleteWhere(({ at, maxAgeMs }) => now - at >= maxAgeMs);
  }

  return {
    recent<T>(maxAgeMs: number, key: string, read: () => Promise<T>) {
      if (maxAgeMs === 0) return readNext(key, read) as Promise<T>;
      const known = answers.get(key);
      if (known && clock() - known.at < maxAgeMs)
        return (known.isRunning ? known.answer.finally(ownTurn) : known.answer) as Promise<T>;
      const answer = read();
      // Callers that accept an older answer may follow.
      const entry = { at: clock(), maxAgeMs: Math.max(maxAgeMs, known?.maxAgeMs ?? 0), answer, isRunning: true };
      sweep(entry.at);
      answers.set(key, entry, key.length);
      const isKept = () => answers.get(key) === entry;
      const end = (value: unknown) => {
        entry.isRunning = false;
        if (isKept()) answers.set(key, entry, key.length + memoryBytes(value));
      };
      const fail = () => {
        if (isKept()) answers.delete(key);
      };
      answer.then(end, fail);
      return answer;
    },
    withinMs<T>(ms: number, reading: Promise<T>) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<undefined>((resolve) => {
        timer = setTimeout(resolve, ms, undefined);
      });
      return Promise.race([reading, late]).finally(() => clearTimeout(timer));
    },
  };
}
