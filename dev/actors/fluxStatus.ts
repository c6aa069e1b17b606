/** Statuses as Flux's controllers write them. */
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { AnyObject } from '../client/send.ts';
import { ref } from './objects.ts';
import { timestamp } from './timestamp.ts';
import type { User } from './user.ts';

export const now = (flux: Pick<User, 'now'>) => timestamp(flux.now());

/** The newest request to reconcile, which Flux copies into the status, even of a suspended object. */
export function echo({ metadata }: AnyObject): { lastHandledReconcileAt?: string } {
  const asked = metadata.annotations?.['reconcile.fluxcd.io/requestedAt'];
  return asked === undefined ? {} : { lastHandledReconcileAt: asked };
}

export function conditionAt(
  flux: Pick<User, 'now'>,
  type: string,
  observedGeneration: number | undefined,
  status: string,
  reason: string,
  message: string,
) {
  return { type, status, reason, message, observedGeneration, lastTransitionTime: now(flux) };
}

/** The conditions with `own` in place of those of the same types, as Flux's patcher merges them. */
export function conditions({ status }: AnyObject, own: { type: string }[]): { type: string }[] {
  const types = new Set(own.map(({ type }) => type));
  const others = (status?.conditions ?? []).filter(({ type }: { type: string }) => !types.has(type));
  return [...own, ...others];
}

/** The status of a Kustomization after a successful apply. `seen` has been applied, `live` is stored now. */
export function appliedStatus(flux: Pick<User, 'now'>, seen: AnyObject, revision: string, live = seen) {
  const { generation } = seen.metadata;
  const message = `Applied revision: ${revision}`;
  const ready = conditionAt(flux, 'Ready', generation, 'True', 'ReconciliationSucceeded', message);
  return {
    observedGeneration: generation,
    lastAppliedRevision: revision,
    lastAttemptedRevision: revision,
    history: [
      {
        digest: revision,
        firstReconciled: now(flux),
        lastReconciled: now(flux),
        lastReconciledDuration: '1s',
        lastReconciledStatus: ready.reason,
        totalReconciliations: 1,
      },
    ],
    ...echo(seen),
    conditions: conditions(live, [ready]).filter(({ type }) => type !== 'Reconciling'),
  };
}

export interface Ready {
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
}

export const notReady = (reason: string, message: string): Ready => ({ status: 'False', reason, message });

/** Writes that a Git sync has begun: Ready=Unknown. Resolves to the Kustomization, or undefined if it doesn't exist. */
export async function beginSync(flux: User, owner: NamespacedName): Promise<AnyObject | undefined> {
  const begun = await flux.find(ref('kustomization', owner.namespace, owner.name));
  const progress = { status: 'Unknown', reason: 'Progressing', message: 'Reconciliation in progress' } as const;
  if (begun && !begun.spec.suspend) await writeReady(flux, begun, progress);
  return begun;
}

/**
 * Writes the end of a Git sync: the final Ready; then, in a separate write, the request to reconcile that it found at
 * the beginning. A suspended Kustomization keeps its conditions, but marks the request as handled. `inventory`:
 * unchanged if absent.
 */
export async function endSync(
  flux: User,
  begun: AnyObject,
  ready: Ready,
  inventory?: readonly AnyObject[],
): Promise<void> {
  const { generation, annotations } = begun.metadata;
  if (!begun.spec.suspend) await writeReady(flux, begun, ready);
  await flux.patchStatus(ref('kustomization', begun.metadata.namespace, begun.metadata.name!), {
    lastHandledReconcileAt: annotations?.['reconcile.fluxcd.io/requestedAt'],
    ...(ready.status === 'True' && { observedGeneration: generation }),
    ...(inventory && { inventory: { entries: inventory.map(entryOf) } }),
  });
}

function entryOf({ apiVersion, kind, metadata: { namespace, name } }: AnyObject) {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  return { id: `${namespace}_${name}_${group}_${kind}`, v: version };
}

async function writeReady(flux: User, begun: AnyObject, { status, reason, message }: Ready): Promise<void> {
  const { namespace, name = '', generation } = begun.metadata;
  const live = await flux.get(ref('kustomization', namespace, name));
  const ready = conditionAt(flux, 'Ready', generation, status, reason, message);
  await flux.patchStatus(ref('kustomization', namespace, name), { conditions: conditions(live, [ready]) });
}
