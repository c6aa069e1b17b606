/** Many applications to release, for the benches of releases. */

import { inParallel } from '../../../hooks/inParallel.ts';
import type { Access } from '../../client/kubeconfig.ts';
import { applyObject } from '../../client/resources.ts';
import { type AnyObject, send } from '../../client/send.ts';
import { type Arrivals, watchArrivals } from './arrivals.ts';

const NAMESPACE = 'bench';
const APPLIER = 'fleet';
const WIDTH = 32;
const PATIENCE_MS = 600_000;

const name = (i: number) => `app-${String(i).padStart(4, '0')}`;

/** Each with an ImagePolicy and a Kustomization of its own. */
export async function populate(admin: Access, indexes: number[]): Promise<void> {
  const put = (object: AnyObject) => applyObject(admin, object, { manager: 'bench', force: true });
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

/** What every cluster has: a Kustomization that applies the others. It alone may be asked to apply them again. */
export async function populateApplier(admin: Access): Promise<void> {
  const put = (object: AnyObject) => applyObject(admin, object, { manager: 'bench', force: true });
  await put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
  await put({
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    kind: 'Kustomization',
    metadata: { name: APPLIER, namespace: NAMESPACE },
    spec: { interval: '10m', path: './', prune: true, sourceRef: { kind: 'GitRepository', name: 'bench' } },
  });
}

/** Publishes the tag for those, and waits until each Kustomization has it: seconds. */
export async function release(
  admin: Access,
  kustomizations: Arrivals,
  indexes: number[],
  tag: string,
): Promise<number> {
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

export function watchKustomizations(admin: Access): Arrivals {
  return watchArrivals(admin, `/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/${NAMESPACE}/kustomizations`);
}
