/**
 * A fleet for benches: applications of one namespace, each an ImagePolicy, a Rollout and a Kustomization that has applied some ConfigMaps,
 * and HealthChecks of class kustomization, dealt out to them in turn. Flux is played.
 */

import { inParallel } from '../../../hooks/inParallel.ts';
import { conditionAt, conditions } from '../../actors/fluxStandIn.ts';
import { configMap, imagePolicy, kustomization, ref, rollout } from '../../actors/objects.ts';
import type { Access } from '../../client/kubeconfig.ts';
import { applyObject, type ObjectRef, pathOf } from '../../client/resources.ts';
import { type AnyObject, send } from '../../client/send.ts';
import { watchArrivals } from './arrivals.ts';
import { startBenchRegistry } from './registry.ts';

const NAMESPACE = 'fleet';
const SOURCE = { kind: 'GitRepository', name: 'fleet' };
const REVISION = `main@sha1:${'0'.repeat(40)}`;
const WIDTH = 32;
const PATIENCE_MS = 600_000;

export interface FleetSize {
  rollouts: number;
  checks: number;
  /** ConfigMaps of each Kustomization. */
  objects: number;
}

export interface HealthFleet {
  /** Adds what is missing to have that many, deploys the version of the others into what is new, and waits until it has baked. */
  growTo(size: FleetSize): Promise<void>;
  /** Releases a version to all, which Flux applies. Resolves when each bake has succeeded. */
  release(tag: string): Promise<void>;
  /** kustomize-controller looks at one Kustomization and finds nothing to do, in its four writes: it fetches, builds, looks for drift, is ready. */
  reconcile(index: number): Promise<void>;
  close(): void;
}

const nameOf = (i: number) => `app-${String(i).padStart(4, '0')}`;
const range = (from: number, to: number) => Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);

