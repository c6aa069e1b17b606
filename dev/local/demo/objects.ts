/** The manifests of the demo's team. */
import * as build from '../../actors/objects.ts';
import type { AnyObject } from '../../client/send.ts';

/** Namespace of the demo's application. */
export const HOME = 'apps';
/** Namespace of the other applications on the page. */
export const NEIGHBOURS = 'shop';
/** Name of every object but the RolloutGate. */
export const APP = 'my-app';

export const namespace: AnyObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: HOME } };
export const imagePolicy = build.imagePolicy(HOME, APP, { policy: { semver: { range: '>=1.0.0' } } });
export const rollout = build.rollout(HOME, APP);
export const rolloutGate = (passing: boolean) => build.rolloutGate(HOME, 'qa', APP, { passing });

/** The Kustomization in Git, with an old version that is never updated there. */
export const kustomization = build.kustomization(HOME, APP, {
  variables: { APP_VERSION: APP },
  spec: {
    path: './deploy',
    targetNamespace: HOME,
    postBuild: { substitute: { APP_VERSION: '0.9.0', REGION: 'eu-1' } },
  },
});

/** The OCIRepository; `source` locates its artifacts. */
export const ociRepository = (source: Record<string, unknown>) =>
  build.ociRepository(HOME, APP, { rollout: APP, spec: { ref: { tag: '0.9.0' }, ...source } });
