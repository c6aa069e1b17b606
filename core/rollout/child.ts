/** Further objects that a Rollout owns: whether another object has the name, or the installation cannot write them. */
import type { KubeObject } from '../../api/kubernetes.ts';
import type { Rollout } from '../../api/types.ts';

/** `field`: where the spec of the Rollout names it. */
export interface Child {
  kind: string;
  name: string;
  field: string;
  /** The component below manifests/components without which the installation writes none. */
  component: string;
}

/** Whether another object has the wished-for name: it is left as it is. */
export function isForeign({ metadata }: KubeObject, rollout: Rollout): boolean {
  return !metadata.ownerReferences?.some(({ controller, uid }) => controller && uid === rollout.metadata.uid);
}

export function notInstalledMessage({ kind, name, component }: Child): string {
  return `${kind} '${name}' is not written: the component ${component} is not installed, see docs/install.md`;
}

export function foreignMessage({ kind, name, field }: Child): string {
  return `${kind} '${name}' exists but does not belong to this Rollout: delete it, or set another name in ${field}`;
}

// The ConfigMap of `spec.releaseConfigMap`, for Flux's `substituteFrom`.

type ReleaseConfigMap = KubeObject & { data: Record<string, string> };

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
