/** Makes the children of a parent (or the attachments of a decorator) what the hook answered. */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../../api/kubernetes.ts';
import { groupOf } from '../../../core/kube/names.ts';
import { errorText } from '../../../core/text/errorText.ts';
import type { Resource } from '../../client/resources.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../cluster/apiClient.ts';
import type { Engine } from '../cluster/engine.ts';
import type { ChildRule, UpdateMethod } from '../hooks/controllerSpec.ts';
import { addGroup, addObject, controllerReference, describe, type ObjectGroups } from '../json/objects.ts';
import { applyUpdate, withLastApplied } from './apply.ts';

/** By `Kind.group`, without the version. */
export type UpdateMethods = ReadonlyMap<string, UpdateMethod>;

export function updateMethods(rules: readonly ChildRule[], resources: readonly Resource[]): UpdateMethods {
  const methods = new Map<string, UpdateMethod>();
  for (const [index, { updateStrategy }] of rules.entries()) {
    const { kind, apiVersion } = resources[index]!;
    methods.set(`${kind}.${groupOf(apiVersion)}`, updateStrategy?.method ?? 'OnDelete');
  }
  return methods;
}

/** A hook may leave out the namespace of what it answers: it is the parent's then. */
export function desiredGroups(objects: readonly KubeObject[], parent: KubeObject): ObjectGroups {
  const groups: ObjectGroups = new Map();
  for (const object of objects) {
    const namespace = object.metadata.namespace || parent.metadata.namespace;
    addObject(groups, namespace ? { ...object, metadata: { ...object.metadata, namespace } } : object);
  }
  return groups;
}

/**
 * Tries every object even when some fail; throws an AggregateError of what failed. Without a finalize hook, which none
 * of our controllers has, the children of a parent that is being deleted are left to the garbage collector.
 */
export async function manageChildren(
  engine: Engine,
  methods: UpdateMethods,
  parent: KubeObject,
  observed: ObjectGroups,
  desired: ObjectGroups,
): Promise<void> {
  if (parent.metadata.deletionTimestamp !== undefined) return;
  const errors: unknown[] = [];
  const attempt = (action: Promise<void>) => action.catch((error: unknown) => void errors.push(error));
  for (const [kind, objects] of observed) {
    for (const [key, object] of objects) {
      const wanted = desired.get(kind)?.has(key) || object.metadata.deletionTimestamp !== undefined;
      if (!wanted) await attempt(remove(engine, object));
    }
  }
  for (const [kind, objects] of desired) {
    for (const [key, object] of objects) {
      const existing = observed.get(kind)?.get(key);
      await attempt(existing ? update(engine, methods, existing, object) : create(engine, parent, object));
    }
  }
  if (errors.length > 0) {
    const messages = errors.map(errorText);
    throw new AggregateError(errors, `children of ${describe(parent)}: ${messages.join('; ')}`);
  }
}

async function remove({ client }: Engine, object: KubeObject): Promise<void> {
  const resource = await client.resource(object.apiVersion, object);
  try {
    await client.remove(resource, object);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

async function create({ client, log }: Engine, parent: KubeObject, desired: KubeObject): Promise<void> {
  const resource = await client.resource(desired.apiVersion, desired);
  const object = withLastApplied(desired, desired);
  const owner = controllerReference(parent);
  const owners = object.metadata.ownerReferences ?? [];
  if (!owners.some(({ uid }) => uid === owner.uid)) object.metadata.ownerReferences = [...owners, owner];
  try {
    await client.create(resource, object);
  } catch (error) {
    // Somebody else's object of that name stays as it is; the next event is soon enough to look again.
    if (!isAlreadyExists(error)) throw error;
    log.info('child exists already and is not ours', { parent: describe(parent), child: describe(desired) });
  }
}

async function update(
  { client }: Engine,
  methods: UpdateMethods,
  observed: KubeObject,
  desired: KubeObject,
): Promise<void> {
  const object = applyUpdate(observed, desired);
  if (isDeepStrictEqual(object, observed) || observed.metadata.deletionTimestamp !== undefined) return;
  if (methods.get(`${desired.kind}.${groupOf(desired.apiVersion)}`) !== 'InPlace') return;
  const resource = await client.resource(desired.apiVersion, desired);
  try {
    await client.update(resource, object);
  } catch (error) {
    // Changed or deleted meanwhile: that brings the next sync.
    if (!isConflict(error) && !isNotFound(error)) throw error;
  }
}

/** Every kind that the controller declares is in a request, also when there is nothing of it. */
export function emptyGroups(resources: readonly Resource[]): ObjectGroups {
  const groups: ObjectGroups = new Map();
  for (const { apiVersion, kind } of resources) addGroup(groups, apiVersion, kind);
  return groups;
}
