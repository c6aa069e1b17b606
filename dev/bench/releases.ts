/** `npm run bench`: how long a new version takes to reach every Kustomization, and what it costs. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Access } from '../client/kubeconfig.ts';
import { applyObject } from '../client/resources.ts';
import { type AnyObject, send } from '../client/send.ts';
import type { LocalCluster } from '../local/cluster.ts';
import { logToStderr } from '../local/process/log.ts';
import { type Arrivals, watchArrivals } from './arrivals.ts';
import { memoryLines, runBench } from './command.ts';
import { cpuSeconds, inParallel, peakMemoryMiB, requestCounts } from './measure.ts';

const HELP = `Usage: npm run bench -- [--rollouts N] [--rounds N] [--json] [--metacontroller PATH]

Releases a new version to N Rollouts at once, each with an ImagePolicy and a Kustomization of its own, and prints the time until the last
Kustomization has it, the API requests per release and the peak memory of each process.

  --rollouts N           how many Rollouts (500)
  --rounds N             how many versions, one after the other; the first deployment is not counted (3)
  --json                 print JSON instead of text
  --metacontroller PATH  drive the hooks with this Metacontroller instead of the engine (default: $METACONTROLLER)
`;

const NAMESPACE = 'bench';
const WIDTH = 32;
const PATIENCE_MS = 300_000;

interface Round {
  seconds: number;
  requestsPerRelease: number;
  /** By process: what a busy machine cannot falsify. */
  cpuSeconds: Record<string, number>;
}

interface Result {
  rollouts: number;
  driver: string;
  rounds: Round[];
  bestSeconds: number;
  peakMemoryMiB: Record<string, number | undefined>;
}

const name = (i: number) => `app-${String(i).padStart(4, '0')}`;

async function populate(admin: Access, indexes: number[]): Promise<void> {
  const put = (object: AnyObject) => applyObject(admin, object, { manager: 'bench', force: true });
  await put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
  await inParallel(indexes, WIDTH, async (i) => {
    const metadata = { name: name(i), namespace: NAMESPACE };
    await put({
      apiVersion: 'image.toolkit.fluxcd.io/v1',
      kind: 'ImagePolicy',
      metadata,
      spec: { imageRepositoryRef: { name: name(i) }, policy: { semver: { range: '*' } } },
    });
    await put({
      apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
      kind: 'Kustomization',
      metadata: { ...metadata, annotations: { 'rollout.kuberik.com/substitute.APP_VERSION.from': name(i) } },
      spec: { interval: '10m', path: './', prune: true, sourceRef: { kind: 'GitRepository', name: 'bench' } },
    });
    await put({
      apiVersion: 'kuberik.com/v1alpha1',
      kind: 'Rollout',
      metadata,
      spec: { releasesImagePolicy: { name: name(i) } },
    });
  });
}

async function release(admin: Access, kustomizations: Arrivals, indexes: number[], tag: string): Promise<number> {
  const start = performance.now();
  await inParallel(indexes, WIDTH, (i) =>
    send(admin, 'PATCH', `/apis/image.toolkit.fluxcd.io/v1/namespaces/${NAMESPACE}/imagepolicies/${name(i)}/status`, {
      body: { status: { latestRef: { name: `registry.example/${name(i)}`, tag } } },
      contentType: 'application/merge-patch+json',
    }),
  );
  await kustomizations.all(
    indexes.length,
    (object) => object.spec.postBuild?.substitute?.APP_VERSION === tag,
    PATIENCE_MS,
  );
  return (performance.now() - start) / 1000;
}

/** Requests until nothing moves any more, so that work after the last arrival counts too. */
async function settled(admin: Access): Promise<number> {
  let before = -1;
  for (;;) {
    const total = [...(await requestCounts(admin)).values()].reduce((a, b) => a + b, 0);
    if (before >= 0 && total - before < 20) return total;
    before = total;
    await wait(1000);
  }
}

async function measure(cluster: LocalCluster, rollouts: number, rounds: number): Promise<Result> {
  const admin = cluster.accessOf('admin');
  const indexes = Array.from({ length: rollouts }, (_, i) => i);
  logToStderr(`Creating ${rollouts} Rollouts, each with an ImagePolicy and a Kustomization`);
  await populate(admin, indexes);
  const kustomizations = watchArrivals(
    admin,
    `/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/${NAMESPACE}/kustomizations`,
  );
  logToStderr(`First deployment: ${(await release(admin, kustomizations, indexes, '1.0.0')).toFixed(1)} s`);
  const results: Round[] = [];
  for (let round = 1; round <= rounds; round++) {
    const before = await settled(admin);
    const cpuBefore = cpuOf(cluster);
    const seconds = await release(admin, kustomizations, indexes, `1.${round}.0`);
    const after = await settled(admin);
    // Publishing is one request per Rollout and not ours.
    const used = Object.entries(cpuOf(cluster)).map(([process, cpu]) => [process, cpu - (cpuBefore[process] ?? 0)]);
    results.push({
      seconds,
      requestsPerRelease: (after - before) / rollouts - 1,
      cpuSeconds: Object.fromEntries(used),
    });
    logToStderr(`Round ${round}: ${seconds.toFixed(1)} s`);
  }
  kustomizations.close();
  const memory = Object.fromEntries(cluster.children().map((child) => [child.name, peakMemoryMiB(child.pid)]));
  return {
    rollouts,
    driver: cluster.driver()?.name ?? '',
    rounds: results,
    bestSeconds: Math.min(...results.map(({ seconds }) => seconds)),
    peakMemoryMiB: memory,
  };
}

function cpuOf(cluster: LocalCluster): Record<string, number> {
  return Object.fromEntries(cluster.children().map((child) => [child.name, cpuSeconds(child.pid) ?? 0]));
}

function asText(result: Result): string {
  const lines = [`${result.rollouts} releases at once, driven by ${result.driver}`];
  result.rounds.forEach(({ seconds, requestsPerRelease }, i) => {
    const rate = (result.rollouts / seconds).toFixed(0);
    lines.push(
      `  round ${i + 1}: ${seconds.toFixed(1)} s (${rate} per second), ${requestsPerRelease.toFixed(1)} requests per release`,
    );
  });
  lines.push('processor time of the last round');
  for (const [process, cpu] of Object.entries(result.rounds.at(-1)?.cpuSeconds ?? {})) {
    lines.push(`  ${process.padEnd(24)} ${cpu.toFixed(1)} s`);
  }
  lines.push(...memoryLines(result.peakMemoryMiB));
  return `${lines.join('\n')}\n`;
}

await runBench({
  help: HELP,
  counts: { rollouts: 500, rounds: 3 },
  measure: (cluster, { rollouts, rounds }) => measure(cluster, rollouts, rounds),
  asText,
});
