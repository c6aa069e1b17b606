import { describe, expect, it } from 'vitest';
import { createQueue } from '../../server/queue.ts';

/** Items are `lane:name`; each runs until it is finished. */
function lanesOf({ limit = 100, atOnce = 4, perLane = 2 } = {}) {
  const started: string[] = [];
  const evicted: string[] = [];
  const ends = new Map<string, () => void>();
  const queue = createQueue<string>({
    limit,
    atOnce,
    lanes: { of: (item) => item.split(':')[0]!, atOnce: perLane, evicted: (item) => evicted.push(item) },
    work: (item) => {
      started.push(item);
      return new Promise((resolve) => ends.set(item, resolve));
    },
    failed: () => {},
  });
  const finish = async (item: string) => {
    ends.get(item)!();
    await new Promise(setImmediate);
  };
  return { ...queue, started, evicted, finish };
}

const many = (lane: string, count: number) => Array.from({ length: count }, (_, i) => `${lane}:${i}`);

describe('a queue with lanes', () => {
  it('runs a limited number of one lane, and leaves room for others', () => {
    const queue = lanesOf();
    for (const item of [...many('hangs', 50), 'a:0', 'b:0', 'c:0']) queue.push(item);
    expect(queue.started).toEqual(['hangs:0', 'hangs:1', 'a:0', 'b:0']);
  });

  it('takes turns', async () => {
    const queue = lanesOf({ atOnce: 1, perLane: 1 });
    for (const item of [...many('a', 3), ...many('b', 2), 'c:0']) queue.push(item);
    const order = ['a:0', 'a:1', 'b:0', 'c:0', 'a:2', 'b:1'];
    for (const item of order) await queue.finish(item);
    expect(queue.started).toEqual(order);
    await queue.idle();
  });

  it('when full, drops tasks of the longest lane for others, up to an equal share', () => {
    const queue = lanesOf({ limit: 10, perLane: 1 });
    for (const item of many('a', 11)) expect(queue.push(item)).toBe(true);
    expect(queue.push('a:11')).toBe(false);
    const answers = many('b', 7).map((item) => queue.push(item));
    expect(answers).toEqual([true, true, true, true, true, true, false]);
    expect(queue.evicted).toEqual(['a:10', 'a:9', 'a:8', 'a:7', 'a:6']);
  });
});
