/** The user's cache, keyed by content, with a lock against two builds of the same content. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { REPOSITORY } from '../../repository.ts';
import { takeLock } from '../process/lock.ts';
import type { Log } from '../process/log.ts';
import { Problem } from '../process/problem.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/**
 * The folder of a program in `$XDG_CACHE_HOME/rollout-hooks` or `~/.cache/rollout-hooks`, which may not exist yet.
 * `pins`: the text that pins the program's version, for the folder's name.
 */
export function cacheOf(name: string, pins?: string): string {
  const folder = pins === undefined ? name : `${name}-${sha256(pins).slice(0, 16)}`;
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'rollout-hooks', folder);
}

/** The cache of the control plane, keyed by dev/tools/go.mod. */
export function controlPlaneCache(): string {
  return cacheOf(sha256(readFileSync(join(REPOSITORY, 'dev/tools/go.mod'), 'utf8')));
}

/**
 * The path of NAME in a cache. If NAME is missing, `make` creates it elsewhere on the same disk, and it is moved in one
 * step.
 */
export async function madeOnce(
  cache: string,
  name: string,
  make: (path: string) => Promise<void> | void,
  log: Log = () => {},
): Promise<string> {
  const path = join(cache, name);
  if (existsSync(path)) return path;
  await withLock(cache, log, async (work) => {
    if (existsSync(path)) return;
    await make(join(work, name));
    renameSync(join(work, name), path);
  });
  return path;
}

/**
 * Runs `work` exclusively for a cache on this machine, with an empty directory on the same disk, from which files can
 * be moved into the cache in one step.
 */
export async function withLock<T>(cache: string, log: Log, work: (directory: string) => Promise<T>): Promise<T> {
  try {
    mkdirSync(cache, { recursive: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Problem(`${cache} can't be created (${code}): set XDG_CACHE_HOME to a folder that is writable.`);
  }
  const release = await takeLock(join(cache, 'lock'), cache, log);
  const directory = join(cache, 'work');
  try {
    // A killed build may have left its directory.
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory);
    return await work(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
    release();
  }
}
