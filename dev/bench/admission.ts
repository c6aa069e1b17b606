/** `node dev/bench/admission.ts`: what the webhook adds to a write of a Flux object. */

import { setTimeout } from 'node:timers/promises';
import type { Access } from '../client/kubeconfig.ts';
import { applyObject } from '../client/resources.ts';
import { type AnyObject, send } from '../client/send.ts';
import type { LocalCluster } from '../local/cluster.ts';
import { type OtherWebhook, startOtherWebhook } from '../local/otherWebhook.ts';
import { type BudgetLine, runBench } from './command.ts';
import { quantile } from './measure.ts';

/** Of the p99 of webhooks that allow everything. */
const P99_RATIO = 2.5;

const HELP = `Usage: node dev/bench/admission.ts [--writes N] [--pause MS] [--json] [--metacontroller PATH]

Writes objects in turn: an ImagePolicy that reaches a mutating and a validating webhook which allow everything, and Kustomizations: one that no
Rollout and no Gate concerns, one that a Rollout pins, one that requires an open Gate, one that requires three. Prints the latency of each and
how it compares with the webhooks that decide nothing. Ends with 1 where the slowest hundredth of the pinned ones takes more than ${P99_RATIO}
times theirs.

  --writes N             writes of each (200)
  --pause MS             from one write to the next (120): with less than 100, each also waits for the API server, which brings its cache up to
                         date ten times a second; with 1, the latency within a burst
  --json                 print JSON instead of text
  --metacontroller PATH  drive the hooks with this Metacontroller instead of the engine (default: $METACONTROLLER)
  --help                 this text
`;

const NAMESPACE = 'bench';
const ALLOWED = 'allow-all';
const ALLOWED_LABEL = { 'bench.rollout-hooks/allowed': 'true' };
const KUSTOMIZATIONS = `/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/${NAMESPACE}/kustomizations`;
/** Of a kind that no webhook of ours is about. */
const NEUTRAL = `/apis/image.toolkit.fluxcd.io/v1/namespaces/${NAMESPACE}/imagepolicies/${ALLOWED}`;
const GATES = ['one', 'two', 'three'];
const SUBJECTS: Record<string, Record<string, string>> = {
  unmarked: {},
  pinned: { 'rollout.kuberik.com/substitute.APP_VERSION.from': 'app' },
  'one-gate': { 'gate.fluxcd.io/gates': 'one' },
  'three-gates': { 'gate.fluxcd.io/gates': GATES.join(',') },
};

interface Latency {
  subject: string;
  p50Milliseconds: number;
  p99Milliseconds: number;
  /** Its median and its slowest hundredth, in those of webhooks that allow everything. */
  ratios: { p50: number; p99: number };
}

interface Result {
  writes: number;
  latencies: Latency[];
}

async function populate(admin: Access): Promise<void> {
  const put = (object: AnyObject) => applyObject(admin, object, { manager: 'bench', force: true });
  await put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
  for (const name of GATES) {
    await put({
      apiVersion: 'gating.toolkit.fluxcd.io/v1alpha1',
      kind: 'Gate',
      metadata: { name, namespace: NAMESPACE },
      spec: { default: 'opened', interval: '1h' },
    });
  }
  await put({
    apiVersion: 'kuberik.com/v1alpha1',
    kind: 'Rollout',
    metadata: { name: 'app', namespace: NAMESPACE },
    spec: { releasesImagePolicy: { name: 'app' } },
  });
  await put({
    apiVersion: 'image.toolkit.fluxcd.io/v1',
    kind: 'ImagePolicy',
    metadata: { name: ALLOWED, namespace: NAMESPACE, labels: ALLOWED_LABEL },
    spec: { imageRepositoryRef: { name: 'bench' }, policy: { semver: { range: '*' } } },
  });
  for (const [name, annotations] of Object.entries(SUBJECTS)) {
    await put({
      apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
      kind: 'Kustomization',
      metadata: { name, namespace: NAMESPACE, annotations },
      spec: { interval: '10m', path: './', prune: true, sourceRef: { kind: 'GitRepository', name: 'bench' } },
    });
  }
}

/** The API server takes a moment to learn of a webhook: until it has asked it. */
async function inForce(allowAll: OtherWebhook, admin: Access): Promise<void> {
  for (let round = 0; allowAll.calls() < 2; round++) await write(admin, ALLOWED, round);
}

/** Milliseconds of one write that changes spec. */
async function write(admin: Access, name: string, round: number): Promise<number> {
  const [path, spec] =
    name === ALLOWED
      ? [NEUTRAL, { policy: { semver: { range: `>=${round}` } } }]
      : [`${KUSTOMIZATIONS}/${name}`, { path: `./${round}` }];
  const start = performance.now();
  await send(admin, 'PATCH', path, { body: { spec }, contentType: 'application/merge-patch+json' });
  return performance.now() - start;
}

async function measure(cluster: LocalCluster, writes: number, pause: number): Promise<Result> {
  const admin = cluster.accessOf('admin');
  const allowAll = await startOtherWebhook(admin, ALLOWED, ALLOWED_LABEL, {
    kind: { group: 'image.toolkit.fluxcd.io', resource: 'imagepolicies' },
  });
  await populate(admin);
  await inForce(allowAll, admin);
  const times = new Map([ALLOWED, ...Object.keys(SUBJECTS)].map((name) => [name, [] as number[]]));
  // In turn, so that whatever else the machine does falls on all of them.
  for (let round = 0; round < writes; round++) {
    for (const [name, list] of times) {
      await setTimeout(pause);
      list.push(await write(admin, name, round));
    }
  }
  allowAll.close();
  const ratio = (list: number[], q: number) => quantile(list, q) / quantile(times.get(ALLOWED) ?? [], q);
  const latencies = [...times].map(([subject, list]) => ({
    subject,
    p50Milliseconds: quantile(list, 0.5),
    p99Milliseconds: quantile(list, 0.99),
    ratios: { p50: ratio(list, 0.5), p99: ratio(list, 0.99) },
  }));
  return { writes, latencies };
}

function asText({ writes, latencies }: Result): string {
  const lines = latencies.map(
    ({ subject, p50Milliseconds, p99Milliseconds, ratios }) =>
      `  ${subject.padEnd(12)} p50 ${p50Milliseconds.toFixed(1)} ms, p99 ${p99Milliseconds.toFixed(1)} ms: ${ratios.p50.toFixed(2)} and ${ratios.p99.toFixed(2)} × allow-all`,
  );
  return `${[`${writes} writes of each object`, ...lines].join('\n')}\n`;
}

function budget({ latencies }: Result): BudgetLine[] {
  const value = latencies.find(({ subject }) => subject === 'pinned')?.ratios.p99 ?? Number.NaN;
  return [{ name: 'p99 of a pinned object, in those of allow-all', value, limit: P99_RATIO }];
}

await runBench({
  help: HELP,
  counts: { writes: 200, pause: 120 },
  measure: (cluster, { writes, pause }) => measure(cluster, writes, pause),
  asText,
  budget,
});
