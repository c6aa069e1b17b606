import { expect, it } from 'vitest';
import { createRecent } from '../../server/recent.ts';

function asked() {
  let now = 0;
  const keys: string[] = [];
  const recent = createRecent(() => now);
  return {
    keys,
    later: (ms: number) => {
      now += ms;
    },
    within: (maxAgeMs: number, key: string, answer: () => Promise<number> = async () => keys.length) =>
      recent.within(maxAgeMs, key, () => {
        keys.push(key);
        return answer();
      }),
  };
}

it('reads once for all callers within their time limits', async () => {
  const { within, keys, later } = asked();
  expect(await Promise.all([within(1000, 'a'), within(1000, 'a'), within(1000, 'b')])).toEqual([1, 1, 2]);
  later(999);
  expect(await within(1000, 'a')).toBe(1);
  expect(await within(500, 'a')).toBe(3);
  later(1000);
  expect(await within(1000, 'a')).toBe(4);
  expect(keys).toEqual(['a', 'b', 'a', 'a']);
});

it('caches no failure', async () => {
  const { within } = asked();
  await expect(within(1000, 'a', () => Promise.reject(new Error('timeout')))).rejects.toThrow('timeout');
  expect(await within(1000, 'a')).toBe(2);
});

it('returns no result of an earlier read, and reads once for all later callers', async () => {
  const recent = createRecent(() => 0);
  let stored = 'nothing';
  let asks = 0;
  const read = () =>
    recent.fresh('checks', async () => {
      asks += 1;
      const answer = stored;
      await Promise.resolve();
      return answer;
    });
  const before = read();
  stored = 'a check';
  const after = [read(), read()];
  expect(await before).toBe('nothing');
  expect(await Promise.all(after)).toEqual(['a check', 'a check']);
  expect(asks).toBe(2);
  stored = 'another';
  expect(await read()).toBe('another');
});

it('a failure concerns its own callers only', async () => {
  const recent = createRecent(() => 0);
  const failing = recent.fresh('checks', () => Promise.reject(new Error('timeout')));
  const next = recent.fresh('checks', async () => 'fine');
  await expect(failing).rejects.toThrow('timeout');
  expect(await next).toBe('fine');
});
