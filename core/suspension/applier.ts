/**
 * The Kustomization that applies a Flux object, and what it has done since the Gates of that object opened.
 * A suspended object is resumed in its applier's next apply, so that the new spec and the new artifact take
 * effect together (docs/facts.md, F4).
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
import { groupOf, labelValue } from '../kube/names.ts';
import { formatInstant, formatTime, parseTime } from '../kube/time.ts';
import { managedFieldsOf } from '../managedField/managedFields.ts';
import { stateOf } from './stateAnnotation.ts';

export type Awaits = NonNullable<FluxBindingStatus['awaits']>;
type ApplierState = Pick<Awaits, 'state' | 'reason'>;

/** How long an object waits for a Kustomization that cannot apply it, before it is resumed without it. */
const PATIENCE_MS = 120_000;

/** Reason of the state Missing if the applier exists. */
export const NOT_LISTED = 'NotInInventory';

/** Reasons of Ready=False for steps that Flux takes after it has applied everything. */
const AFTER_THE_APPLY = new Set(['PruneFailed', 'HealthCheckFailed', 'HealthCheckCanceled']);

export function objectKeyOf({ apiVersion, kind, metadata: { namespace = '', name = '' } }: FluxObject): ObjectKey {
  return { apiVersion, kind, namespace, name };
}