export async function healthFleet(admin: Access, flux: Access): Promise<HealthFleet> {
  let size: FleetSize = { rollouts: 0, checks: 0, objects: 0 };
  let version = '1.0.0';
  const put = (object: AnyObject) => applyObject(admin, object, { manager: 'bench', force: true });
  await put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
  await createSource();
  const registry = await startBenchRegistry();
  const image = `${registry.host}/app`;
  await put({
    apiVersion: 'image.toolkit.fluxcd.io/v1',
    kind: 'ImageRepository',
    metadata: { name: SOURCE.name, namespace: NAMESPACE },
    spec: { image, interval: '10m', insecure: true },
  });
  const watch = async (kind: 'kustomization' | 'rollout' | 'healthCheck') =>
    watchArrivals(admin, (await pathOf(admin, ref(kind, NAMESPACE, 'x'))).replace(/\/x$/, ''));
  const kustomizations = await watch('kustomization');
  const rollouts = await watch('rollout');
  const checks = await watch('healthCheck');

  async function patchStatus(access: Access, of: ObjectRef, status: object): Promise<AnyObject> {
    const path = `${await pathOf(access, of)}/status`;
    return (await send(access, 'PATCH', path, { body: { status }, contentType: 'application/merge-patch+json' }))
      .object;
  }

  async function createSource(): Promise<void> {
    const metadata = { name: SOURCE.name, namespace: NAMESPACE };
    const source = { apiVersion: 'source.toolkit.fluxcd.io/v1', kind: SOURCE.kind, metadata };
    await put({ ...source, spec: { interval: '10m', url: 'https://git.example/fleet' } });
    const digest = `sha256:${'0'.repeat(64)}`;
    await patchStatus(flux, source, {
      observedGeneration: 1,
      artifact: { revision: REVISION, digest, path: 'x', url: 'http://x', lastUpdateTime: '2026-01-02T12:00:00Z' },
      conditions: [conditionAt(Date, 'Ready', 1, 'True', 'Succeeded', 'stored artifact')],
    });
  }

  async function createApp(i: number): Promise<void> {
    const app = nameOf(i);
    const labels = { 'kustomize.toolkit.fluxcd.io/name': app, 'kustomize.toolkit.fluxcd.io/namespace': NAMESPACE };
    await put(imagePolicy(NAMESPACE, app, { imageRepositoryRef: { name: SOURCE.name } }));
    for (const name of configMapsOf(i)) {
      const object = configMap(NAMESPACE, name, { of: app });
      await put({ ...object, metadata: { ...object.metadata, labels } });
    }
    await put(kustomization(NAMESPACE, app, { variables: { APP_VERSION: app }, spec: { sourceRef: SOURCE } }));
    await put(rollout(NAMESPACE, app, { spec: { healthCheckSelector: { matchLabels: { app } } } }));
  }

  const configMapsOf = (i: number) => range(0, size.objects).map((n) => `${nameOf(i)}-${n}`);

  async function createCheck(i: number): Promise<void> {
    const app = nameOf(i % size.rollouts);
    const check = ref('healthCheck', NAMESPACE, `check-${String(i).padStart(4, '0')}`);
    const annotations = { 'healthcheck.kuberik.com/kustomization': app };
    await put({
      ...check,
      metadata: { ...check.metadata, labels: { app }, annotations },
      spec: { class: 'kustomization' },
    } as AnyObject);
  }

  async function reconcile(i: number): Promise<void> {
    let { object } = await send(flux, 'GET', await pathOf(flux, ref('kustomization', NAMESPACE, nameOf(i))));
    const { generation } = object.metadata;
    for (const what of ['Fetching manifests', 'Building manifests', 'Detecting drift']) {
      const message = `${what} for revision ${REVISION} with a timeout of 10m0s`;
      object = await patchStatus(flux, object, {
        conditions: conditions(object, [
          conditionAt(Date, 'Reconciling', generation, 'True', 'Progressing', message),
          conditionAt(Date, 'Ready', generation, 'Unknown', 'Progressing', 'Reconciliation in progress'),
        ]),
      });
    }
    const ready = conditionAt(
      Date,
      'Ready',
      generation,
      'True',
      'ReconciliationSucceeded',
      `Applied revision: ${REVISION}`,
    );
    await patchStatus(flux, object, {
      observedGeneration: generation,
      lastAppliedRevision: REVISION,
      lastAttemptedRevision: REVISION,
      inventory: { entries: configMapsOf(i).map((name) => ({ id: `${NAMESPACE}_${name}__ConfigMap`, v: 'v1' })) },
      conditions: conditions(object, [ready]).filter(({ type }) => type !== 'Reconciling'),
    });
  }

  async function deploy(apps: readonly number[], tag: string): Promise<void> {
    await inParallel(apps, WIDTH, (i) =>
      patchStatus(admin, ref('imagePolicy', NAMESPACE, nameOf(i)), { latestRef: { name: image, tag } }),
    );
    const carries = ({ spec }: AnyObject) => spec.postBuild?.substitute?.APP_VERSION === tag;
    await kustomizations.all(size.rollouts, carries, PATIENCE_MS);
    await inParallel(apps, WIDTH, reconcile);
    const hasBaked = ({ status }: AnyObject) => {
      const head = status?.history?.[0];
      return head?.version.tag === tag && head.bakeStatus === 'Succeeded';
    };
    await rollouts.all(size.rollouts, hasBaked, PATIENCE_MS);
    await checks.all(size.checks, ({ status }) => status?.status === 'Healthy', PATIENCE_MS);
  }

  return {
    async growTo(to) {
      const before = size;
      size = to;
      const apps = range(before.rollouts, to.rollouts);
      await inParallel(apps, WIDTH, createApp);
      await inParallel(range(before.checks, to.checks), WIDTH, createCheck);
      await deploy(apps, version);
    },
    release: (tag) => {
      version = tag;
      return deploy(range(0, size.rollouts), tag);
    },
    reconcile,
    close: () => {
      for (const arrivals of [kustomizations, rollouts, checks, registry]) arrivals.close();
    },
  };
}
