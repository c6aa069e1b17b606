/**
 * The applier of a Flux object: the Kustomization that applies it, and its progress since the object's Gates opened.
 * A suspended object is resumed in its applier's next apply, so that the new spec and the new artifact take effect
 * together (docs/facts.md, F4).
 *
 * A hook can annotate only its own object. So while a child waits, its FluxBinding has a label with its applier's name;
 * the applier's decorator relates the bindings with that label and annotates the applier. The binding's status then
 * reports the applier's progress.
 */
import {
  KUSTOMIZATION_NAME_LABEL,
  KUSTOMIZATION_NAMESPACE_LABEL,
  RECONCILE_REQUESTED_AT,
} from '../../api/annotations.ts';
import { READY } from '../../api/conditions.ts';
import type { FluxObject, KustomizationStatus } from '../../api/flux.ts';
import { governedKindOf } from '../../api/kinds.ts';
import type { EpochMs, NamespacedName } from '../../api/kubernetes.ts';
import type { FluxBinding, FluxBindingSpec, FluxBindingStatus } from '../../api/types.ts';
import { findCondition } from '../kube/conditions.ts';
import { groupOf, labelValue, refKey } from '../kube/names.ts';
import { formatInstant, formatTime, parseTime } from '../kube/time.ts';
import { managedFieldsOf } from '../managedField/managedFields.ts';
import { awaitsArtifact, storedState } from '../objectGates/objectState.ts';

export type ApplierWait = NonNullable<FluxBindingStatus['awaits']>;
type ApplierState = Pick<ApplierWait, 'state' | 'reason'>;

/**
 * The time for which an object waits for an applier that can't apply it. After that it is resumed without the applier.
 */
const RESUME_ALONE_AFTER_MS = 120_000;

/** The reason of the state Missing if the applier exists, but its inventory lacks the object. */
const NOT_LISTED = 'NotInInventory';

/** Reasons of Ready=False for steps that Flux takes after it has applied everything. */
const FAILURES_AFTER_APPLY = new Set(['PruneFailed', 'HealthCheckFailed', 'HealthCheckCanceled']);

/** The object's key. */
export function objectKeyOf({ apiVersion, kind, metadata: { namespace = '', name = '' } }: FluxObject): ObjectKey {
  return { apiVersion, kind, namespace, name };
}

/** The applier, by the object's labels. An object that applies itself has none: it could never resume itself. */
export function applierOf(object: FluxObject): NamespacedName | undefined {
  const name = object.metadata.labels?.[KUSTOMIZATION_NAME_LABEL];
  const namespace = object.metadata.labels?.[KUSTOMIZATION_NAMESPACE_LABEL] || (object.metadata.namespace ?? '');
  if (!name) return undefined;
  const isItself =
    object.kind === 'Kustomization' && object.metadata.name === name && object.metadata.namespace === namespace;
  return isItself ? undefined : { namespace, name };
}

/** The fields that identify an object in an inventory. */
export interface ObjectKey extends NamespacedName {
  apiVersion: string;
  kind: string;
}

/**
 * Whether the Kustomization may apply the object: by its inventory, or while it has none, by its namespace.
 * Any user may write the labels that name an applier. So an applier of another namespace counts only by its inventory,
 * which only Flux writes.
 */
export function mayApply(applier: FluxObject, { namespace, name, apiVersion, kind }: ObjectKey): boolean {
  const entries = (applier.status as KustomizationStatus | undefined)?.inventory?.entries;
  if (!entries) return applier.metadata.namespace === namespace;
  const id = [namespace, name, groupOf(apiVersion), kind].join('_');
  return entries.some((entry) => entry.id === id);
}

/**
 * The state of the applier, for an object that has waited since `since`.
 * An applier that waits for its own applier or its source is about to apply. One that a user or a closed Gate suspends
 * might stay suspended for weeks, and one that waits for the object itself for ever.
 */
