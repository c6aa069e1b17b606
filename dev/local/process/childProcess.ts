/** A process of the local control plane, with a log and a clean end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { takeLock } from './lock.ts';
import type { Log } from './log.ts';
import { Problem } from './problem.ts';

/**
 * The time that a process has to become ready. On a busy machine an API server that was killed takes minutes to make
 * its first roles. A process that can't start ends by itself.
 */
const READY_TIMEOUT_MS = 300_000;

interface ChildSpec {
  /** Also the name of its log: DIR/NAME.log. */
  name: string;
  command: string;
  args: string[];
  env?: Record<string, string>;
  cwd?: string;
  /** The folder of the log. */
  dir: string;
  /** Whether the process is ready; called every 50 ms. */
  ready: (output: () => string) => Promise<boolean>;
  /** The time between SIGTERM and SIGKILL. */
  stopTimeoutMs?: number;
}

interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** Whether `kill` or `stop` ended the process. */
  isRequested: boolean;
}

export interface RunningChild {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  readonly exited: Promise<Exit>;
  /** The log since this start. */
  output(): string;
  /** Sends a signal without waiting. Marks the exit as requested, unless the signal only pauses. */
  kill(signal: NodeJS.Signals): void;
  /** SIGTERM, then SIGKILL; resolves when the process is gone. */
  stop(): Promise<void>;
}

const PAUSES: NodeJS.Signals[] = ['SIGSTOP', 'SIGCONT'];

const alive = new Set<ChildProcess>();
// Ends the children with this process, even after an uncaught error. Nothing asynchronous can run here.
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

/** Kills the pids in its last line of input when its input ends, with this process, even by SIGKILL. */
const GUARD = 'while read -r line; do pids=$line; done; [ -z "$pids" ] || kill -KILL $pids';
let guard: ChildProcess | undefined;

function note(child: ChildProcess, isAlive: boolean): void {
  if (isAlive) alive.add(child);
  else alive.delete(child);
  if (!guard) {
    guard = spawn('sh', ['-c', GUARD], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    guard.unref();
    (guard.stdin as Socket).unref();
  }
  guard.stdin!.write(`${[...alive].map(({ pid }) => pid).join(' ')}\n`);
}

/** Starts a process and waits until it is ready. Rejects with a Problem that has the end of its log. */
export async function startChild(spec: ChildSpec): Promise<RunningChild> {
  const logFile = join(spec.dir, `${spec.name}.log`);
  const log = openSync(logFile, 'a');
  const logStart = readFileSync(logFile).length;
  const child = spawn(spec.command, spec.args, {
    cwd: spec.cwd,
    env: { ...process.env, ...spec.env },
    stdio: ['ignore', log, log],
    // A process group of its own: Ctrl-C must reach only the supervisor, which stops processes in order.
    detached: true,
  });
  closeSync(log);
  let isRequested = false;
  const exited = new Promise<Exit>((resolve) => {
    const end = (code: number | null, signal: NodeJS.Signals | null) => {
      note(child, false);
      resolve({ code, signal, isRequested });
    };
    child.once('error', () => end(127, null));
    child.once('exit', end);
  });
  if (child.pid !== undefined) note(child, true);
  const kill = (signal: NodeJS.Signals) => {
    isRequested ||= !PAUSES.includes(signal);
    child.kill(signal);
  };
  const stop = async () => {
    kill('SIGTERM');
    const late = setTimeout(() => kill('SIGKILL'), spec.stopTimeoutMs ?? 5_000);
    await exited;
    clearTimeout(late);
  };
  const output = () => readFileSync(logFile).subarray(logStart).toString('utf8');
  const running = { name: spec.name, pid: child.pid ?? -1, logFile, exited, output, kill, stop };
  await untilReady(spec, running);
  return running;
}

async function untilReady(spec: ChildSpec, child: RunningChild): Promise<void> {
  let exit: Exit | undefined;
  void child.exited.then((how) => {
    exit = how;
  });
  const deadline = performance.now() + READY_TIMEOUT_MS;
  for (;;) {
    if (await spec.ready(child.output).catch(() => false)) return;
    if (exit) throw deathProblem(spec.name, exit, child.logFile, child.output());
    if (performance.now() > deadline) {
      await child.stop();
      throw new Problem(
        `${spec.name} was not ready within ${READY_TIMEOUT_MS / 1000} s: see ${child.logFile} for the cause.`,
        lastLines(child.output()),
      );
    }
    await wait(50);
  }
}

/** The Problem for a process that ended by itself. */
function deathProblem(name: string, exit: Exit, logFile: string, output: string): Problem {
  const how = exit.signal ? `was killed by ${exit.signal}` : `exited with code ${exit.code}`;
  return new Problem(`${name} ${how}: see ${logFile} for the cause, then start again.`, lastLines(output));
}

export function lastLines(text: string, count = 5): string[] {
  return text.trimEnd().split('\n').slice(-count).filter(Boolean);
}

interface Children {
  /** By name. */
  running: Map<string, RunningChild>;
  /** Resolves when one of them ends by itself. */
  died: Promise<Problem>;
  watch(child: RunningChild): RunningChild;
}

export function superviseChildren(): Children {
  const running = new Map<string, RunningChild>();
  const { promise: died, resolve: report } = Promise.withResolvers<Problem>();
  const watch = (child: RunningChild): RunningChild => {
    running.set(child.name, child);
    void child.exited.then((exit) => {
      if (running.get(child.name) === child) running.delete(child.name);
      if (!exit.isRequested) report(deathProblem(child.name, exit, child.logFile, child.output()));
    });
    return child;
  };
  return { running, died, watch };
}

/** The time in which a stopping supervisor ends. */
const PATIENCE_MS = 10_000;

/** The lock of the directory's supervisor. */
export const supervisorLock = (dir: string): string => join(dir, 'supervisor');

/** Makes this process the only supervisor of the directory. The returned function releases it. */
export const claimDirectory = (dir: string, log: Log): Promise<() => void> =>
  takeLock(supervisorLock(dir), dir, log, PATIENCE_MS);
