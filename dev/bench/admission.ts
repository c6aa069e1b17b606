/** `node dev/bench/admission.ts`: what the webhook adds to a write of a Flux object. */

import type { Access } from '../client/kubeconfig.ts';
import { applyObject } from '../client/resources.ts';
import { type AnyObject, send } from '../client/send.ts';
import type { LocalCluster } from '../local/cluster.ts';
import { runBench } from './command.ts';
import { quantile } from './measure.ts';

const HELP = `Usage: node dev/bench/admission.ts [--writes N] [--json] [--metacontroller PATH]

Writes Kustomizations in turn: one that no Rollout and no Gate concerns, one that a Rollout pins, one that requires an open Gate, one that
requires three. Prints the latency of each and how it compares with the first, which never reaches the webhook.

  --writes N             writes of each (300)
  --json                 print JSON instead of text
  --metacontroller PATH  drive the hooks with this Metacontroller instead of the engine (default: $METACONTROLLER)
`;

const NAMESPACE = 'bench';
const KUSTOMIZATIONS = `/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/${NAMESPACE}/kustomizations`;
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
  /** Its median, in medians of the unmarked object. */
  ratio: number;
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
  for (const [name, annotations] of Object.entries(SUBJECTS)) {
    await put({
      apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
      kind: 'Kustomization',
      metadata: { name, namespace: NAMESPACE, annotations },
      spec: { interval: '10m', path: './', prune: true, sourceRef: { kind: 'GitRepository', name: 'bench' } },
    });
  }
}

/** Milliseconds of one write that changes spec. */
async function write(admin: Access, name: string, round: number): Promise<number> {
  const start = performance.now();
  await send(admin, 'PATCH', `${KUSTOMIZATIONS}/${name}`, {
    body: { spec: { path: `./${round}` } },
    contentType: 'application/merge-patch+json',
  });
  return performance.now() - start;
}

async function measure(cluster: LocalCluster, writes: number): Promise<Result> {
  const admin = cluster.accessOf('admin');
  await populate(admin);
  const times = new Map(Object.keys(SUBJECTS).map((name) => [name, [] as number[]]));
  // In turn, so that whatever else the machine does falls on all of them.
  for (let round = 0; round < writes; round++) {
    for (const [name, list] of times) list.push(await write(admin, name, round));
  }
  const base = quantile(times.get('unmarked') ?? [], 0.5);
  const latencies = [...times].map(([subject, list]) => ({
    subject,
    p50Milliseconds: quantile(list, 0.5),
    p99Milliseconds: quantile(list, 0.99),
    ratio: quantile(list, 0.5) / base,
  }));
  return { writes, latencies };
}

function asText({ writes, latencies }: Result): string {
  const lines = latencies.map(
    ({ subject, p50Milliseconds, p99Milliseconds, ratio }) =>
      `  ${subject.padEnd(12)} p50 ${p50Milliseconds.toFixed(1)} ms, p99 ${p99Milliseconds.toFixed(1)} ms, ${ratio.toFixed(1)} × unmarked`,
  );
  return `${[`${writes} writes of each Kustomization`, ...lines].join('\n')}\n`;
}

await runBench({
  help: HELP,
  counts: { writes: 300 },
  measure: (cluster, { writes }) => measure(cluster, writes),
  asText,
});
