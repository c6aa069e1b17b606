/**
 * kustomize-controller's sync of a Git repository (docs/facts.md, F1 to F3): a dry-run apply of every object, an apply
 * of those that differ, and a prune of those that were removed. One refused object ends the sync. The result is in the
 * Kustomization's status, if that exists.
 */
import { isDeepStrictEqual } from 'node:util';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { ObjectRef } from '../client/resources.ts';
import { type AnyObject, ApiError } from '../client/send.ts';
import { beginSync, endSync, notReady, type Ready } from './fluxStatus.ts';
import type { User } from './user.ts';

export const KUSTOMIZE_CONTROLLER = 'kustomize-controller';

interface SyncResult {
  /** Applied objects, as `Kind name`, in order. */
  configured: string[];
  unchanged: string[];
  pruned: string[];
  warnings: string[];
  failed?: ApiError;
  /** Errors of refused prunes, which don't end the sync. */
  pruneFailed: ApiError[];
}

/**
 * Syncs of one Kustomization, which prune what an earlier sync applied. `fails` is a reason to fail before the first
 * apply.
 */
export function gitSync(flux: User, owner: NamespacedName) {
  const apply = applier(flux, owner);
  let inventory: readonly AnyObject[] = [];

  return async (manifests: AnyObject[], { fails }: { fails?: string } = {}): Promise<SyncResult> => {
    const begun = await beginSync(flux, owner);
    let result = emptyResult();
    if (!fails && !begun?.spec.suspend) ({ result, inventory } = await apply(manifests));
    if (begun)
      await endSync(
        flux,
        begun,
        fails ? notReady(fails, `attempt of ${new Date(flux.now()).toISOString()}`) : readyAfter(result),
        inventory,
      );
    return result;
  };
}

/**
 * Applies manifests and prunes objects of earlier manifests. Resolves to the result, and `inventory`: the objects
 * applied so far.
 */
function applier(flux: User, owner: NamespacedName) {
  let inventory: AnyObject[] = [];

  return async (manifests: readonly AnyObject[]): Promise<{ result: SyncResult; inventory: readonly AnyObject[] }> => {
    const result = emptyResult();
    const wanted = manifests.map((manifest) => ownedBy(owner, manifest));
    try {
      const differing: AnyObject[] = [];
      for (const object of wanted)
        (await differs(flux, object)) ? differing.push(object) : result.unchanged.push(nameOf(object));
      for (const object of differing) {
        await claimKubectlFields(flux, object);
        const { warnings } = await flux.apply(object, { manager: KUSTOMIZE_CONTROLLER, force: true });
        result.warnings.push(...warnings);
        result.configured.push(nameOf(object));
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { result: { ...result, failed: error }, inventory };
    }
    const stays = new Set(wanted.map(nameOf));
    const left = inventory.filter((object) => !stays.has(nameOf(object)));
    for (const object of left) await prune(flux, object, result);
    // A refused prune is tried again.
    inventory = [...wanted, ...left.filter((object) => !result.pruned.includes(nameOf(object)))];
    return { result, inventory };
  };
}

const emptyResult = (): SyncResult => ({ configured: [], unchanged: [], pruned: [], warnings: [], pruneFailed: [] });

function readyAfter({ failed, pruneFailed }: SyncResult): Ready {
  if (failed) return notReady('ReconciliationFailed', failed.message);
  if (pruneFailed.length > 0) return notReady('PruneFailed', pruneFailed.map(({ message }) => message).join('\n'));
  return { status: 'True', reason: 'ReconciliationSucceeded', message: 'Applied revision: main' };
}

const nameOf = ({ kind, metadata }: AnyObject) => `${kind} ${metadata.name}`;

/** The manifest with the labels of its Kustomization. */
export function ownedBy({ namespace, name }: NamespacedName, manifest: AnyObject): AnyObject {
  const labels = {
    ...manifest.metadata.labels,
    'kustomize.toolkit.fluxcd.io/name': name,
    'kustomize.toolkit.fluxcd.io/namespace': namespace,
  };
  return { ...manifest, metadata: { ...manifest.metadata, labels } };
}

async function differs(flux: User, object: AnyObject): Promise<boolean> {
  const { object: after } = await flux.apply(object, { manager: KUSTOMIZE_CONTROLLER, force: true, dryRun: true });
  const live = await flux.find(object as ObjectRef);
  return !live || kubectlEntries(live).length > 0 || !isDeepStrictEqual(content(live), content(after));
}

function content({ status: _, metadata, ...rest }: AnyObject) {
  return { ...rest, labels: metadata.labels ?? {}, annotations: metadata.annotations ?? {} };
}

const kubectlEntries = ({ metadata }: AnyObject) =>
  (metadata.managedFields ?? []).filter(({ manager, subresource }) => manager?.startsWith('kubectl') && !subresource);

/**
 * Moves the fields of managers named `kubectl…` to kustomize-controller, as Flux does: its apply then removes those
 * that aren't in Git.
 */
async function claimKubectlFields(flux: User, object: AnyObject): Promise<void> {
  const live = await flux.find(object as ObjectRef);
  if (!live || kubectlEntries(live).length === 0) return;
  const entries = live.metadata.managedFields ?? [];
  const others = entries.filter((entry) => !kubectlEntries(live).includes(entry));
  const mine = others.find(
    (entry) => entry.manager === KUSTOMIZE_CONTROLLER && entry.operation === 'Apply' && !entry.subresource,
  );
  const fieldsV1 = kubectlEntries(live).reduce((all, entry) => union(all, entry.fieldsV1), mine?.fieldsV1 ?? {});
  const { apiVersion } = live;
  const taken = {
    manager: KUSTOMIZE_CONTROLLER,
    operation: 'Apply',
    apiVersion,
    fieldsType: 'FieldsV1',
    ...mine,
    fieldsV1,
  };
  // Without a resourceVersion, as Flux: a write of the status in between is no conflict.
  const value = [...others.filter((entry) => entry !== mine), taken];
  await flux.jsonPatch(object as ObjectRef, [{ op: 'replace', path: '/metadata/managedFields', value }]);
}

function union(a: any, b: any): any {
  const result = { ...a };
  for (const [key, value] of Object.entries(b ?? {})) result[key] = union(result[key], value);
  return result;
}

async function prune(flux: User, object: AnyObject, result: SyncResult): Promise<void> {
  try {
    await flux.remove(object as ObjectRef);
    result.pruned.push(nameOf(object));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === 404) result.pruned.push(nameOf(object));
    else result.pruneFailed.push(error);
  }
}
