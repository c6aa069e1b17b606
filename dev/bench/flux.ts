/**
 * The time that Rollouts add until a new version runs. The real kustomize-controller applies the version, once through
 * Rollouts, and once after a direct patch of the same Kustomizations, on a control plane without hooks.
 */
import { createHash } from 'node:crypto';
import { inParallel } from '../../live/inParallel.ts';
import { imagePolicy, kustomization, ref, rollout } from '../actors/objects.ts';
import { User } from '../actors/user.ts';
import { applyObject, pathOf } from '../client/resources.ts';
import type { AnyObject } from '../client/send.ts';
import { type LocalCluster, startCluster } from '../local/cluster.ts';
import { startFlux } from '../local/flux/controllers.ts';
import { logToStderr } from '../local/process/log.ts';
import { temporaryDirectory } from '../local/process/temporaryDirectory.ts';
import { archive } from '../local/registry/artifact.ts';
import { watchObjects } from './fleets/objectWatch.ts';
import { createSource, SOURCE, serveAlways } from './fleets/source.ts';
import { auditLog, costFigures, costOf, countHookCalls, quantile } from './measure.ts';
import { untilQuiet } from './requests.ts';
import type { Figure, Scenario } from './scenario.ts';

const WIDTH = 32;
const PATIENCE_MS = 600_000;
/** Limits of the added share of the mean in percent, for up to 100 applications and for more. */
const LIMITS = { few: 10, many: 15 };
/** Number of releases of one application, one after the other. */
const SINGLE_RELEASES = 20;
/** The manifest of a small application. A new version changes the Deployment only. */
const MANIFEST = `apiVersion: v1
kind: ServiceAccount
metadata: { name: "\${NAME}", namespace: "\${NAMESPACE}" }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: "\${NAME}", namespace: "\${NAMESPACE}" }
data: { level: info }
---
apiVersion: v1
kind: Service
metadata: { name: "\${NAME}", namespace: "\${NAMESPACE}" }
spec: { clusterIP: None, selector: { app: "\${NAME}" }, ports: [{ port: 80 }] }
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: { name: "\${NAME}", namespace: "\${NAMESPACE}" }
spec: { maxUnavailable: 1, selector: { matchLabels: { app: "\${NAME}" } } }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: "\${NAME}", namespace: "\${NAMESPACE}" }
spec:
  replicas: 0
  selector: { matchLabels: { app: "\${NAME}" } }
  template:
    metadata: { labels: { app: "\${NAME}" } }
    spec: { serviceAccountName: "\${NAME}", containers: [{ name: app, image: "registry.example/app:\${APP_VERSION}" }] }
`;

export const flux: Scenario = {
  about:
    'a new version for all applications, applied by the real kustomize-controller, against patching their Kustomizations',
  rollouts: [100, 500],
  numbers: { rounds: 3, namespaces: 1 },
  async measure({ cluster, rollouts, numbers: { rounds = 1, namespaces = 1 } }) {
    const artifact = await serveArtifact();
    const { path: dir, remove } = temporaryDirectory('rollout-hooks-bench-direct-');
    const ends: (() => unknown)[] = [artifact.close, remove];
    try {
      const plain = await startCluster({ dir, hooks: false, plain: true, log: logToStderr });
      ends.push(plain.stop);
      const open = async (name: Side['name'], on: LocalCluster) => {
        const side = await openSide(name, on, artifact, namespaces);
        ends.push(side.close);
        return side;
      };
      const sides = [await open('gated', cluster), await open('direct', plain)];
      const figures: Figure[] = [];
      for (const count of rollouts) figures.push(...(await compare(sides, count, rounds)));
      return figures;
    } finally {
      for (const end of ends.toReversed()) await end();
    }
  },
};

/** Measures both sides in turn, so that other load of the machine affects both. */
async function compare(sides: readonly Side[], count: number, rounds: number): Promise<Figure[]> {
  for (const side of sides) await side.growTo(count);
  const seconds = { gated: [] as number[], direct: [] as number[] };
  const alone = { gated: [] as number[], direct: [] as number[] };
  const costs: Figure[] = [];
  for (let round = 1; round <= rounds; round++) {
    for (const { name, cluster, release } of sides) {
      const quiet = () => untilQuiet(auditLog(cluster));
      await quiet();
      const calls = name === 'gated' ? await countHookCalls(new User(cluster.accessOf('admin'))) : undefined;
      let found: number[] = [];
      const cost = await costOf(cluster, async () => (found = await release(count)), quiet);
      logToStderr(`Round ${round} of ${count}, ${name}: mean ${mean(found).toFixed(2)} s`);
      seconds[name].push(...found);
      if (round === rounds) {
        costs.push(...costFigures(`${count} applications, ${name}: a release of the last round`, cost, count));
        if (calls) costs.push(...(await calls(`${count} applications: calls of hooks in a release`, count)));
      }
    }
  }
  for (let i = 0; i < SINGLE_RELEASES; i++)
    for (const { name, release } of sides) alone[name].push(...(await release(1)));
  return [
    ...figuresOf(
      `${count} applications at once`,
      seconds.gated,
      seconds.direct,
      count <= 100 ? LIMITS.few : LIMITS.many,
    ),
    ...figuresOf(`one of ${count} at a time`, alone.gated, alone.direct),
    ...costs,
  ];
}

