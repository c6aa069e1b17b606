import { expect, it } from 'vitest';
import type { ClusterReader } from '../../api/ports.ts';
import { sharedRead } from '../../hooks/sharedRead.ts';

it('lets callers share a read that starts after they have asked', async () => {
  const cluster = {} as ClusterReader;
  const started: ((value: number) => void)[] = [];
  const read = sharedRead<string, number>(() => new Promise((resolve) => started.push(resolve)));

  const first = read(cluster, 'team-a');
  const second = read(cluster, 'team-a');
  const third = read(cluster, 'team-a');
  const other = read(cluster, 'team-b');
  expect(started).toHaveLength(2);

  started[0]!(1);
  expect(await first).toBe(1);
  await Promise.resolve();
  expect(started).toHaveLength(3);
  started[2]!(3);
  started[1]!(2);
  expect(await Promise.all([second, third, other])).toEqual([3, 3, 2]);
});

it('does not hand a failure to those who come after it', async () => {
  let reads = 0;
  const read = sharedRead<string, number>(async () => {
    if (++reads === 1) throw new Error('down');
    return reads;
  });
  const cluster = {} as ClusterReader;
  const first = read(cluster, 'a');
  const second = read(cluster, 'a');
  await expect(first).rejects.toThrow('down');
  expect(await second).toBe(2);
});
