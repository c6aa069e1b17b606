/**
 * A fleet for benches: applications, each an ImagePolicy, a Rollout and a Kustomization, spread over the namespaces.
 * With `bakes`, the Rollouts bake on HealthChecks of class kustomization, and a fake Flux applies some ConfigMaps for
 * each Kustomization.
 */
import { createServer } from 'node:http';
import { inParallel } from '../../../live/inParallel.ts';
import { appliedStatus, conditionAt, conditions } from '../../actors/fluxStatus.ts';
import { configMap, imagePolicy, kustomization, ref, rollout } from '../../actors/objects.ts';
import { User } from '../../actors/user.ts';
import { applyObject, pathOf } from '../../client/resources.ts';
import type { AnyObject } from '../../client/send.ts';
import type { LocalCluster } from '../../local/cluster.ts';
import { listenOnLoopback } from '../../local/process/ports.ts';
import { watchObjects } from './objectWatch.ts';

const FLEET = 'fleet';
const SOURCE = { kind: 'GitRepository', name: FLEET } as const;
const REVISION = `main@sha1:${'0'.repeat(40)}`;
const WIDTH = 32;
/** The longest wait: thousands of applications at once take half an hour. */
const PATIENCE_MS = 3_600_000;

interface FleetSize {
  rollouts: number;
  checks?: number;
  /** ConfigMaps of each Kustomization. */
  objects?: number;
}

const nameOf = (i: number) => `app-${String(i).padStart(4, '0')}`;
const range = (from: number, to: number) => Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);

