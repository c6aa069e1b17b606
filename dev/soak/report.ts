/** The result of a soak, for people. */
import type { SoakResult } from './run.ts';

export function asText(result: SoakResult): string {
  const { releases, lag, happenings, memory, etcdMiB, cores, load, alerts, violations } = result;
  return [
    `${result.fleet} Rollouts, ${result.minutes} minutes, seed ${result.seed}, driven by ${result.driver}\n`,
    `${releases.published} versions published: ${releases.succeeded} succeeded, ${releases.failed} were bad and failed, ${releases.superseded} superseded\n`,
    `${result.versions} stored versions of Rollouts and Kustomizations judged\n`,
    `lag of ${lag.count} releases with nothing in their way: p50 ${lag.p50.toFixed(2)} s, p99 ${lag.p99.toFixed(2)} s\n`,
    `what others did: ${asList(result.tally)}\n`,
    `refused or not answered, and tried again: ${asList(Object.fromEntries(result.refusals))}\n`,
    table(
      ['at', 'what', 'of', 'took'],
      happenings.map(({ ms, what, of, overMs }) => [
        clock(ms),
        what,
        of,
        overMs ? `${((overMs - ms) / 1000).toFixed(1)} s` : '',
      ]),
    ),
    table(
      ['process', 'minutes', 'MiB', 'then', 'an hour', 'memory is'],
      memory.map((line) => [
        line.name,
        line.minutes,
        line.first,
        line.last,
        `${line.mibPerHour.toFixed(1)} ± ${line.error.toFixed(1)}`,
        line.verdict,
      ]),
    ),
    `etcd's file: ${etcdMiB.first} MiB, ${etcdMiB.last} MiB in the end, at most ${etcdMiB.most} MiB\n`,
    `cores: ${asList(cores, 3)}; load of the machine, for each core, ${load.mean.toFixed(1)}, at most ${load.most.toFixed(1)}\n`,
    table(
      ['from', 'to', 'alert', 'of', 'true because'],
      alerts.map(({ fromMs, toMs, alert, labels, because }) => {
        const of = labels.name === undefined ? '' : `${labels.namespace}/${labels.name}`;
        return [clock(fromMs), clock(toMs), alert, of, because ?? 'NOT TRUE'];
      }),
    ),
    `${violations.length} violations\n`,
    ...violations.slice(0, 100).map((violation) => `  ${violation}\n`),
  ].join('');
}

const clock = (ms: number) => new Date(ms).toISOString().slice(11, 19);

const asList = (values: Record<string, number>, digits = 0) =>
  Object.entries(values)
    .map(([name, value]) => `${name} ${value.toFixed(digits)}`)
    .join(', ');

function table(head: string[], rows: (string | number)[][]): string {
  const all = [head, ...rows].map((row) => row.map(String));
  const widths = head.map((_, i) => Math.max(...all.map((row) => row[i]!.length)));
  return all.map((row) => `${asLine(row, widths)}\n`).join('');
}

const asLine = (row: string[], widths: number[]) =>
  `  ${row.map((cell, i) => cell.padEnd(widths[i]!)).join('  ')}`.trimEnd();
