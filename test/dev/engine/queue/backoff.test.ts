import { describe, expect, it } from 'vitest';
import { Backoff } from '../../../../dev/engine/queue/workQueue.ts';

describe('backoff', () => {
  it('ends at 1000 s', () => {
    const backoff = new Backoff();
    // Ten minutes between failures, so that the overall limit plays no part.
    const waits = Array.from({ length: 25 }, (_, failure) => backoff.next('a', failure * 600_000));
    expect(waits.slice(0, 3)).toEqual([5, 10, 20]);
    expect(waits.at(-1)).toBe(1_000_000);
  });

  it('allows 100 keys at once, and then 10 more per second', () => {
    const backoff = new Backoff();
    const waits = Array.from({ length: 120 }, (_, index) => backoff.next(`key-${index}`, 0));
    expect(waits.slice(0, 100).every((wait) => wait === 5)).toBe(true);
    expect(waits[100]).toBe(100);
    expect(waits[119]).toBe(2000);
  });
});
