/**
 * One supervisor per directory, and the processes that it starts, recorded in DIR/pids, so that a start after a SIGKILL
 * can end exactly those.
 * The system reuses pids, so a record also has command line and start time.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Log } from './log.ts';
import { Problem } from './problem.ts';

/** Identifies a running process. */
export interface ProcessIdentity {
  pid: number;
  command: string;
  /** Opaque: equal for the same process, different for a later one with the same pid. */
  started: string;
}

/** Whether the process now seen under a recorded pid is the recorded one. */
export function isSameProcess(recorded: ProcessIdentity, seen: ProcessIdentity | undefined): boolean {
  return (
    seen !== undefined &&
    seen.pid === recorded.pid &&
    seen.started === recorded.started &&
    // An ending process no longer has a command line, but still has its files, ports and locks.
    (seen.command === recorded.command || seen.command === '')
  );
}

/** The process with this pid; undefined if there is none or it has ended (a zombie). */
export function identify(pid: number): ProcessIdentity | undefined {
  try {
    if (process.platform !== 'linux') return identifyByPs(pid);
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the name in brackets and may contain spaces; state is field 3, starttime field 22.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim();
    return { pid, command, started: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}

function identifyByPs(pid: number): ProcessIdentity | undefined {
  const line = execFileSync('ps', ['-o', 'lstart=,command=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  return line ? { pid, started: line.slice(0, 24), command: line.slice(24).trim() } : undefined;
}

const folder = (dir: string) => join(dir, 'pids');

export function recordPid(dir: string, name: string, pid: number): void {
  const identity = identify(pid);
  if (!identity) return;
  mkdirSync(folder(dir), { recursive: true });
  const file = join(folder(dir), `${name}.json`);
  writeFileSync(`${file}.tmp`, JSON.stringify(identity));
  renameSync(`${file}.tmp`, file);
}

export function forgetPid(dir: string, name: string): void {
  rmSync(join(folder(dir), `${name}.json`), { force: true });
}

/** The recorded process of this name, if it still runs. */
export function runningProcess(dir: string, name: string): ProcessIdentity | undefined {
  try {
    const recorded = JSON.parse(readFileSync(join(folder(dir), `${name}.json`), 'utf8')) as ProcessIdentity;
    return isSameProcess(recorded, identify(recorded.pid)) ? recorded : undefined;
  } catch {
    return undefined;
  }
}

/** Names of all recorded processes. */
export function recordedNames(dir: string): string[] {
  try {
    return readdirSync(folder(dir))
      .filter((file) => file.endsWith('.json'))
      .map((file) => file.slice(0, -'.json'.length));
  } catch {
    return [];
  }
}

/** Ends recorded processes that still run, except `spared`. Resolves to their names. */
export async function endLeftovers(dir: string, spared: string): Promise<string[]> {
  const ended: string[] = [];
  for (const name of recordedNames(dir)) {
    if (name === spared) continue;
    const leftover = runningProcess(dir, name);
    if (leftover) {
      process.kill(leftover.pid, 'SIGKILL');
      while (isSameProcess(leftover, identify(leftover.pid))) await wait(20);
      ended.push(name);
    }
    forgetPid(dir, name);
  }
  return ended;
}

const SUPERVISOR = 'supervisor';
/** The time in which a stopping supervisor ends. */
const PATIENCE_MS = 10_000;

/** Makes this process the supervisor of `dir`, and ends the leftover processes of a killed supervisor. */
export async function claimDirectory(dir: string, log: Log): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  let isReported = false;
  for (;;) {
    const other = runningProcess(dir, SUPERVISOR);
    if (!other) break;
    if (other.pid === process.pid || performance.now() > deadline) {
      throw new Problem(`${dir} is in use by process ${other.pid}: stop it, or give another directory with --dir.`);
    }
    if (!isReported) log(`${dir} is in use by process ${other.pid}; waiting for it to end`);
    isReported = true;
    await wait(100);
  }
  recordPid(dir, SUPERVISOR, process.pid);
  const ended = await endLeftovers(dir, SUPERVISOR);
  if (ended.length > 0) log(`Ended what an earlier start had left running: ${ended.join(', ')}`);
}

export function releaseDirectory(dir: string): void {
  forgetPid(dir, SUPERVISOR);
}