export function applierState(
  applier: FluxObject | undefined,
  applied: ObjectKey,
  since: EpochMs,
  now: EpochMs,
): ApplierState {
  if (!applier) return { state: 'Missing' };
  if (applier.metadata.deletionTimestamp) return { state: 'Deleting' };
  const progress = applierStateOf(applier, applied, since, now);
  // An apply that is done has updated the inventory. Before that, an object outside the inventory won't be applied.
  const willApply = progress.state === 'Done' || mayApply(applier, applied);
  return willApply ? progress : { state: 'Missing', reason: NOT_LISTED };
}

function applierStateOf(applier: FluxObject, applied: ObjectKey, since: EpochMs, now: EpochMs): ApplierState {
  if (applier.spec?.suspend === true) {
    const state = storedState(applier)?.is;
    const own = applierOf(applier);
    const isCycle = applied.kind === 'Kustomization' && own !== undefined && refKey(own) === refKey(applied);
    const endsSoon = (state === 'opening' && !isCycle) || (awaitsArtifact(applier) && state !== 'closed');
    return { state: endsSoon ? 'Requested' : 'Suspended' };
  }
  const ready = findCondition(applier.status?.conditions, READY);
  const reason = ready?.reason ?? '';
  const hasApplied = ready?.status === 'True' || (ready?.status === 'False' && FAILURES_AFTER_APPLY.has(reason));
  if (ready?.status === 'False' && !hasApplied) return { state: 'Failing', reason };
  // A suspended Kustomization marks a request as handled and keeps its old Ready; a new spec shows in the generation.
  const isCurrent = ready?.observedGeneration === applier.metadata.generation;
  return { state: hasApplied && isCurrent && hasReconciledSince(applier, since, now) ? 'Done' : 'Requested' };
}

/**
 * The time at which an object is resumed without its applier, if the applier has had this state since `from`; undefined
 * if never.
 */
export function waitEnds({ state }: ApplierState, from: EpochMs): EpochMs | undefined {
  if (state === 'Done' || state === 'Deleting') return from;
  return state === 'Missing' || state === 'Suspended' ? from + RESUME_ALONE_AFTER_MS : undefined;
}

// Flux's annotation `reconcile.fluxcd.io/requestedAt`, and its echo `status.lastHandledReconcileAt`.

/**
 * Whether a reconciliation that was requested at `since` or later has started and ended, successfully or not: at the
 * end Flux echoes the request that it read at the beginning.
 * The request counts by its own time, and only up to `now`: the requester's clock may be ahead.
 */
function hasReconciledSince(object: FluxObject, since: EpochMs, now: EpochMs): boolean {
  const handled = object.status?.lastHandledReconcileAt;
  const last = typeof handled === 'string' ? parseTime(handled) : undefined;
  return !isOutstanding(object) && last !== undefined && last >= since && last <= now;
}

/**
 * The value of the applier's annotation: the time of the newest opening, so that two requests are one. undefined if no
 * object waits, if an earlier request is still unhandled, or if Flux has reconciled after that time. So many openings
 * cost one request per apply.
 */
export function reconcileRequest(
  applier: FluxObject,
  bindings: readonly FluxBinding[],
  now: EpochMs,
): string | undefined {
  const openings = bindings.flatMap(({ spec }) => parseTime(spec?.awaits?.since) ?? []);
  if (openings.length === 0 || isOutstanding(applier)) return undefined;
  const newest = Math.max(...openings);
  return hasReconciledSince(applier, newest, now) ? undefined : formatInstant(newest);
}

function isOutstanding({ metadata, status }: FluxObject): boolean {
  const requested = metadata.annotations?.[RECONCILE_REQUESTED_AT];
  return requested !== undefined && requested !== status?.lastHandledReconcileAt;
}

/** Value of RESUME_LABEL for a Kustomization. */
export function resumeLabel({ namespace, name }: NamespacedName): string {
  return labelValue(`${namespace}.${name}`);
}

/**
 * The most objects that request an apply of the same applier at once: one apply resumes all objects, and the applier's
 * hook gets the binding of each that requests.
 */
export const MAX_REQUESTING = 10;

