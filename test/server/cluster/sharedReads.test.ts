import { expect, it } from 'vitest';
import { shared } from '../../../server/cluster/clusterReader.ts';

/** Reads of a changing value: each returns, on release, the value at its start. */
function source() {
  let value = 0;
  const begun: { end(): void; fail(): void }[] = [];
  const read = shared((_: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const seen = value;
    begun.push({ end: () => resolve(seen), fail: () => reject(new Error('reset')) });
    return promise;
  });
  return {
    read,
    begun,
    change: () => {
      value += 1;
    },
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

it('callers during a read get one later read together', async () => {
  const { read, begun, change } = source();
  const first = read('gate');
  change();
  const later = [read('gate'), read('gate'), read('gate')];
  expect(begun).toHaveLength(1);
  begun[0]!.end();
  expect(await first).toBe(0);
  await turn();
  expect(begun).toHaveLength(2);
  begun[1]!.end();
  expect(await Promise.all(later)).toEqual([1, 1, 1]);
});

it('callers during the later read do not get that either', async () => {
  const { read, begun, change } = source();
  const reads = [read('gate'), read('gate')];
  begun[0]!.end();
  await turn();
  change();
  reads.push(read('gate'));
  begun[1]!.end();
  await turn();
  begun[2]!.end();
  expect(await Promise.all(reads)).toEqual([0, 0, 1]);
});

it('different objects do not wait for each other', () => {
  const { read, begun } = source();
  void read('a');
  void read('b');
  expect(begun).toHaveLength(2);
});

it('a failure concerns the callers of that read only', async () => {
  const { read, begun } = source();
  const first = read('gate');
  const second = read('gate');
  begun[0]!.fail();
  await expect(first).rejects.toThrow('reset');
  await turn();
  begun[1]!.end();
  expect(await second).toBe(0);
});

it('without callers nothing is kept: the next read starts at once', async () => {
  const { read, begun } = source();
  for (const i of [0, 1, 2]) {
    const one = read('gate');
    begun[i]!.end();
    await one;
    await turn();
  }
  expect(begun).toHaveLength(3);
});
