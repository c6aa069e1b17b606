/** What processes take, from /proc, and how often hooks are asked; requests to the API server are counted by requests.ts. */
import { readFileSync } from 'node:fs';
import type { LocalCluster } from '../local/cluster.ts';

/** Peak resident memory of a process in MiB; undefined where /proc is not there. */
export const peakMemoryMiB = (pid: number): number | undefined => statusMiB(pid, 'VmHWM');

/** The same of its memory now. */
export const residentMiB = (pid: number): number | undefined => statusMiB(pid, 'VmRSS');

function statusMiB(pid: number, line: 'VmHWM' | 'VmRSS'): number | undefined {
  try {
    const [, kib] = new RegExp(`${line}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kib === undefined ? undefined : Math.round(Number(kib) / 1024);
  } catch {
    return undefined;
  }
}

/** Processor seconds (user and system) a process has used; undefined where /proc is not there. */
export function cpuSeconds(pid: number): number | undefined {
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

/** Of each process of the cluster, by name; 0 where /proc is not there. */
export function cpuOf(cluster: LocalCluster): Record<string, number> {
  return Object.fromEntries(cluster.children().map(({ name, pid }) => [name, cpuSeconds(pid) ?? 0]));
}

/** Calls of each hook and webhook so far, by route: `/hooks/flux/sync`. */
export async function hookCalls(host: string): Promise<Map<string, number>> {
  const text = await (await fetch(`http://${host}/metrics`)).text();
  const calls = new Map<string, number>();
  const lines = text.matchAll(/^rollout_hooks_request_duration_seconds_count\{route="([^"]+)"[^}]*\} (\d+)$/gm);
  for (const [, route = '', count] of lines) calls.set(route, (calls.get(route) ?? 0) + Number(count));
  return calls;
}
