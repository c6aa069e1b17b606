import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WorkQueue } from '../../../../dev/engine/queue/workQueue.ts';
import { systemClock } from '../../../../dev/engine/runtime/clock.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pass = (ms = 0) => vi.advanceTimersByTimeAsync(ms);

/** A running queue, the keys in the order in which their work began, and the end of every work. */
function runningQueue(workers = 1) {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const queue = new WorkQueue(systemClock, workers, (key) => {
    begun.push(key);
    return new Promise((resolve) => ends.push(resolve));
  });
  queue.start();
  const endAll = async () => {
    await pass();
    for (let end = ends.shift(); end; end = ends.shift()) {
      end();
      await pass();
    }
  };
  return { queue, begun, endAll };
}

describe('work queue', () => {
  it('works on a key once, in the order of its first add', async () => {
    const { queue, begun, endAll } = runningQueue();
    for (const key of ['a', 'b', 'a', 'c', 'b']) queue.add(key);
    await endAll();
    expect(begun).toEqual(['a', 'b', 'c']);
  });

  it('works on a key that was added during its work only after that work', async () => {
    const { queue, begun, endAll } = runningQueue(2);
    queue.add('a');
    await pass();
    queue.add('a');
    queue.add('a');
    await pass();
    expect(begun).toEqual(['a']);
    await endAll();
    expect(begun).toEqual(['a', 'a']);
  });

  it('has as many works at the same time as workers', async () => {
    const { queue, begun, endAll } = runningQueue(2);
    for (const key of ['a', 'b', 'c']) queue.add(key);
    await pass();
    expect(begun).toEqual(['a', 'b']);
    await endAll();
    expect(begun).toEqual(['a', 'b', 'c']);
  });

  it.each([
    { name: 'the earlier of two delays counts', delays: [5000, 1000], due: 1000 },
    { name: 'a later one does not put it off', delays: [1000, 5000], due: 1000 },
    { name: 'a fraction of a second is kept', delays: [250], due: 250 },
  ])('delays: $name', async ({ delays, due }) => {
    const { queue, begun, endAll } = runningQueue();
    for (const delay of delays) queue.addAfter('a', delay);
    await pass(due - 1);
    expect(begun).toEqual([]);
    await pass(1);
    expect(begun).toEqual(['a']);
    await endAll();
    await pass(10_000);
    expect(begun).toEqual(['a']);
  });

  it.each([0, -1])('a delay of %d is none', async (delay) => {
    const { queue, begun } = runningQueue();
    queue.addAfter('a', delay);
    await pass();
    expect(begun).toEqual(['a']);
  });

  it('doubles the wait after each failure up to 1000 s, and resets it after a success', async () => {
    const { queue, endAll } = runningQueue();
    const waits: number[] = [];
    const failOnce = async () => {
      const from = Date.now();
      queue.addRateLimited('a');
      await vi.advanceTimersToNextTimerAsync();
      waits.push(Date.now() - from);
      await endAll();
    };
    for (let failure = 0; failure < 20; failure++) await failOnce();
    expect(waits.slice(0, 3)).toEqual([5, 10, 20]);
    expect(waits.at(-1)).toBe(1_000_000);
    queue.forget('a');
    await failOnce();
    expect(waits.at(-1)).toBe(5);
  });

  it('stops after the work that has begun', async () => {
    const { queue, begun, endAll } = runningQueue();
    for (const key of ['a', 'b']) queue.add(key);
    queue.addAfter('c', 10);
    await pass();
    let isStopped = false;
    const stopped = queue.stop().then(() => {
      isStopped = true;
    });
    await pass();
    expect(isStopped).toBe(false);
    await endAll();
    await stopped;
    queue.add('d');
    await pass(100);
    expect(begun).toEqual(['a']);
  });
});
