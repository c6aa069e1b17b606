/** The ConfigMap of `spec.releaseConfigMap`, for Flux's `substituteFrom`. */
import type { Rollout } from '../../api/types.ts';
import type { Plan } from './observed.ts';

/** From the history as stored, not from one about to be: a refused status must not be ahead of itself. */
export function releaseConfigMap({ metadata, spec, status }: Rollout): Plan['configMap'] {
  const version = status?.history?.[0]?.version;
  if (!spec?.releaseConfigMap?.name || !version) return undefined;
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: spec.releaseConfigMap.name, namespace: metadata.namespace ?? '' },
    data: {
      tag: version.tag,
      version: version.version ?? '',
      revision: version.revision ?? '',
      digest: version.digest ?? '',
    },
  };
}
