/**
 * A Kustomization's inventory: `status.inventory.entries`, each `{id: <namespace>_<name>_<group>_<kind>, v:
 * <version>}`. RBAC names may contain `:`, which ids write as `__`.
 */

import type { Kustomization } from '../../../api/flux.ts';
import { stringAt } from '../../kstatus/fields.ts';
import { groupOf } from '../../kube/names.ts';
import { shortened } from '../../text/oneLine.ts';

/** An object in a Kustomization's inventory. */
export interface InventoryResource {
  /** `group/version`, or `v1`. */
  apiVersion: string;
  kind: string;
  /** Empty for cluster-scoped kinds. */
  namespace: string;
  name: string;
}

/** A Kustomization's inventory. */
export interface Inventory {
  resources: InventoryResource[];
  /** A sentence for each entry that does not parse, and one if there are too many entries. */
  errors: string[];
}

/** Limit for entries: more than any apply completes in time. The others are reported, and not read. */
export const MAX_RESOURCES = 5000;

/** Limit for an entry's namespace, name, group and kind together. */
const MAX_ID_CHARACTERS = 1024;
const MAX_QUOTED_CHARACTERS = 200;
const ID = /^(?<namespace>[^_]*)_(?<name>.+)_(?<group>[^_]*)_(?<kind>[^_]+)$/;

/** The inventory in `status.inventory.entries`; empty for anything but a list. */
export function parseInventory(entries: unknown): Inventory {
  if (!Array.isArray(entries)) return { resources: [], errors: [] };
  const resources: InventoryResource[] = [];
  const errors: string[] = [];
  for (const entry of entries.slice(0, MAX_RESOURCES)) {
    const resource = parseEntry(entry);
    if ('problem' in resource) errors.push(resource.problem);
    else resources.push(resource);
  }
  if (entries.length > MAX_RESOURCES) {
    errors.push(`the inventory has ${entries.length} entries, only the first ${MAX_RESOURCES} are checked`);
  }
  return { resources, errors };
}

function parseEntry(entry: unknown): InventoryResource | { problem: string } {
  const { id, v } = (entry ?? {}) as { id?: unknown; v?: unknown };
  if (typeof id !== 'string' || typeof v !== 'string' || v === '') {
    const text = shortened(JSON.stringify(entry ?? null), MAX_QUOTED_CHARACTERS);
    return { problem: `inventory entry ${text} has no id or no version` };
  }
  const parts = id.length <= MAX_ID_CHARACTERS ? ID.exec(id)?.groups : undefined;
  if (!parts) {
    const text = shortened(id, MAX_QUOTED_CHARACTERS);
    return { problem: `inventory id '${text}' is not <namespace>_<name>_<group>_<kind>` };
  }
  const { namespace = '', name = '', group = '', kind = '' } = parts;
  return { apiVersion: group ? `${group}/${v}` : v, kind, namespace, name: name.replaceAll('__', ':') };
}

/**
 * The inventory without the objects that Flux evaluates: those for which it waits, of a kind with `healthCheckExprs`.
 * Its Ready condition is their health. Flux ignores the versions in `healthCheckExprs` and `healthChecks`.
 */
export function evaluatedHere({ spec }: Kustomization, { resources, errors }: Inventory): Inventory {
  const { wait, healthChecks, healthCheckExprs } = (spec ?? {}) as Record<string, unknown>;
  const kindKey = (of: unknown) => `${groupOf(stringAt(of, ['apiVersion']) ?? '')} ${stringAt(of, ['kind'])}`;
  const objectKey = (of: unknown) => `${kindKey(of)} ${stringAt(of, ['namespace']) ?? ''}/${stringAt(of, ['name'])}`;
  const keys = (list: unknown, keyOf: (of: unknown) => string) => new Set((Array.isArray(list) ? list : []).map(keyOf));
  const defined = keys(healthCheckExprs, kindKey);
  const waitedFor = keys(healthChecks, objectKey);
  const isEvaluatedByFlux = (resource: InventoryResource) =>
    defined.has(kindKey(resource)) && (wait === true || waitedFor.has(objectKey(resource)));
  return { resources: resources.filter((resource) => !isEvaluatedByFlux(resource)), errors };
}
