/** The reads of an inventory's objects: the account for them, and one list instead of many gets. */
import type { UserInfo } from '../../api/admission.ts';
import { KUSTOMIZATION_NAME_LABEL, KUSTOMIZATION_NAMESPACE_LABEL } from '../../api/annotations.ts';
import type { Kustomization } from '../../api/flux.ts';
import type { AnyObject } from '../../api/kubernetes.ts';
import { stringAt } from '../kstatus/fields.ts';
import type { InventoryResource } from './objects/inventory.ts';

/** The number of objects of a kind in a namespace from which one list costs less than a get for each. */
export const LIST_FROM_OBJECTS = 8;

/** The read of the objects of one kind in one namespace. */
export interface Read {
  apiVersion: string;
  kind: string;
  /** Empty for cluster-scoped kinds. */
  namespace: string;
  names: string[];
  /**
   * `metadata`: only the existence of such an object matters, and its content may be large or secret.
   * `nothing`: the object is not read, because its existence is not worth the right to read it.
   */
  how: 'get' | 'list' | 'metadata' | 'nothing';
}

/** The reads that an inventory needs, one for each kind and namespace. */
export function planReads(resources: readonly InventoryResource[]): Read[] {
  const groups = new Map<string, Read>();
  for (const { apiVersion, kind, namespace, name } of resources) {
    const key = `${apiVersion} ${kind} ${namespace}`;
    const group = groups.get(key);
    if (group) group.names.push(name);
    else groups.set(key, { apiVersion, kind, namespace, names: [name], how: 'get' });
  }
  return [...groups.values()].map((group) => ({ ...group, how: howToRead(group) }));
}

function howToRead({ apiVersion, kind, names }: Read): Read['how'] {
  if (apiVersion === 'v1' && kind === 'Secret') return 'nothing';
  if (apiVersion === 'v1' && kind === 'ConfigMap') return 'metadata';
  return names.length >= LIST_FROM_OBJECTS ? 'list' : 'get';
}

const MAX_LABEL_VALUE_CHARACTERS = 63;

/**
 * The label selector for the objects that Flux has applied for a Kustomization; undefined if its name is too long for a
 * label. With the selector a list does not have the thousands of other objects in the namespace. An object that Flux
 * left unchanged may lack the labels.
 */
export function appliedSelector({ metadata }: Kustomization): string | undefined {
  const { name = '', namespace = '' } = metadata;
  if (name.length > MAX_LABEL_VALUE_CHARACTERS) return undefined;
  return `${KUSTOMIZATION_NAME_LABEL}=${name},${KUSTOMIZATION_NAMESPACE_LABEL}=${namespace}`;
}

/**
 * The account with which Flux applies a Kustomization or HelmRelease. Objects of the inventory are read only if this
 * account may read them. undefined: the controller's own account, which Flux's installation makes a cluster admin.
 */
export function applyingAccount({ metadata, spec }: AnyObject, fallback: string | undefined): UserInfo | undefined {
  const name = stringAt(spec, ['serviceAccountName']) || fallback;
  const { namespace = '' } = metadata;
  if (!name) return undefined;
  return {
    username: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  };
}
