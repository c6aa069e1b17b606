/** What the demo puts into the cluster: the manifests of one small team. */
import type { AnyObject } from '../../client/send.ts';

/** Where the story is told. */
export const HOME = 'apps';
/** Where the others are that the page shows beside it. */
export const NEIGHBOURS = 'shop';

const meta = (name: string, annotations?: Record<string, string>) => ({
  name,
  namespace: HOME,
  ...(annotations ? { annotations } : {}),
});

export const namespace: AnyObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: HOME } };

export const imagePolicy: AnyObject = {
  apiVersion: 'image.toolkit.fluxcd.io/v1',
  kind: 'ImagePolicy',
  metadata: meta('my-app'),
  spec: { imageRepositoryRef: { name: 'my-app' }, policy: { semver: { range: '>=1.0.0' } } },
};

export const rollout: AnyObject = {
  apiVersion: 'kuberik.com/v1alpha1',
  kind: 'Rollout',
  metadata: meta('my-app'),
  spec: { releasesImagePolicy: { name: 'my-app' } },
};

export const rolloutGate = (passing: boolean): AnyObject => ({
  apiVersion: 'kuberik.com/v1alpha1',
  kind: 'RolloutGate',
  metadata: meta('qa'),
  spec: { rolloutRef: { name: 'my-app' }, passing },
});

export const gitRepository: AnyObject = {
  apiVersion: 'source.toolkit.fluxcd.io/v1',
  kind: 'GitRepository',
  metadata: meta('my-app'),
  spec: { interval: '10m', url: 'https://git.example/my-app', ref: { branch: 'main' } },
};

/** As it stands in Git, with an old literal that nobody ever updates. */
export const kustomization: AnyObject = {
  apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
  kind: 'Kustomization',
  metadata: meta('my-app', { 'rollout.kuberik.com/substitute.APP_VERSION.from': 'my-app' }),
  spec: {
    interval: '10m',
    path: './deploy',
    prune: true,
    sourceRef: { kind: 'GitRepository', name: 'my-app' },
    postBuild: { substitute: { APP_VERSION: '0.9.0', REGION: 'eu-1' } },
  },
};

export const ociRepository: AnyObject = {
  apiVersion: 'source.toolkit.fluxcd.io/v1',
  kind: 'OCIRepository',
  metadata: meta('my-app', { 'rollout.kuberik.com/rollout': 'my-app' }),
  spec: { interval: '10m', url: 'oci://registry.example/my-app', ref: { tag: '0.9.0' } },
};
