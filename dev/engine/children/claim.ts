/**
 * Which children a composite parent has: owned ones with the label of its uid, and orphans with it, which it adopts.
 */
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { Resource } from '../../client/resources.ts';
import { isNotFound } from '../cluster/apiClient.ts';
import type { Engine } from '../cluster/engine.ts';
import type { Informer } from '../cluster/informer.ts';
import { controllerOf, controllerReference, describe } from '../json/objects.ts';

/** The selector that `generateSelector` makes: all children of a parent carry its uid. */
export const UID_LABEL = 'controller-uid';

interface Claimant {
  parent: KubeObject;
  resource: Resource;
}

/** Adopts and releases on the way. Throws an AggregateError when one of these failed. */
export async function claimChildren(engine: Engine, claimant: Claimant, children: Informer): Promise<KubeObject[]> {
  const { parent, resource } = claimant;
  const namespace = resource.namespaced ? parent.metadata.namespace : undefined;
  const beingDeleted = parent.metadata.deletionTimestamp !== undefined;
  const owned = children.store.ownedBy(parent.metadata.uid, namespace);
  const claimed = owned.filter((child) => isLabelledWith(parent, child));
  if (beingDeleted) return claimed;

  const errors: unknown[] = [];
  for (const child of owned.filter((object) => !claimed.includes(object))) {
    await release(engine, children.resource, parent, child).catch((error: unknown) => errors.push(error));
  }
  let mayAdopt: Promise<void> | undefined;
  for (const child of orphansOf(children, namespace, parent)) {
    mayAdopt ??= checkStillAlive(engine, claimant);
    try {
      await mayAdopt;
      await adopt(engine, children.resource, parent, child);
      claimed.push(child);
    } catch (error) {
      if (!isNotFound(error)) errors.push(error);
    }
  }
  if (errors.length > 0)
    throw new AggregateError(errors, `cannot claim ${children.resource.name}: ${errors.join('; ')}`);
  return claimed;
}

function orphansOf(children: Informer, namespace: string | undefined, parent: KubeObject): KubeObject[] {
  const orphans: KubeObject[] = [];
  for (const child of children.store.list(namespace)) {
    const adoptable = !controllerOf(child) && child.metadata.deletionTimestamp === undefined;
    if (adoptable && isLabelledWith(parent, child)) orphans.push(child);
  }
  return orphans;
}

export function isLabelledWith(parent: KubeObject, child: KubeObject): boolean {
  return child.metadata.labels?.[UID_LABEL] === parent.metadata.uid;
}

async function checkStillAlive({ client }: Engine, { parent, resource }: Claimant): Promise<void> {
  const live = await client.read(resource, parent);
  if (live.metadata.uid !== parent.metadata.uid || live.metadata.deletionTimestamp !== undefined) {
    throw new Error(`${describe(parent)} has just been deleted and adopts nothing`);
  }
}

async function adopt({ client }: Engine, resource: Resource, parent: KubeObject, child: KubeObject): Promise<void> {
  const owner = controllerReference(parent);
  await client.updateLive(resource, child, (live) => {
    const others = live.metadata.ownerReferences?.filter(({ uid }) => uid !== owner.uid) ?? [];
    return { ...live, metadata: { ...live.metadata, ownerReferences: [...others, owner] } };
  });
}

async function release({ client }: Engine, resource: Resource, parent: KubeObject, child: KubeObject): Promise<void> {
  try {
    await client.updateLive(resource, child, (live) => {
      const ownerReferences = live.metadata.ownerReferences?.filter(({ uid }) => uid !== parent.metadata.uid);
      return { ...live, metadata: { ...live.metadata, ownerReferences } };
    });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
