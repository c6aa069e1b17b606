/** One supervisor per directory. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Log } from './log.ts';
import { endLeftovers, forgetPid, recordPid, runningProcess } from './pids.ts';
import { Problem } from './problem.ts';

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