const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;

/** Figures from the seconds of each application. */
function figuresOf(group: string, ours: readonly number[], theirs: readonly number[], limit?: number): Figure[] {
  const both = (name: string, of: (values: readonly number[]) => number) => [
    { group, name: `${name}, through Rollouts`, value: of(ours), unit: 's' },
    { group, name: `${name}, directly`, value: of(theirs), unit: 's' },
  ];
  return [
    {
      group,
      name: 'gating adds to the mean',
      value: (mean(ours) / mean(theirs) - 1) * 100,
      unit: '%',
      ...(limit && { limit }),
    },
    ...both('mean', mean),
    ...both('p50', (values) => quantile(values, 0.5)),
    ...both('p95', (values) => quantile(values, 0.95)),
    ...both('last', (values) => Math.max(...values)),
  ];
}

interface Side {
  name: 'gated' | 'direct';
  cluster: LocalCluster;
  growTo(count: number): Promise<void>;
  /**
   * Releases the next version to the first `count` applications. Resolves to the seconds until each workload has it.
   */
  release(count: number): Promise<number[]>;
  close(): Promise<void>;
}

async function openSide(
  name: Side['name'],
  cluster: LocalCluster,
  artifact: Artifact,
  namespaces: number,
): Promise<Side> {
  const access = cluster.accessOf('admin');
  const admin = new User(access);
  const put = (object: AnyObject) => applyObject(access, object, { manager: 'bench', force: true });
  const controllers = await startFlux(admin);
  const namespaceOf = (i: number) => `${SOURCE.name}-${i % namespaces}`;
  for (let i = 0; i < namespaces; i++) {
    await put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespaceOf(i) } });
    await createSource(admin, admin, namespaceOf(i), { url: artifact.url, digest: artifact.digest });
  }
  let [size, version, start] = [0, 0, 0];
  const arrived = new Map<string, number>();
  const workloads = watchObjects(
    access,
    await pathOf(access, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: {} }),
    (object) => {
      const app = object.metadata.name!;
      if (hasVersion(object) && !arrived.has(app)) arrived.set(app, (performance.now() - start) / 1000);
    },
  );
  const hasVersion = ({ spec }: AnyObject) =>
    spec.template.spec.containers[0].image === `registry.example/app:${tagOf()}`;

  const tagOf = () => `1.${version}.0`;
  const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
  const nameOf = (i: number) => `app-${i}`;

  async function create(i: number): Promise<void> {
    const [namespace, app] = [namespaceOf(i), nameOf(i)];
    const isGated = name === 'gated';
    const substitute = { NAMESPACE: namespace, NAME: app, APP_VERSION: tagOf() };
    const spec = { interval: '1h', sourceRef: SOURCE, path: './', prune: true, postBuild: { substitute } };
    if (isGated) {
      await put(imagePolicy(namespace, app));
      await publish(i);
      await put(rollout(namespace, app));
    }
    await put(kustomization(namespace, app, { ...(isGated && { variables: { APP_VERSION: app } }), spec }));
  }

  const publish = (i: number) => {
    const latestRef = { name: `registry.example/${nameOf(i)}`, tag: tagOf() };
    return admin.patchStatus(ref('imagePolicy', namespaceOf(i), nameOf(i)), { latestRef });
  };
  const patch = (i: number) => {
    const spec = { postBuild: { substitute: { APP_VERSION: tagOf() } } };
    return admin.mergePatch(ref('kustomization', namespaceOf(i), nameOf(i)), { spec });
  };

  /** Starts the clock, and waits until `count` workloads have the current version. */
  const arrivals = (count: number) => {
    arrived.clear();
    start = performance.now();
    return workloads.until(count, hasVersion, PATIENCE_MS);
  };

  return {
    name,
    cluster,
    async growTo(count) {
      const apps = range(size, count);
      size = count;
      version++;
      const all = arrivals(apps.length);
      await inParallel(apps, create, WIDTH);
      await all;
    },
    async release(count) {
      version++;
      const all = arrivals(count);
      await inParallel(range(0, count), name === 'gated' ? publish : patch, WIDTH);
      await all;
      return [...arrived.values()];
    },
    async close() {
      workloads.close();
      await controllers.stop();
    },
  };
}

interface Artifact {
  url: string;
  digest: string;
  close(): void;
}

/** Serves the manifest as source-controller does. */
async function serveArtifact(): Promise<Artifact> {
  const bytes = await archive({ 'app.yaml': MANIFEST });
  const { host, close } = await serveAlways(bytes);
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  return { url: `http://${host}/app.tar.gz`, digest, close };
}
