/** The ConfigMap of `spec.releaseConfigMap`, for Flux's `substituteFrom`. */
import type { KubeObject } from '../../api/kubernetes.ts';
import type { Rollout } from '../../api/types.ts';
import type { Child } from './child.ts';

export type ReleaseConfigMap = KubeObject & { data: Record<string, string> };

/** From the history as stored, not as about to be stored: that status may be refused. */
export function releaseConfigMap({ metadata, spec, status }: Rollout): ReleaseConfigMap | undefined {
  const version = status?.history?.[0]?.version;
  const name = spec?.releaseConfigMap?.name;
  if (!name || !version) return undefined;
  const { tag, version: semantic = '', revision = '', digest = '' } = version;
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: metadata.namespace ?? '' },
    data: { tag, version: semantic, revision, digest },
  };
}

export function configMapChild({ spec }: Rollout): Child {
  const name = spec?.releaseConfigMap?.name ?? '';
  return { kind: 'ConfigMap', name, field: 'spec.releaseConfigMap', component: 'release-config-map' };
}
