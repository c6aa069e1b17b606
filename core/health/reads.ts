/** How the objects of an inventory are read with few requests: one list instead of many gets. */
import type { InventoryResource } from './inventory.ts';

/** From so many objects of a kind in a namespace on, a list costs less than a request for each. */
const LIST_FROM = 8;

export interface Read {
  apiVersion: string;
  kind: string;
  /** Empty for cluster-scoped kinds. */
  namespace: string;
  names: string[];
  /**
   * `metadata`: nothing but the deletion of such an object says anything, and its content may be large or secret.
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
