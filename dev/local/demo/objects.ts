/** What the demo puts into the cluster: the manifests of one small team. */
import * as build from '../../actors/objects.ts';
import type { AnyObject } from '../../client/send.ts';

/** Where the output is told. */
export const HOME = 'apps';
/** Where the others are that the page shows beside it. */
export const NEIGHBOURS = 'shop';
/** Name of every object but the gate. */
export const APP = 'my-app';

export const namespace: AnyObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: HOME } };
export const imagePolicy = build.imagePolicy(HOME, APP, { policy: { semver: { range: '>=1.0.0' } } });
export const rollout = build.rollout(HOME, APP);
export const rolloutGate = (passing: boolean) => build.rolloutGate(HOME, 'qa', APP, { passing });

/** As it stands in Git, with an old literal that nobody ever updates. */
export const kustomization = build.kustomization(HOME, APP, {
  variables: { APP_VERSION: APP },
  spec: {
    path: './deploy',
    targetNamespace: HOME,
    postBuild: { substitute: { APP_VERSION: '0.9.0', REGION: 'eu-1' } },
  },
});

/** `source`: where its artifacts are. */
export const ociRepository = (source: Record<string, unknown>) =>
  build.ociRepository(HOME, APP, { rollout: APP, spec: { ref: { tag: '0.9.0' }, ...source } });
