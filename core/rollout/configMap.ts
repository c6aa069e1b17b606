/** The ConfigMap of `spec.releaseConfigMap`, for Flux's `substituteFrom`. */
import type { KubeObject } from '../../api/kubernetes.ts';
import type { Rollout } from '../../api/types.ts';

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

/** Whether another ConfigMap has the wished-for name: it is left as it is. */
export function isForeign({ metadata }: KubeObject, rollout: Rollout): boolean {
  return !metadata.ownerReferences?.some(({ controller, uid }) => controller && uid === rollout.metadata.uid);
}

export function notInstalledMessage({ spec }: Rollout): string {
  const name = spec?.releaseConfigMap?.name;
  return `ConfigMap '${name}' is not written: this installation lacks the component release-config-map, see docs/install.md`;
}

export function foreignMessage({ spec }: Rollout): string {
  const name = spec?.releaseConfigMap?.name;
  return `ConfigMap '${name}' was not made for this Rollout and is left as it is: delete it, or give another name in spec.releaseConfigMap`;
}
