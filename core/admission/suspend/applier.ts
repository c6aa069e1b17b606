/** The Kustomization that applies a Flux object, and what it has done since the gates of that object opened. */
import { GATE_STATE, KUSTOMIZATION_NAME_LABEL, KUSTOMIZATION_NAMESPACE_LABEL } from '../../../api/annotations.ts';
import { READY } from '../../../api/conditions.ts';
import type { FluxObject, KustomizationStatus } from '../../../api/flux.ts';
import type { EpochMs, NamespacedName } from '../../../api/kubernetes.ts';
import type { FluxBindingStatus } from '../../../api/types.ts';
import { findCondition } from '../../kube/conditions.ts';
import { groupOf } from '../../kube/names.ts';
import { hasComeTo } from './reconcileRequest.ts';
import { parseState } from './stateAnnotation.ts';

export type Awaits = NonNullable<FluxBindingStatus['awaits']>;
export type ApplierState = Pick<Awaits, 'state' | 'reason'>;

/** How long an object waits for a Kustomization that cannot apply it, before it is resumed without it. */
const PATIENCE_MS = 120_000;

/** Reason of the state Missing where the applier exists. */
export const NOT_LISTED = 'NotInInventory';

/** Reasons of Ready=False for what Flux does after it has applied everything. */
const AFTER_THE_APPLY = new Set(['PruneFailed', 'HealthCheckFailed', 'HealthCheckCanceled']);

export function appliedOf({ apiVersion, kind, metadata: { namespace = '', name = '' } }: FluxObject): Applied {
  return { apiVersion, kind, namespace, name };
}

/** None for an object that applies itself: it could never resume itself. */
export function applierOf(object: FluxObject): NamespacedName | undefined {
  const name = object.metadata.labels?.[KUSTOMIZATION_NAME_LABEL];
  const namespace = object.metadata.labels?.[KUSTOMIZATION_NAMESPACE_LABEL] ?? object.metadata.namespace ?? '';
  if (!name) return undefined;
  const isItself =
    object.kind === 'Kustomization' && object.metadata.name === name && object.metadata.namespace === namespace;
  return isItself ? undefined : { namespace, name };
}

/** What names an object in an inventory. */
export interface Applied extends NamespacedName {
  apiVersion: string;
  kind: string;
}

/**
 * Whether the Kustomization applies the object, by its inventory; undefined while it has none. The labels that name an applier are anybody's
 * to write: of another namespace only an inventory is believed, which Flux alone writes.
 */
export function applies(applier: FluxObject, { namespace, name, apiVersion, kind }: Applied): boolean | undefined {
  const entries = (applier.status as KustomizationStatus | undefined)?.inventory?.entries;
  if (!entries) return applier.metadata.namespace === namespace ? undefined : false;
  const id = [namespace, name, groupOf(apiVersion), kind].join('_');
  return entries.some((entry) => entry.id === id);
}

/**
 * `since` is when the object began to wait. A Kustomization that waits for its own applier will apply; one that is
 * suspended by a person or by a closed gate may not for weeks.
 */
export function applierState(
  applier: FluxObject | undefined,
  applied: Applied,
  since: EpochMs,
  now: EpochMs,
): ApplierState {
  if (!applier) return { state: 'Missing' };
  if (applier.metadata.deletionTimestamp) return { state: 'Deleting' };
  const found = stateOf(applier, since, now);
  // It will not come to what it does not apply; where it has been asked and is done, that is known at once.
  const isComing = found.state === 'Done' || applies(applier, applied) !== false;
  return isComing ? found : { state: 'Missing', reason: NOT_LISTED };
}

function stateOf(applier: FluxObject, since: EpochMs, now: EpochMs): ApplierState {
  if (applier.spec?.suspend === true) {
    const state = parseState(applier.metadata.annotations?.[GATE_STATE]);
    return { state: state?.is === 'opening' ? 'Asked' : 'Suspended' };
  }
  const ready = findCondition(applier.status?.conditions, READY);
  const reason = ready?.reason ?? '';
  const hasApplied = ready?.status === 'True' || (ready?.status === 'False' && AFTER_THE_APPLY.has(reason));
  if (ready?.status === 'False' && !hasApplied) return { state: 'Failing', reason };
  // A suspended one marks a request as handled and keeps its old Ready; a new spec shows in the generation.
  const isCurrent = ready?.observedGeneration === applier.metadata.generation;
  return { state: hasApplied && isCurrent && hasComeTo(applier, since, now) ? 'Done' : 'Asked' };
}

/** When an object is resumed without its applier, which is in this state since `from`; undefined: not while it stays in it. */
export function waitEnds({ state }: ApplierState, from: EpochMs): EpochMs | undefined {
  if (state === 'Done' || state === 'Deleting') return from;
  return state === 'Missing' || state === 'Suspended' ? from + PATIENCE_MS : undefined;
}
