/** How the objects of an inventory are read: as whom, and with few requests, one list instead of many gets. */
import type { UserInfo } from '../../api/admission.ts';
import type { Kustomization } from '../../api/flux.ts';
import type { InventoryResource } from './inventory.ts';

/** From this many objects of a kind in a namespace, a list costs less than a get for each. */
const LIST_FROM = 8;

export interface Read {
  apiVersion: string;
  kind: string;
  /** Empty for cluster-scoped kinds. */
  namespace: string;
  names: string[];
  /**
   * `metadata`: only the deletion of such an object means anything, and its content may be large or secret.
   * `nothing`: not even that is worth the right to read it.
   */
  how: 'get' | 'list' | 'metadata' | 'nothing';
}

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
  return names.length >= LIST_FROM ? 'list' : 'get';
}

/**
 * As whom Flux applies a Kustomization: no more of its inventory is read than that account may read. undefined: as the
 * controller itself, which Flux's own installation makes a cluster admin.
 */
export function applyingAccount({ metadata, spec }: Kustomization, fallback: string | undefined): UserInfo | undefined {
  const name = (spec as { serviceAccountName?: string } | undefined)?.serviceAccountName || fallback;
  const { namespace = '' } = metadata;
  if (!name) return undefined;
  return {
    username: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  };
}
