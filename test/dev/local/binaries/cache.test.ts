import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BinaryName, isUsable } from '../../../../dev/local/binaries/binaries.ts';
import { withLock } from '../../../../dev/local/binaries/cache.ts';

let cache: string;
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'rollout-hooks-unit-'));
});
afterEach(() => rmSync(cache, { recursive: true, force: true }));

it.each<[BinaryName, string, boolean]>([
  ['kube-apiserver', 'Kubernetes v1.36.3', true],
  ['kube-apiserver', 'Kubernetes v1.31.9', false],
  ['kube-controller-manager', 'Kubernetes v1.32.0-rc.1+abc', true],
  // A build from source without a stamp is taken at its owner's word.
  ['kube-apiserver', 'Kubernetes v0.0.0-master+$Format:%H$', true],
  ['kube-apiserver', 'etcd Version: 3.6.16', false],
  ['etcd', 'etcd Version: 3.6.16\nGit SHA: x', true],
  ['etcd', 'etcd Version: 2.3.8', false],
])('%s that says %j is usable: %s', (binary, output, usable) => {
  expect(isUsable(binary, output)).toBe(usable);
});

describe('withLock', () => {
  it('lets one in at a time', async () => {
    let inside = 0;
    let most = 0;
    let waited = 0;
    const work = async () => {
      most = Math.max(most, ++inside);
      await new Promise((resolve) => setImmediate(resolve));
      inside--;
    };
    await Promise.all([1, 2].map(() => withLock(cache, () => waited++, work)));
    expect({ most, waited }).toEqual({ most: 1, waited: 1 });
  });

  it('is free again after a failure', async () => {
    const failing = withLock(
      cache,
      () => {},
      () => Promise.reject(new Error('no')),
    );
    await expect(failing).rejects.toThrow('no');
    expect(
      await withLock(
        cache,
        () => {},
        async () => 'done',
      ),
    ).toBe('done');
  });

  it.each([
    ['of a process that is gone', JSON.stringify({ pid: 2 ** 22 + 1, command: 'node', started: '1' })],
    ['of a pid that is another process now', JSON.stringify({ pid: process.pid, command: 'node', started: '1' })],
  ])('takes over a lock %s', async (_, holder) => {
    writeFileSync(join(cache, 'lock'), holder);
    expect(
      await withLock(
        cache,
        () => {},
        async () => 'done',
      ),
    ).toBe('done');
  });
});
