/** Measures the cost of a hostile input, and compares it with a budget. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inTemporaryDirectory } from '../../../dev/local/process/temporaryDirectory.ts';
import type { Measured } from './child.ts';
import type { Input } from './input.ts';

/** In parses of the same input as JSON, and in its bytes. */
export const BUDGET = { time: 50, memory: 20 } as const;
/** The part of the first decision's time that cold code and empty caches take. */
const COLD_START_MS = 400;
/** The shortest parsing time that counts: faster ones are below the clock's resolution. */
const LEAST_PARSE_MS = 0.2;
/** The smallest input size that counts, since resident memory grows in large steps. */
const LEAST_BYTES = 2 * 1024 * 1024;

export interface Cost {
  name: string;
  bytes: number;
  /** Processor time of the decision, in parses; Infinity if it didn't end. */
  time: number;
  /** Milliseconds of the first decision in a process. */
  first: number;
  /** Peak of memory, in bytes of the input. */
  memory: number;
  requests: number;
  /** Empty if the cost is within the budget. */
  problems: string[];
}

export function costOf(name: string, { paths, body, stored = [] }: Input, timeoutMs = 60_000): Promise<Cost> {
  return inTemporaryDirectory('hostile-', async (folder) => {
    const rest = { paths, stored: stored.map((each) => JSON.stringify(each)) };
    writeFileSync(join(folder, 'body.json'), JSON.stringify(body));
    writeFileSync(join(folder, 'rest.json'), JSON.stringify(rest));
    const found = await run(folder, timeoutMs);
    if (typeof found !== 'string') return costFrom(name, found);
    const endless = { time: Number.POSITIVE_INFINITY, first: timeoutMs };
    return { name, bytes: Number.NaN, ...endless, memory: Number.NaN, requests: 0, problems: [found] };
  });
}

function costFrom(name: string, found: Measured): Cost {
  const { bytes, requests, first } = found;
  if (found.refused) return { name, bytes, time: 0, first: 0, memory: 0, requests, problems: [] };
  const parse = Math.max(found.parse, LEAST_PARSE_MS);
  const time = found.decide / parse;
  const memory = found.peakBytes / Math.max(bytes, LEAST_BYTES);
  const problems = [
    ...(found.failed ? [`is not answered: ${found.failed}`] : []),
    ...(time > BUDGET.time ? [`takes ${time.toFixed(0)} times as long as parsing it`] : []),
    ...(first > BUDGET.time * parse + COLD_START_MS ? [`takes ${first.toFixed(0)} ms the first time`] : []),
    ...(memory > BUDGET.memory ? [`takes ${memory.toFixed(0)} times its size in memory`] : []),
  ];
  return { name, bytes, time, first, memory, requests, problems };
}

/** The process's measurement, or the reason why it has none. */
function run(folder: string, timeout: number): Promise<Measured | string> {
  // A small young generation keeps uncollected garbage out of the measurement.
  const args = ['--expose-gc', '--max-semi-space-size=2', join(import.meta.dirname, 'child.ts'), folder];
  return new Promise((resolve) => {
    const env = { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'hostile-compile-cache') };
    execFile(process.execPath, args, { env, timeout, killSignal: 'SIGKILL' }, (error, stdout, stderr) => {
      if (!error) resolve(JSON.parse(stdout));
      else if (error.killed) resolve(`does not end within ${timeout / 1000} s`);
      else resolve(`ends the process: ${/^.*error.*$/im.exec(stderr)?.[0] ?? error.message}`);
    });
  });
}
