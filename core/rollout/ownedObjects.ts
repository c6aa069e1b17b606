/** The ConfigMap and the ImagePolicy that a Rollout owns, and the messages if one of them cannot be written. */
import { apiVersionOf, KINDS } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { ResourceRef } from '../../api/ports.ts';
import type { Rollout } from '../../api/types.ts';
import { writeBackName } from '../policy/derivedPolicy.ts';

export interface Child extends Pick<ResourceRef, 'apiVersion' | 'resource'> {
  kind: string;
  name: string;
  /** The field of the Rollout's spec that names the child. */
  field: string;
  /** The component of manifests/components that lets the installation write such children. */
  component: string;
}

export function notInstalledMessage({ kind, name, component }: Child): string {
  return `${kind} '${name}' is not written: the component ${component} is not installed`;
}

export function foreignMessage({ kind, name, field }: Child): string {
  return `${kind} '${name}' exists but does not belong to this Rollout: delete it, or set another name in ${field}`;
}

type ReleaseConfigMap = KubeObject & { data: Record<string, string> };

/**
 * The ConfigMap of `spec.releaseConfigMap`, for Flux's `substituteFrom`.
 * Its data follows the stored history: the status that is about to be stored may be rejected.
 */
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

/** The ConfigMap of `spec.releaseConfigMap`; undefined if the Rollout has none. */
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
