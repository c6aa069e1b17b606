/** Further objects that a Rollout owns: whether another object has the name, or the installation cannot write them. */
import { apiVersionOf, KINDS } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { ResourceRef } from '../../api/ports.ts';
import type { Rollout } from '../../api/types.ts';
import { writeBackName } from '../policy/derivedPolicy.ts';

/** `field`: where the spec of the Rollout names it. */
export interface Child extends Pick<ResourceRef, 'apiVersion' | 'resource'> {
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

/** undefined if the Rollout has none. */
export function configMapChild({ spec }: Rollout): Child | undefined {
  const name = spec?.releaseConfigMap?.name;
  if (!name) return undefined;
  const ref = { apiVersion: 'v1', resource: 'configmaps', kind: 'ConfigMap' };
  return { ...ref, name, field: 'spec.releaseConfigMap', component: 'release-config-map' };
}

/** The ImagePolicy of `spec.writeBack`; undefined if the Rollout has none. */
export function policyChild(rollout: Rollout): Child | undefined {
  const name = writeBackName(rollout);
  if (name === undefined) return undefined;
  const { kind, resource } = KINDS.ImagePolicy;
  const ref = { apiVersion: apiVersionOf(KINDS.ImagePolicy), resource, kind };
  return { ...ref, name, field: 'spec.writeBack.imagePolicy', component: 'write-back' };
}