/** The applier, by the object's labels. An object that applies itself has none: it could never resume itself. */
export function applierOf(object: FluxObject): NamespacedName | undefined {
  const name = object.metadata.labels?.[KUSTOMIZATION_NAME_LABEL];
  const namespace = object.metadata.labels?.[KUSTOMIZATION_NAMESPACE_LABEL] ?? object.metadata.namespace ?? '';
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
 * Whether the Kustomization applies the object, by its inventory; undefined while it has none.
 * Any user may write the labels that name an applier, so for another namespace only the inventory counts,
 * which Flux alone writes.
 */
export function applies(applier: FluxObject, { namespace, name, apiVersion, kind }: ObjectKey): boolean | undefined {
  const entries = (applier.status as KustomizationStatus | undefined)?.inventory?.entries;
  if (!entries) return applier.metadata.namespace === namespace ? undefined : false;
  const id = [namespace, name, groupOf(apiVersion), kind].join('_');
  return entries.some((entry) => entry.id === id);
}

/**
 * The state of the applier for an object that waits since `since`.
 * A Kustomization that waits for its own applier will apply; one that a user or a closed Gate suspends
 * may not for weeks.
 */
export function applierState(
  applier: FluxObject | undefined,
  applied: ObjectKey,
  since: EpochMs,
  now: EpochMs,
): ApplierState {
  if (!applier) return { state: 'Missing' };
  if (applier.metadata.deletionTimestamp) return { state: 'Deleting' };
  const found = progressOf(applier, since, now);
  // It will not apply an object outside its inventory. A requested apply that is done shows this at once.
  const isComing = found.state === 'Done' || applies(applier, applied) !== false;
  return isComing ? found : { state: 'Missing', reason: NOT_LISTED };
}

function progressOf(applier: FluxObject, since: EpochMs, now: EpochMs): ApplierState {
  if (applier.spec?.suspend === true) {
    return { state: stateOf(applier)?.is === 'opening' ? 'Asked' : 'Suspended' };
  }
  const ready = findCondition(applier.status?.conditions, READY);
  const reason = ready?.reason ?? '';
  const hasApplied = ready?.status === 'True' || (ready?.status === 'False' && AFTER_THE_APPLY.has(reason));
  if (ready?.status === 'False' && !hasApplied) return { state: 'Failing', reason };
  // A suspended one marks a request as handled and keeps its old Ready; a new spec shows in the generation.
  const isCurrent = ready?.observedGeneration === applier.metadata.generation;
  return { state: hasApplied && isCurrent && hasReconciled(applier, since, now) ? 'Done' : 'Asked' };
}

/**
 * When an object is resumed without its applier, which has this state since `from`; undefined if never in this state.
 */
export function waitEnds({ state }: ApplierState, from: EpochMs): EpochMs | undefined {
  if (state === 'Done' || state === 'Deleting') return from;
  return state === 'Missing' || state === 'Suspended' ? from + PATIENCE_MS : undefined;
}

// Flux's annotation `reconcile.fluxcd.io/requestedAt`, and its echo `status.lastHandledReconcileAt`.

/**
 * Whether a reconciliation that was requested at `since` or later has started and ended, successfully or not: at the
 * end Flux echoes the request that it read at the beginning.
 * The request counts by its own time, and only up to `now`: the requester's clock may be ahead.
 */
function hasReconciled(object: FluxObject, since: EpochMs, now: EpochMs): boolean {
  const handled = object.status?.lastHandledReconcileAt;
  const last = typeof handled === 'string' ? parseTime(handled) : undefined;
  return !isOutstanding(object) && last !== undefined && last >= since && last <= now;
}

/**
 * The value of the applier's annotation: the time of the newest opening, so that two requests are one. undefined if no
 * object waits, or if an apply after that time was requested already.
 * While a request is unhandled, the result stays the same and is computed again later: many openings cost
 * one request per apply.
 */
export function reconcileRequest(
  applier: FluxObject,
  bindings: readonly FluxBinding[],
  now: EpochMs,
): string | undefined {
  const openings = bindings.flatMap(({ spec }) => parseTime(spec?.awaits?.since) ?? []);
  if (openings.length === 0 || isOutstanding(applier)) return undefined;
  const newest = Math.max(...openings);
  return hasReconciled(applier, newest, now) ? undefined : formatInstant(newest);
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
 * How many objects may request an apply of the same applier at once: one apply resumes all of them, and the applier's
 * hook gets each of their bindings.
 */
export const MAX_REQUESTING = 10;

/** Whether an object that waits for this Kustomization may request its apply. */
export function mayRequestApply(applier: FluxObject | undefined, applied: ObjectKey): boolean {
  return applier !== undefined && applies(applier, applied) !== false;
}

/** The applier that the object waits for, and since when; undefined if it waits for none. */
export function awaitedApply(object: FluxObject): FluxBindingSpec['awaits'] {
  const state = stateOf(object);
  const applier = applierOf(object);
  return state?.is === 'opening' && applier ? { ...applier, since: formatInstant(state.since) } : undefined;
}

/**
 * The wait for the applier, for the binding's status.
 * A running attempt does not hide that the last one failed: a retry changes nothing.
 */
export function awaitsOf(
  awaited: FluxBindingSpec['awaits'],
  before: Awaits | undefined,
  applier: FluxObject | undefined,
  applied: ObjectKey,
  now: EpochMs,
): Awaits | undefined {
  if (!awaited) return undefined;
  const same = isAbout(before, awaited) ? before : undefined;
  const found = applierState(applier, applied, parseTime(awaited.since) ?? now, now);
  if (same?.state === 'Failing' && found.state === 'Asked') return same;
  const stateSince = same?.state === found.state ? same.stateSince : formatInstant(now);
  return { ...awaited, ...found, stateSince };
}

/** The wait in the binding's status, if it is the object's present one; undefined before the binding reports that. */
export function currentAwaits(object: FluxObject, status: FluxBindingStatus | undefined): Awaits | undefined {
  const awaited = awaitedApply(object);
  return awaited && isAbout(status?.awaits, awaited) ? status?.awaits : undefined;
}

/** When an object with this wait is resumed without its applier; undefined if no such time is known. */
export function resumedAloneAt(awaits: Awaits | undefined): EpochMs | undefined {
  const from = parseTime(awaits?.stateSince);
  return awaits && from !== undefined ? waitEnds(awaits, from) : undefined;
}

/**
 * The text for messages: `until Kustomization flux-system/apps applies it again; its last attempt failed: BuildFailed`.
 */
export function awaitsText(awaits: Awaits): string {
  const { namespace, name, since, state, reason } = awaits;
  const text = `until Kustomization ${namespace}/${name} applies it again`;
  const end = resumedAloneAt(awaits);
  const alone = end === undefined ? '' : `resumed without it at ${formatTime(end)}`;
  if (state === 'Failing') return `${text}; its last attempt failed: ${reason}`;
  if (state === 'Suspended') return `${text}, which is suspended; ${alone}`;
  if (reason === NOT_LISTED) return `${text}, which does not list it in its inventory; ${alone}`;
  if (state === 'Missing') return `${text}, which does not exist; ${alone}`;
  if (state === 'Deleting') return `${text}, which is being deleted; ${alone}`;
  if (state === 'Done') return `${text}; it has applied everything since the opening, but not this object; ${alone}`;
  return `${text}, as requested at ${since}`;
}

/**
 * Whether a Kustomization relates the bindings that wait for it.
 * Not all do: each change of any binding is matched against every Kustomization that does.
 * Its inventory lists what it applies. A Kustomization without inventory that has managed fields usually
 * applies no Flux objects.
 * If this answer is wrong (it is cached by generation), the object waits for the applier's next regular apply.
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

function isAbout(awaits: Awaits | undefined, { namespace, name, since }: NamespacedName & { since: string }): boolean {
  return awaits?.namespace === namespace && awaits.name === name && awaits.since === since;
}
