import { describe, expect, it } from 'vitest';
import { WorkQueue } from '../../../../dev/engine/queue/workQueue.ts';
import { FakeClock } from './fakeClock.ts';

function takeAll(queue: WorkQueue): string[] {
  const keys: string[] = [];
  for (let key = queue.take(); key !== undefined; key = queue.take()) keys.push(key);
  return keys;
}

describe('work queue', () => {
  it('has a key once, in the order of its first add', () => {
    const queue = new WorkQueue(new FakeClock());
    for (const key of ['a', 'b', 'a', 'c', 'b']) queue.add(key);
    expect(takeAll(queue)).toEqual(['a', 'b', 'c']);
  });

  it('returns a key that was added during its work only after that work', () => {
    const queue = new WorkQueue(new FakeClock());
    queue.add('a');
    queue.take();
    queue.add('a');
    queue.add('a');
    expect(queue.take()).toBeUndefined();
    queue.done('a');
    expect(takeAll(queue)).toEqual(['a']);
  });

  it('reports a ready key, also after a delay', () => {
    const clock = new FakeClock();
    let calls = 0;
    const queue = new WorkQueue(clock, () => {
      calls += 1;
    });
    queue.addAfter('a', 1000);
    expect(calls).toBe(0);
    clock.advance(1000);
    expect(calls).toBe(1);
  });

  it.each([
    { name: 'the earlier of two delays counts', delays: [5000, 1000], due: 1000 },
    { name: 'a later one does not put it off', delays: [1000, 5000], due: 1000 },
    { name: 'a fraction of a second is kept', delays: [250], due: 250 },
  ])('delays: $name', ({ delays, due }) => {
    const clock = new FakeClock();
    const queue = new WorkQueue(clock);
    for (const delay of delays) queue.addAfter('a', delay);
    clock.advance(due - 1);
    expect(takeAll(queue)).toEqual([]);
    clock.advance(1);
    expect(takeAll(queue)).toEqual(['a']);
    queue.done('a');
    clock.advance(10_000);
    expect(takeAll(queue)).toEqual([]);
  });

  it.each([0, -1])('a delay of %d is none', (delay) => {
    const queue = new WorkQueue(new FakeClock());
    queue.addAfter('a', delay);
    expect(takeAll(queue)).toEqual(['a']);
  });

  it('doubles the wait after each failure, and resets it after a success', () => {
    const clock = new FakeClock();
    const queue = new WorkQueue(clock);
    const waits: number[] = [];
    const failOnce = () => {
      queue.addRateLimited('a');
      const from = clock.now();
      while (queue.take() === undefined) clock.advance(1);
      queue.done('a');
      waits.push(clock.now() - from);
    };
    for (let failure = 0; failure < 5; failure += 1) failOnce();
    queue.forget('a');
    failOnce();
    expect(waits).toEqual([5, 10, 20, 40, 80, 5]);
  });

  it('returns nothing after it is stopped', () => {
    const clock = new FakeClock();
    const queue = new WorkQueue(clock);
    queue.add('a');
    queue.addAfter('b', 10);
    queue.stop();
    queue.add('c');
    clock.advance(100);
    expect(takeAll(queue)).toEqual([]);
  });
});
