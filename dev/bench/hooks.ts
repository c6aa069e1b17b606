/** `node dev/bench/hooks.ts`: how many hook calls the server answers, by size of the request, and the memory it takes. */
import autocannon from 'autocannon';
import { send } from '../client/send.ts';
import type { LocalCluster } from '../local/cluster.ts';
import { type BudgetLine, memoryLines, runBench } from './command.ts';
import { peakMemoryMiB } from './measure.ts';

/** What a call may take, in times of parsing its request. */
const PARSINGS = 3;

const HELP = `Usage: node dev/bench/hooks.ts [--seconds N] [--json]

Calls the sync hook of Rollouts with ever longer histories, as Metacontroller would, and prints answers per second, latency and the peak
memory of the hook server. Nothing is written: the answers go nowhere. Ends with 1 where the longest takes more than ${PARSINGS} times as long
as parsing its JSON and nothing else.

  --seconds N  how long for each size (5)
  --json       print JSON instead of text
  --help       this text
`;

/** Entries of history and of availableReleases each. */
const SIZES = [1, 10, 100, 1000, 5000];
const CONNECTIONS = 10;

interface Throughput {
  entries: number;
  requestKB: number;
  answersPerSecond: number;
  /** By `JSON.parse` alone. */
  parsedPerSecond: number;
  p50Milliseconds: number;
  p99Milliseconds: number;
  /** Answers other than 200, and calls without one. */
  failures: number;
}

interface Result {
  sizes: Throughput[];
  peakMemoryMiB: Record<string, number | undefined>;
}

/** A settled Rollout: the hook has everything to read and nothing to decide. */
function requestOf(entries: number): string {
  const tag = (i: number) => `1.${i}.0`;
  const at = '2026-01-01T00:00:00Z';
  const upwards = Array.from({ length: entries }, (_, i) => i);
  const history = upwards
    .map((i) => ({ id: i + 1, version: { tag: tag(i), revision: 'abc' }, timestamp: at, bakeStatus: 'Succeeded' }))
    .reverse();
  const metadata = { name: 'app', namespace: 'bench', uid: 'b1', generation: 1 };
  return JSON.stringify({
    controller: {
      apiVersion: 'metacontroller.k8s.io/v1alpha1',
      kind: 'CompositeController',
      metadata: { name: 'rollouts' },
    },
    parent: {
      apiVersion: 'kuberik.com/v1alpha1',
      kind: 'Rollout',
      metadata,
      spec: { releasesImagePolicy: { name: 'app' }, versionHistoryLimit: entries },
      status: { revision: 1, history, availableReleases: upwards.map((i) => ({ tag: tag(i), revision: 'abc' })) },
    },
    children: {},
    related: {
      'ImagePolicy.image.toolkit.fluxcd.io/v1': {
        'bench/app': {
          apiVersion: 'image.toolkit.fluxcd.io/v1',
          kind: 'ImagePolicy',
          metadata: { name: 'app', namespace: 'bench' },
          spec: { imageRepositoryRef: { name: 'app' }, policy: { semver: { range: '*' } } },
          status: { latestRef: { name: 'registry.example/app', tag: tag(entries - 1) } },
        },
      },
    },
    finalizing: false,
  });
}

async function syncUrl(cluster: LocalCluster): Promise<string> {
  const path = '/apis/metacontroller.k8s.io/v1alpha1/compositecontrollers/rollouts';
  return (await send(cluster.accessOf('admin'), 'GET', path)).object.spec.hooks.sync.webhook.url;
}

async function measure(cluster: LocalCluster, seconds: number): Promise<Result> {
  const url = await syncUrl(cluster);
  const sizes: Throughput[] = [];
  for (const entries of SIZES) {
    const body = requestOf(entries);
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${cluster.hooksToken}` };
    const run = await autocannon({ url, method: 'POST', headers, body, connections: CONNECTIONS, duration: seconds });
    sizes.push({
      entries,
      requestKB: Math.ceil(body.length / 1000),
      answersPerSecond: run['2xx'] / run.duration,
      parsedPerSecond: parsingsPerSecond(body, seconds),
      p50Milliseconds: run.latency.p50,
      p99Milliseconds: run.latency.p99,
      failures: run.non2xx + run.errors,
    });
  }
  const hooks = cluster.hooks();
  return { sizes, peakMemoryMiB: { hooks: hooks && peakMemoryMiB(hooks.pid) } };
}

function parsingsPerSecond(text: string, seconds: number): number {
  const start = performance.now();
  const elapsed = () => (performance.now() - start) / 1000;
  let count = 0;
  for (; elapsed() < seconds; count++) JSON.parse(text);
  return count / elapsed();
}

function budget({ sizes }: Result): BudgetLine[] {
  const { requestKB, answersPerSecond, parsedPerSecond } = sizes.at(-1)!;
  const name = `a call of ${requestKB} kB, in parsings of its JSON`;
  return [{ name, value: parsedPerSecond / answersPerSecond, limit: PARSINGS }];
}

function asText({ sizes, peakMemoryMiB: memory }: Result): string {
  const lines = sizes.map(
    ({ entries, requestKB, answersPerSecond, parsedPerSecond, p50Milliseconds, p99Milliseconds, failures }) =>
      `  ${String(entries).padStart(5)} entries, ${String(requestKB).padStart(5)} kB: ${answersPerSecond.toFixed(0)} per second (its JSON parsed: ${parsedPerSecond.toFixed(0)}), ` +
      `p50 ${p50Milliseconds} ms, p99 ${p99Milliseconds} ms, ${failures} failures`,
  );
  return `${['Rollout syncs', ...lines, ...memoryLines(memory)].join('\n')}\n`;
}

await runBench({
  help: HELP,
  counts: { seconds: 5 },
  measure: (cluster, { seconds }) => measure(cluster, seconds),
  asText,
  budget,
});
