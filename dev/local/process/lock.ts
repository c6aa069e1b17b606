/** A lock in a file, which is free once its process has ended. */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { Log } from './log.ts';
import { Problem } from './problem.ts';

/** Identifies a running process. The system reuses pids, so it has the start time too. */
interface ProcessIdentity {
  pid: number;
  /** Opaque: equal for the same process, different for a later one with the same pid. */
  started: string;
}

/**
 * Takes the lock, once the process that holds it has released it or ended. Rejects after `patienceMs`. `what`: the name
 * of the locked thing in messages. The returned function releases the lock.
 */
export async function takeLock(
  file: string,
  what: string,
  log: Log,
  patienceMs = Number.POSITIVE_INFINITY,
): Promise<() => void> {
  const deadline = performance.now() + patienceMs;
  for (let isReported = false; !tryLock(file); ) {
    const holder = holderOf(file);
    if (!holder) {
      rmSync(file, { force: true });
      continue;
    }
    const text = `${what} is in use by process ${holder.pid}`;
    if (performance.now() > deadline) throw new Problem(`${text}: stop it, or give another directory with --dir.`);
    if (!isReported) log(`${text}; waiting for it`);
    isReported = true;
    await wait(100);
  }
  return () => rmSync(file, { force: true });
}

/**
 * Takes the lock if it is free. A link appears with its content in one step; a file would look like a dead lock until
 * it is written.
 */
function tryLock(file: string): boolean {
  const mine = `${file}-${randomUUID()}`;
  writeFileSync(mine, JSON.stringify(identify(process.pid)));
  try {
    linkSync(mine, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  } finally {
    rmSync(mine, { force: true });
  }
}

/** The process that holds the lock; undefined if it is free. */
export function holderOf(file: string): ProcessIdentity | undefined {
  if (!existsSync(file)) return undefined;
  try {
    const holder = JSON.parse(readFileSync(file, 'utf8')) as ProcessIdentity;
    const seen = identify(holder.pid);
    return seen && seen.started === holder.started ? holder : undefined;
  } catch {
    return undefined;
  }
}

/** The process with this pid; undefined if there is none or it has ended (a zombie). */
function identify(pid: number): ProcessIdentity | undefined {
  try {
    if (process.platform !== 'linux') return identifyByPs(pid);
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the name in brackets and may contain spaces; state is field 3, starttime field 22.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    return { pid, started: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}

function identifyByPs(pid: number): ProcessIdentity | undefined {
  const started = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  return started ? { pid, started } : undefined;
}
