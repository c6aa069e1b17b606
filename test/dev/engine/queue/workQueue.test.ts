import { setImmediate as idle } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { WorkQueue } from '../../../../dev/engine/queue/workQueue.ts';
import { FakeClock } from './fakeClock.ts';

/** A running queue, the keys in the order in which their work began, and an end of each work. */
function runningQueue(workers = 1) {
  const clock = new FakeClock();
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const queue = new WorkQueue(clock, workers, (key) => {
    begun.push(key);
    return new Promise((resolve) => ends.push(resolve));
  });
  queue.start();
  const endAll = async () => {
    await idle();
    for (let end = ends.shift(); end; end = ends.shift()) {
      end();
      await idle();
    }
  };
  return { clock, queue, begun, endAll };
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
    await idle();
    queue.add('a');
    queue.add('a');
    await idle();
    expect(begun).toEqual(['a']);
    await endAll();
    expect(begun).toEqual(['a', 'a']);
  });

  it('has as many works at the same time as workers', async () => {
    const { queue, begun, endAll } = runningQueue(2);
    for (const key of ['a', 'b', 'c']) queue.add(key);
    await idle();
    expect(begun).toEqual(['a', 'b']);
    await endAll();
    expect(begun).toEqual(['a', 'b', 'c']);
  });

  it.each([
    { name: 'the earlier of two delays counts', delays: [5000, 1000], due: 1000 },
    { name: 'a later one does not put it off', delays: [1000, 5000], due: 1000 },
    { name: 'a fraction of a second is kept', delays: [250], due: 250 },
    { name: 'a delay of 0 is none', delays: [0], due: 0 },
    { name: 'a negative delay is none', delays: [-1], due: 0 },
  ])('delays: $name', async ({ delays, due }) => {
    const { clock, queue, begun, endAll } = runningQueue();
    for (const delay of delays) queue.addAfter('a', delay);
    if (due > 0) clock.advance(due - 1);
    await endAll();
    expect(begun).toEqual(due > 0 ? [] : ['a']);
    clock.advance(1);
    await endAll();
    expect(begun).toEqual(['a']);
    clock.advance(10_000);
    await endAll();
    expect(begun).toEqual(['a']);
  });

  it('doubles the wait after each failure up to 1000 s, and resets it after a success', async () => {
    const { clock, queue, endAll } = runningQueue();
    const failOnce = async () => {
      queue.addRateLimited('a');
      clock.advance(1_000_000);
      await endAll();
    };
    for (let failure = 0; failure < 20; failure++) await failOnce();
    expect(clock.delays.slice(0, 3)).toEqual([5, 10, 20]);
    expect(clock.delays.at(-1)).toBe(1_000_000);
    queue.forget('a');
    await failOnce();
    expect(clock.delays.at(-1)).toBe(5);
  });

  it('stops after the work that has begun', async () => {
    const { clock, queue, begun, endAll } = runningQueue();
    for (const key of ['a', 'b']) queue.add(key);
    queue.addAfter('c', 10);
    await idle();
    let isStopped = false;
    const stopped = queue.stop().then(() => {
      isStopped = true;
    });
    await idle();
    expect(isStopped).toBe(false);
    await endAll();
    await stopped;
    queue.add('d');
    clock.advance(100);
    await endAll();
    expect(begun).toEqual(['a']);
  });
});
