/** The user's cache, keyed by what is in it, and a lock so that two starts do not build the same thing at once. */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { REPOSITORY } from '../../repository.ts';
import { identify, isSameProcess, type ProcessIdentity } from '../process/pids.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** `$XDG_CACHE_HOME` (or ~/.cache) `/rollout-hooks/NAME`. It need not exist yet. */
export function cacheOf(name: string): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'rollout-hooks', name);
}

/** That of the control plane: by dev/tools/go.mod. */
export function controlPlaneCache(): string {
  return cacheOf(sha256(readFileSync(join(REPOSITORY, 'dev/tools/go.mod'), 'utf8')));
}

/** That of a program: by the files that pin it. */
export function cacheOfPins(name: string, pins: readonly string[]): string {
  const hash = sha256(pins.map((file) => readFileSync(file, 'utf8')).join('\n')).slice(0, 16);
  return cacheOf(`${name}-${hash}`);
}

/** The path of NAME in a cache. Where it is not there, `make` makes it at another path on the same disk, from which it is moved in one step. */
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
 * Runs `work` while no other process on this machine runs any for the same cache, with an empty directory on the same disk, from
 * which things can be moved into the cache in one step. A lock whose holder is dead is free.
 */
export async function withLock<T>(
  cache: string,
  waiting: () => void,
  work: (directory: string) => Promise<T>,
): Promise<T> {
  mkdirSync(cache, { recursive: true });
  const lock = join(cache, 'lock');
  const directory = join(cache, 'work');
  let told = false;
  while (!tryLock(lock)) {
    if (!isHeld(lock)) {
      rmSync(lock, { force: true });
      continue;
    }
    if (!told) waiting();
    told = true;
    await wait(500);
  }
  try {
    // A killed build may have left its own.
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory);
    return await work(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
    rmSync(lock, { force: true });
  }
}

/** A link appears with its content in one step; a file made in place would look dead until it is written. */
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
