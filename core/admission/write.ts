/**
 * One admission decision about a Flux object; docs/reference/writes.md, W1 to W31, says what becomes of each kind. These are
 * the rules, in the order in which they apply, and what each webhook does about them:
 *
 *   rule             the mutating one, mutate.ts                       the validating one, validate.ts
 *   ---------------  ------------------------------------------------  ---------------------------------------------------
 *   nesting          refuses a spec that is too deep to be compared    -
 *   hold             behind a closed gate: holds, refuses or lets be   nothing that gates govern has changed since
 *   pins             gates open: sets what the Rollouts say            pinned fields are still what the Rollouts say
 *   selected-by      written                                           -
 *   suspension       suspends and resumes                              what is marked closed is still suspended
 *   bypass record    written                                           -
 *
 * The validating webhook sees the object as all webhooks have left it, and reads everything again: the world may have moved on since.
 * Where it checks nothing, the other webhooks of the cluster are trusted.
 */
import { SUSPENDED } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { Rollout } from '../../api/types.ts';
import type { Bypass } from '../gate/bypass.ts';
import type { GateResult } from '../gate/evaluateGates.ts';
import { sameJson } from '../kube/json.ts';
import { candidatesOf, closedGates, type GateContext, requiredGates } from './requiredGates.ts';

/** What is read of the cluster for one write, once and before anything is decided. */
export interface WriteContext extends GateContext {
  /** The Rollouts that the object names and that exist, by name. */
  rollouts: ReadonlyMap<string, Rollout>;
  /** What a pinned Kustomization applies, where it may be pinned too: see core/admission/managedFields/whole.ts. */
  source?: FluxObject | 'settled' | undefined;
  /** Closed Gates of the Rollouts that the object leaves in this write: leaving a Rollout is not a way around its Gates. */
  closedForPins?: readonly GateResult[];
  /** The Kustomization that applies the object, where it exists and the write `asksToResume`. */
  applier?: FluxObject | undefined;
}

export interface FluxWrite {
  /** As the writer wants it. */
  object: FluxObject;
  /** As stored; absent on CREATE. */
  oldObject?: FluxObject | undefined;
  context: WriteContext;
  user: string;
  /** From the request's options. */
  fieldManager?: string | undefined;
  /** The field manager is one of a controller that applies from Git: what it writes to a held object is held, not refused. */
  isSync?: boolean | undefined;
  /** Absent where the writer does not ask to get past a closed gate. */
  bypass?: Bypass | undefined;
  /** Whether a new reason, with nothing in the way of this write, gets its author past what is in the way of a deletion. */
  reasonCounts?: boolean | undefined;
}

/**
 * Every closed gate that the stored object is behind, or leaves by this write. Where none were listed, those that the write itself names in
 * SELECTED_BY are looked at too: a decorator marks an object with a Gate that has just begun to select it.
 */
export function gatesInTheWay(
  oldObject: FluxObject,
  object: FluxObject | undefined,
  context: WriteContext,
): GateResult[] {
  const candidates = candidatesOf(object ? [object, oldObject] : [oldObject], context);
  return [...closedGates(requiredGates(oldObject, context, candidates), context), ...(context.closedForPins ?? [])];
}

/**
 * Whether a write leaves alone all that Rollouts and Gates govern: such a write needs no look at them. A suspended object
 * is looked at also when nothing changes, since its applier's next apply may well be such a write, and it is resumed there;
 * but its finalizers come off without us.
 */
export function isOutOfScope(object: FluxObject, oldObject: FluxObject): boolean {
  const same = (['annotations', 'labels', 'ownerReferences'] as const).every((field) =>
    sameJson(object.metadata[field] ?? {}, oldObject.metadata[field] ?? {}),
  );
  if (!same || !sameJson(object.spec, oldObject.spec)) return false;
  const beside = (['finalizers', 'managedFields', 'generateName'] as const).some(
    (field) => !sameJson(object.metadata[field], oldObject.metadata[field]),
  );
  const isSuspendedByUs = oldObject.metadata.annotations?.[SUSPENDED] !== undefined;
  if (isSuspendedByUs) return !sameJson(object.metadata.finalizers, oldObject.metadata.finalizers);
  // Many of these in a second would each make the write of a decorator conflict that is about to suspend the object: so they suspend it themselves.
  return !beside || object.metadata.deletionTimestamp !== undefined;
}

/** As the API server writes it. `0354` would be read as 354 there, and `0` as "whatever is stored". */
const RESOURCE_VERSION = /^[1-9]\d*$/;

/**
 * Whether the API server will refuse the write with a 409, since its resourceVersion is not the stored one. It asks the
 * webhooks first, so a decorator that writes what it has in its cache would look like somebody undoing the last change: a
 * denial would count as a failure, the conflict is retried.
 */
export function willConflict(object: FluxObject, oldObject: FluxObject): boolean {
  const version = object.metadata.resourceVersion ?? '';
  const stored = oldObject.metadata.resourceVersion ?? '';
  return RESOURCE_VERSION.test(version) && RESOURCE_VERSION.test(stored) && version !== stored;
}
