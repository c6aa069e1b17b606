/**
 * Measures memory and processor time of processes (/proc), and the cost of a piece of work. dev/bench/requests.ts
 * counts requests.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { LocalCluster } from '../local/cluster.ts';
import { endOf, ours, type RequestCount, requestsSince, untilQuiet } from './requests.ts';
import type { Figure } from './scenario.ts';

/** A request that is rarer than this for each object is not printed. */
const RARE = 0.05;

/** Resident memory of a process in MiB, now or at its peak; undefined without /proc. */
export function residentMiB(pid: number, line: 'VmRSS' | 'VmHWM' = 'VmRSS'): number | undefined {
  try {
    const [, kib] = new RegExp(`${line}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kib === undefined ? undefined : Math.round(Number(kib) / 1024);
  } catch {
    return undefined;
  }
}

/** Processor seconds (user and system) of a process; undefined without /proc. */
function cpuSeconds(pid: number): number | undefined {
  try {
    // The command, in parentheses, may contain spaces; utime and stime are fields 14 and 15.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    const TICKS_PER_SECOND = 100;
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  } catch {
    return undefined;
  }
}

/** The value below which the share `q` (0 to 1) of the values lies; NaN when there are none. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

function cpuOf(cluster: LocalCluster): Record<string, number> {
  return Object.fromEntries(cluster.children().map(({ name, pid }) => [name, cpuSeconds(pid) ?? 0]));
}

/** The time in which a first deployment is reported by its FluxBinding, and registry and HealthCheck are read again. */
const FIRST_MINUTE_MS = 70_000;

/** Resolves when a fleet that has grown is quiet. */
export async function untilSettled(cluster: LocalCluster): Promise<void> {
  await wait(FIRST_MINUTE_MS);
  await untilQuiet(auditLog(cluster));
}

export interface Cost {
  seconds: number;
  /** Requests of driver and hook server. */
  requests: RequestCount[];
  /** Processor seconds by process. */
  cpu: Record<string, number>;
}

/** The cost of the work and of everything that follows until `tail` resolves. `seconds` is without the tail. */
export async function costOf(
  cluster: LocalCluster,
  work: () => Promise<unknown>,
  tail: () => Promise<unknown> = async () => {},
): Promise<Cost> {
  const log = auditLog(cluster);
  const from = endOf(log);
  const before = cpuOf(cluster);
  const start = performance.now();
  await work();
  const seconds = (performance.now() - start) / 1000;
  await tail();
  const cpu = Object.entries(cpuOf(cluster)).map(([name, used]) => [name, used - (before[name] ?? 0)]);
  return { seconds, requests: ours(await requestsSince(log, from)), cpu: Object.fromEntries(cpu) };
}

export const auditLog = ({ dir }: LocalCluster): string => join(dir, 'audit.log');
export const totalOf = (values: Record<string, number>): number => Object.values(values).reduce((a, b) => a + b, 0);
export const requestsOf = ({ requests }: Cost): number => requests.reduce((sum, { count }) => sum + count, 0);

/** Requests and processor time for each of `count` objects. */
export function costFigures(group: string, { requests, cpu }: Cost, count: number): Figure[] {
  return [
    ...Object.entries(cpu).map(([name, used]) => ({
      group,
      name,
      value: (used * 1000) / count,
      unit: 'ms of processor',
    })),
    ...requestFigures(group, requests, count),
  ];
}

/** Requests per object, or per second. */
export function requestFigures(group: string, requests: readonly RequestCount[], per: number): Figure[] {
  const figures = requests.map(({ user, verb, resource, count }) => {
    return { group, name: `${user} ${verb} ${resource}`, value: count / per, unit: 'requests' };
  });
  return figures.filter(({ value }) => value >= RARE);
}

export function memoryFigures(cluster: LocalCluster, group: string, line: 'VmRSS' | 'VmHWM'): Figure[] {
  return cluster.children().map(({ name, pid }) => {
    return { group, name: `memory of ${name}`, value: residentMiB(pid, line) ?? Number.NaN, unit: 'MiB' };
  });
}
