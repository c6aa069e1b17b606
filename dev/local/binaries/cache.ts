/** The user's cache, keyed by content, with a lock against two builds of the same content. */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { REPOSITORY } from '../../repository.ts';
import { identify, isSameProcess, type ProcessIdentity } from '../process/pids.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** The folder `$XDG_CACHE_HOME/rollout-hooks/NAME`, or in ~/.cache, which may not exist yet. */
export function cacheOf(name: string): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'rollout-hooks', name);
}

/** The cache of the control plane, keyed by dev/tools/go.mod. */
export function controlPlaneCache(): string {
  return cacheOf(sha256(readFileSync(join(REPOSITORY, 'dev/tools/go.mod'), 'utf8')));
}

/** The cache of a program, keyed by the files that pin its version. */
export function cacheOfPins(name: string, pins: readonly string[]): string {
  return cacheOfText(name, pins.map((file) => readFileSync(file, 'utf8')).join('\n'));
}

/** The cache of a program, keyed by the text that pins its version. */
export function cacheOfText(name: string, pins: string): string {
  return cacheOf(`${name}-${sha256(pins).slice(0, 16)}`);
}

/**
 * The path of NAME in a cache. If NAME is missing, `make` creates it elsewhere on the same disk, and it is moved in one
 * step.
 */
export async function madeOnce(
  cache: string,
  name: string,
  make: (path: string) => Promise<void> | void,
  waiting: () => void = () => {},
): Promise<string> {
  const path = join(cache, name);
  if (existsSync(path)) return path;
  await withLock(cache, waiting, async (work) => {
    if (existsSync(path)) return;
    await make(join(work, name));
    renameSync(join(work, name), path);
  });
  return path;
}

/**
 * Runs `work` exclusively for a cache on this machine, with an empty directory on the same disk, from which files can
 * be moved into the cache in one step. The lock of a dead process is free.
 */
export async function withLock<T>(
  cache: string,
  waiting: () => void,
  work: (directory: string) => Promise<T>,
): Promise<T> {
  mkdirSync(cache, { recursive: true });
  const lock = join(cache, 'lock');
  const directory = join(cache, 'work');
  let isReported = false;
  while (!tryLock(lock)) {
    if (!isHeld(lock)) {
      rmSync(lock, { force: true });
      continue;
    }
    if (!isReported) waiting();
    isReported = true;
    await wait(500);
  }
  try {
    // A killed build may have left its directory.
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory);
    return await work(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
    rmSync(lock, { force: true });
  }
}

/**
 * Takes the lock if it is free. A link appears with its content in one step; a file would look like a dead lock until
 * it is written.
 */
function tryLock(lock: string): boolean {
  const mine = `${lock}-${randomUUID()}`;
  writeFileSync(mine, JSON.stringify(identify(process.pid)));
  try {
    linkSync(mine, lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  } finally {
    rmSync(mine, { force: true });
  }
}

function isHeld(lock: string): boolean {
  try {
    const holder = JSON.parse(readFileSync(lock, 'utf8')) as ProcessIdentity;
    return isSameProcess(holder, identify(holder.pid));
  } catch {
    return false;
  }
}
