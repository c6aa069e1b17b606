/** `node dev/bench/latency.ts`: how long one release takes in a settled fleet. */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { LocalCluster } from '../local/cluster.ts';
import { logToStderr } from '../local/process/log.ts';
import { type BudgetLine, runBench } from './command.ts';
import { populate, populateApplier, release, watchKustomizations } from './fleets/releases.ts';
import { quantile } from './measure.ts';
import { untilQuiet } from './requests.ts';

const P99_SECONDS = 0.3;
const HELP = `Usage: node dev/bench/latency.ts [--rollouts N] [--releases N] [--json] [--metacontroller PATH]

Settles a fleet of N Rollouts, then releases a new version to one at a time: from its ImagePolicy's status to the field in its Kustomization.
Prints the median and the slowest hundredth. Ends with 1 where that is more than ${P99_SECONDS * 1000} ms.

  --rollouts N           how many Rollouts are there (1000)
  --releases N           how many of them get a version, one after the other (200)
  --json                 print JSON instead of text
  --metacontroller PATH  drive the hooks with this Metacontroller instead of the engine (default: $METACONTROLLER)
  --help                 this text
`;

/** What the release before has left to do is over: its Events, its second look. */
const PAUSE_MS = 100;

interface Result {
  rollouts: number;
  releases: number;
  driver: string;
  p50Seconds: number;
  p99Seconds: number;
}

async function measure(cluster: LocalCluster, rollouts: number, releases: number): Promise<Result> {
  const admin = cluster.accessOf('admin');
  const indexes = Array.from({ length: rollouts }, (_, i) => i);
  logToStderr(`Creating ${rollouts} Rollouts, each with an ImagePolicy and a Kustomization`);
  await populateApplier(admin);
  await populate(admin, indexes);
  const kustomizations = watchKustomizations(admin);
  logToStderr(`First deployment: ${(await release(admin, kustomizations, indexes, '1.0.0')).toFixed(1)} s`);
  logToStderr('Waiting until the fleet is at rest');
  await untilQuiet(join(cluster.dir, 'audit.log'));
  const seconds: number[] = [];
  for (let i = 0; i < releases; i++) {
    await wait(PAUSE_MS);
    seconds.push(await release(admin, kustomizations, [i % rollouts], `1.1.${i}`));
  }
  kustomizations.close();
  return {
    rollouts,
    releases,
    driver: cluster.driver()?.name ?? '',
    p50Seconds: quantile(seconds, 0.5),
    p99Seconds: quantile(seconds, 0.99),
  };
}

const budget = ({ p99Seconds }: Result): BudgetLine[] => [
  { name: 'seconds of one release, p99', value: p99Seconds, limit: P99_SECONDS },
];

function asText({ rollouts, releases, driver, p50Seconds, p99Seconds }: Result): string {
  const ms = (seconds: number) => `${(seconds * 1000).toFixed(0)} ms`;
  return `${releases} releases, one at a time, among ${rollouts} Rollouts, driven by ${driver}: p50 ${ms(p50Seconds)}, p99 ${ms(p99Seconds)}\n`;
}

await runBench({
  help: HELP,
  counts: { rollouts: 1000, releases: 200 },
  measure: (cluster, { rollouts, releases }) => measure(cluster, rollouts, releases),
  asText,
  budget,
});
