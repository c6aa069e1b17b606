import { expect, it } from 'vitest';
import { createSharedReads } from '../../../server/cluster/sharedReads.ts';

function countedReads() {
  let now = 0;
  const keys: string[] = [];
  const sharedReads = createSharedReads(() => now);
  return {
    keys,
    later: (ms: number) => {
      now += ms;
    },
    recent: (maxAgeMs: number, key: string, answer: () => Promise<unknown> = async () => keys.length) =>
      sharedReads.recent(maxAgeMs, key, () => {
        keys.push(key);
        return answer();
      }),
  };
}

it('reads once for all callers within their time limits', async () => {
  const { recent, keys, later } = countedReads();
  expect(await Promise.all([recent(1000, 'a'), recent(1000, 'a'), recent(1000, 'b')])).toEqual([1, 1, 2]);
  later(999);
  expect(await recent(1000, 'a')).toBe(1);
  expect(await recent(500, 'a')).toBe(3);
  later(1000);
  expect(await recent(1000, 'a')).toBe(4);
  expect(keys).toEqual(['a', 'b', 'a', 'a']);
});

it('keeps no answer longer than a caller has wanted it: it may be large', async () => {
  const { recent, later } = countedReads();
  expect(await recent(1000, 'a')).toBe(1);
  expect(await recent(60_000, 'b')).toBe(2);
  later(20_000);
  await recent(1000, 'c');
  expect(await recent(60_000, 'a')).toBe(4);
  expect(await recent(60_000, 'b')).toBe(2);
});

it('keeps an answer as long as any caller has wanted one', async () => {
  const { recent, later } = countedReads();
  await recent(60_000, 'a');
  later(3000);
  expect(await recent(1000, 'a')).toBe(2);
  later(20_000);
  await recent(1000, 'b');
  expect(await recent(60_000, 'a')).toBe(2);
});

it('caches no failure', async () => {
  const { recent } = countedReads();
  await expect(recent(1000, 'a', () => Promise.reject(new Error('timeout')))).rejects.toThrow('timeout');
  expect(await recent(1000, 'a')).toBe(2);
});

it('returns no result of an earlier read, and reads once for all later callers', async () => {
  const sharedReads = createSharedReads(() => 0);
  let stored = 'nothing';
  let reads = 0;
  const read = () =>
    sharedReads.recent(0, 'checks', async () => {
      reads += 1;
      const answer = stored;
      await Promise.resolve();
      return answer;
    });
  const before = read();
  stored = 'a check';
  const after = [read(), read()];
  expect(await before).toBe('nothing');
  expect(await Promise.all(after)).toEqual(['a check', 'a check']);
  expect(reads).toBe(2);
  stored = 'another';
  expect(await read()).toBe('another');
});

it('returns no result of the later read to callers that come during it', async () => {
  const sharedReads = createSharedReads(() => 0);
  let stored = 'nothing';
  const read = () =>
    sharedReads.recent(0, 'checks', async () => {
      const answer = stored;
      await Promise.resolve();
      return answer;
    });
  const [first, later] = [read(), read()];
  await first;
  stored = 'a check';
  const last = read();
  expect([await later, await last]).toEqual(['nothing', 'a check']);
});

it('forgets a read that has ended: the next one starts at once', async () => {
  const sharedReads = createSharedReads(() => 0);
  let begun = 0;
  const read = () =>
    sharedReads.recent(0, 'checks', async () => {
      begun += 1;
    });
  await read();
  void read();
  expect(begun).toBe(2);
});

it('a failure concerns its own callers only', async () => {
  const sharedReads = createSharedReads(() => 0);
  const failing = sharedReads.recent(0, 'checks', () => Promise.reject(new Error('timeout')));
  const next = sharedReads.recent(0, 'checks', async () => 'fine');
  await expect(failing).rejects.toThrow('timeout');
  expect(await next).toBe('fine');
});

it.each([0, 1000])(
  'callers that wait for one read continue one in each turn of the event loop: %s ms',
  async (maxAgeMs) => {
    const sharedReads = createSharedReads(() => 0);
    let turns = 0;
    const count = () => {
      turns++;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    const { promise: answer, resolve } = Promise.withResolvers<string>();
    const callers = Array.from({ length: 20 }, async () => {
      await sharedReads.recent(maxAgeMs, 'gate', () => answer);
      return turns;
    });
    resolve('a Gate');
    const continued = await Promise.all(callers);
    clearImmediate(next);
    expect(new Set(continued).size).toBe(callers.length);
  },
);

it('keeps no more answers than take 64 MiB, of whatever kind: the oldest are read again', async () => {
  const { recent, keys } = countedReads();
  const large = 'x'.repeat(24 * 1024 * 1024);
  const answers = [large, { metadata: { name: large } }, new Map([['a', [large]]])];
  for (const [i, answer] of answers.entries()) await recent(1000, `${i}`, async () => answer);
  await recent(1000, '2');
  await recent(1000, '1');
  expect(keys).toEqual(['0', '1', '2']);
  await recent(1000, '0');
  expect(keys).toEqual(['0', '1', '2', '0']);
});

it('keeps no more answers than take 64 MiB with their keys, which may have a text of a user', async () => {
  const { recent } = countedReads();
  const keyOf = (i: number) => `${i} ${'x'.repeat(24 * 1024 * 1024)}`;
  for (const i of [1, 2, 3]) expect(await recent(1000, keyOf(i))).toBe(i);
  expect(await recent(1000, keyOf(3))).toBe(3);
  expect(await recent(1000, keyOf(1))).toBe(4);
});

it('a read is not waited for longer than its caller can', async () => {
  const { withinMs } = createSharedReads(() => 0);
  expect(await withinMs(1, new Promise(() => {}))).toBeUndefined();
  expect(await withinMs(60_000, Promise.resolve('fine'))).toBe('fine');
});