export async function applicationFleet(
  cluster: LocalCluster,
  { namespaces = 1, bakes = false }: { namespaces?: number | undefined; bakes?: boolean },
) {
  const access = cluster.accessOf('admin');
  const admin = new User(access);
  const flux = new User(cluster.accessOf('flux'));
  const registry = bakes ? await startRegistry() : undefined;
  const namespaceOf = (i: number) => (namespaces === 1 ? FLEET : `${FLEET}-${i % namespaces}`);
  const put = (object: AnyObject) => applyObject(access, object, { manager: 'bench', force: true });
  const watch = async (kind: 'kustomization' | 'rollout' | 'healthCheck') => {
    const { apiVersion, kind: name } = ref(kind, undefined, '');
    return watchObjects(access, await pathOf(access, { apiVersion, kind: name, metadata: {} }));
  };
  const [kustomizations, rollouts, checks] = [
    await watch('kustomization'),
    await watch('rollout'),
    await watch('healthCheck'),
  ];
  let size = { rollouts: 0, checks: 0, objects: 0 };
  let releases = 0;
  for (let i = 0; i < namespaces; i++) await createNamespace(namespaceOf(i));

  /** Creates a namespace with a Kustomization that applies the others: the only one that hooks ask to apply again. */
  async function createNamespace(namespace: string): Promise<void> {
    await put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    await put(kustomization(namespace, FLEET, { spec: { sourceRef: SOURCE } }));
    if (!registry) return;
    await createSource(namespace);
    await put({
      apiVersion: 'image.toolkit.fluxcd.io/v1',
      kind: 'ImageRepository',
      metadata: { name: FLEET, namespace },
      spec: { image: registry.image, interval: '10m', insecure: true },
    });
  }

  /** Creates a GitRepository with an artifact, suspended, so that a running source-controller ignores it. */
  async function createSource(namespace: string): Promise<void> {
    const { apiVersion } = ref('ociRepository', undefined, '');
    const source = { apiVersion, kind: SOURCE.kind, metadata: { name: SOURCE.name, namespace } };
    await admin.create({ ...source, spec: { interval: '1h', url: 'https://git.example/fleet', suspend: true } });
    const artifact = { url: 'http://x', path: 'fleet/app.tar.gz', lastUpdateTime: '2026-01-02T12:00:00Z' };
    await flux.patchStatus(source, {
      observedGeneration: 1,
      artifact: { ...artifact, revision: REVISION, digest: `sha256:${'0'.repeat(64)}` },
      conditions: [conditionAt(Date, 'Ready', 1, 'True', 'Succeeded', 'stored artifact')],
    });
  }

  async function createApp(i: number): Promise<void> {
    const [namespace, app] = [namespaceOf(i), nameOf(i)];
    const labels = { 'kustomize.toolkit.fluxcd.io/name': app, 'kustomize.toolkit.fluxcd.io/namespace': namespace };
    await put(imagePolicy(namespace, app, { imageRepositoryRef: { name: bakes ? FLEET : app } }));
    for (const name of configMapsOf(i)) {
      const object = configMap(namespace, name, { of: app });
      await put({ ...object, metadata: { ...object.metadata, labels } });
    }
    await put(kustomization(namespace, app, { variables: { APP_VERSION: app }, spec: { sourceRef: SOURCE } }));
    const spec = { ...(bakes && { healthCheckSelector: { matchLabels: { app } } }) };
    await put(rollout(namespace, app, { spec }));
  }

  const configMapsOf = (i: number) => range(0, size.objects).map((n) => `${nameOf(i)}-${n}`);

  async function createCheck(i: number): Promise<void> {
    const of = i % size.rollouts;
    const check = ref('healthCheck', namespaceOf(of), `check-${String(i).padStart(4, '0')}`);
    const annotations = { 'healthcheck.kuberik.com/kustomization': nameOf(of) };
    const metadata = { ...check.metadata, labels: { app: nameOf(of) }, annotations };
    await put({ ...check, metadata, spec: { class: 'kustomization' } } as AnyObject);
  }

  /**
   * Writes a status as kustomize-controller does when nothing has changed, in four writes: fetching, building, drift
   * detection, ready.
   */
  async function reconcile(i: number): Promise<void> {
    const about = ref('kustomization', namespaceOf(i), nameOf(i));
    let object = await flux.get(about);
    const { generation } = object.metadata;
    for (const what of ['Fetching manifests', 'Building manifests', 'Detecting drift']) {
      const message = `${what} for revision ${REVISION} with a timeout of 10m0s`;
      const progress = [
        conditionAt(Date, 'Reconciling', generation, 'True', 'Progressing', message),
        conditionAt(Date, 'Ready', generation, 'Unknown', 'Progressing', 'Reconciliation in progress'),
      ];
      object = (await flux.patchStatus(about, { conditions: conditions(object, progress) })).object;
    }
    const entries = configMapsOf(i).map((name) => ({ id: `${namespaceOf(i)}_${name}__ConfigMap`, v: 'v1' }));
    await flux.patchStatus(about, { ...appliedStatus(Date, object, REVISION), inventory: { entries } });
  }

  /** Publishes the current tag, and waits until `count` applications have it. */
  async function deploy(apps: readonly number[], count: number): Promise<void> {
    const tag = `1.${releases}.0`;
    await inParallel(
      apps,
      (i) => {
        const latestRef = { name: registry?.image ?? `registry.example/${nameOf(i)}`, tag };
        return admin.patchStatus(ref('imagePolicy', namespaceOf(i), nameOf(i)), { latestRef });
      },
      WIDTH,
    );
    const carries = ({ spec }: AnyObject) => spec.postBuild?.substitute?.APP_VERSION === tag;
    await kustomizations.until(count, carries, PATIENCE_MS);
    if (!bakes) return;
    await inParallel(apps, reconcile, WIDTH);
    const hasBaked = ({ status }: AnyObject) => {
      const head = status?.history?.[0];
      return head?.version.tag === tag && head.bakeStatus === 'Succeeded';
    };
    await rollouts.until(count, hasBaked, PATIENCE_MS);
    await checks.until(size.checks, ({ status }) => status?.status === 'Healthy', PATIENCE_MS);
  }

  return {
    /** Grows the fleet, and deploys the current version to the new applications. */
    async growTo({ rollouts: count, checks: wanted = 0, objects = 0 }: FleetSize) {
      const before = size;
      size = { rollouts: count, checks: wanted, objects };
      const apps = range(before.rollouts, count);
      await inParallel(apps, createApp, WIDTH);
      await inParallel(range(before.checks, wanted), createCheck, WIDTH);
      await deploy(apps, count);
    },
    /**
     * Releases the next version to some applications, or to all. Resolves when each Kustomization has it and each bake
     * has succeeded.
     */
    release: (apps: readonly number[] = range(0, size.rollouts)) => {
      releases++;
      return deploy(apps, apps.length);
    },
    reconcile,
    close: () => {
      for (const each of [kustomizations, rollouts, checks, registry]) each?.close();
    },
  };
}

const MANIFEST = JSON.stringify({
  schemaVersion: 2,
  mediaType: 'application/vnd.oci.image.manifest.v1+json',
  annotations: { 'org.opencontainers.image.revision': 'main' },
});

/** A registry on loopback in which every tag of every repository is one release, so that its metadata is read once. */
async function startRegistry(): Promise<{ image: string; close(): void }> {
  const { host, close } = await listenOnLoopback(createServer((_, response) => response.end(MANIFEST)));
  return { image: `${host}/app`, close };
}
