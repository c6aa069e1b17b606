import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { searchFolders } from '../../../../dev/local/binaries/binaries.ts';
import { cacheDirectory, withLock } from '../../../../dev/local/binaries/cache.ts';

let cache: string;
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'rollout-hooks-unit-'));
});
afterEach(() => rmSync(cache, { recursive: true, force: true }));

describe('cacheDirectory', () => {
  it.each([
    [{ XDG_CACHE_HOME: '/c' }, '/c/rollout-hooks/'],
    [{ XDG_CACHE_HOME: '' }, `${homedir()}/.cache/rollout-hooks/`],
    [{}, `${homedir()}/.cache/rollout-hooks/`],
  ])('%j', (env, start) => {
    const path = cacheDirectory(env);
    expect(path.startsWith(start)).toBe(true);
    expect(path.slice(start.length)).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('searchFolders', () => {
  it.each([
    [{ KUBEBUILDER_ASSETS: '/k', PATH: '/a:/b' }, ['/k', '/a', '/b', '/cache']],
    [{ PATH: '/a' }, ['/a', '/cache']],
    [{}, ['/cache']],
  ])('%j: %j', (env, folders) => {
    expect(searchFolders(env, '/cache')).toEqual(folders);
  });
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