/** The applier that the object waits for, and the start of that wait; undefined if it waits for none. */
export function awaitedApply(object: FluxObject): FluxBindingSpec['awaits'] {
  const state = storedState(object);
  const applier = applierOf(object);
  return state?.is === 'opening' && applier ? { ...applier, since: formatInstant(state.since) } : undefined;
}

/**
 * The wait for the applier, for the binding's status. While the applier retries after a failure, the state stays
 * Failing.
 */
export function applierWaitOf(
  awaited: FluxBindingSpec['awaits'],
  before: ApplierWait | undefined,
  applier: FluxObject | undefined,
  applied: ObjectKey,
  now: EpochMs,
): ApplierWait | undefined {
  if (!awaited) return undefined;
  const known = isAbout(before, awaited) ? before : undefined;
  const current = applierState(applier, applied, parseTime(awaited.since) ?? now, now);
  if (known?.state === 'Failing' && current.state === 'Requested') return known;
  const stateSince = known?.state === current.state ? known.stateSince : formatInstant(now);
  return { ...awaited, ...current, stateSince };
}

/** The object's present wait, from its FluxBinding's status; undefined until the status shows it. */
export function currentWait(object: FluxObject, status: FluxBindingStatus | undefined): ApplierWait | undefined {
  const awaited = awaitedApply(object);
  return awaited && isAbout(status?.awaits, awaited) ? status?.awaits : undefined;
}

/**
 * The time at which the object is resumed without its applier; undefined if never, or if the wait isn't reported yet.
 */
export function resumedAloneAt(wait: ApplierWait | undefined): EpochMs | undefined {
  const from = parseTime(wait?.stateSince);
  return wait && from !== undefined ? waitEnds(wait, from) : undefined;
}

/**
 * The wait in a message:
 * `until Kustomization 'flux-system/apps' applies it again. That Kustomization's last attempt failed: BuildFailed`.
 */
export function applierWaitText(wait: ApplierWait): string {
  const { namespace, name, since, state, reason } = wait;
  const text = `until Kustomization '${namespace}/${name}' applies it again`;
  const end = resumedAloneAt(wait);
  const alone = end === undefined ? '' : `. The object is resumed without waiting for it at ${formatTime(end)}`;
  if (state === 'Failing') return `${text}. That Kustomization's last attempt failed: ${reason}`;
  if (state === 'Suspended') return `${text}. That Kustomization is suspended${alone}`;
  if (reason === NOT_LISTED) return `${text}. That Kustomization does not list the object in its inventory${alone}`;
  if (state === 'Missing') return `${text}. That Kustomization does not exist${alone}`;
  if (state === 'Deleting') return `${text}. That Kustomization is being deleted${alone}`;
  if (state === 'Done')
    return `${text}. That Kustomization has applied everything since the opening, except this object${alone}`;
  return `${text}, as requested at ${since}`;
}

/**
 * Whether the object is a Kustomization that may apply Flux objects, by its inventory. Only such a Kustomization
 * relates the FluxBindings that wait for it, because each change of a FluxBinding is matched against every
 * Kustomization that relates FluxBindings.
 * A Kustomization without an inventory usually applies no Flux objects if it has managed fields.
 * If the result is wrong (it is cached by generation), an object waits for the applier's next regular apply.
 */
export function mayApplyFluxObjects(object: FluxObject): boolean {
  if (object.kind !== 'Kustomization') return false;
  const inventory = (object.status as KustomizationStatus | undefined)?.inventory?.entries ?? [];
  if (inventory.length === 0) return managedFieldsOf(object).fields.length === 0;
  // `<namespace>_<name>_<group>_<kind>`
  return inventory.some(({ id }) => {
    const [, , group, kind] = id.split('_');
    return governedKindOf(group ?? '', kind ?? '') !== undefined;
  });
}

function isAbout(
  wait: ApplierWait | undefined,
  { namespace, name, since }: NamespacedName & { since: string },
): boolean {
  return wait?.namespace === namespace && wait.name === name && wait.since === since;
}
