/**
 * A suspended object is resumed in its owner's next apply, so that the new spec and the new artifact arrive together
 * (DESIGN section 4). A hook can annotate only its own object: the child's FluxBinding carries a label with its owner's
 * name while it waits, the owner's decorator relates the bindings with that label and annotates the owner.
 */
import { GATE_STATE, RECONCILE_REQUESTED_AT } from '../../api/annotations.ts';
import { type FluxObject, GOVERNED_KINDS, type KustomizationStatus } from '../../api/flux.ts';
import type { EpochMs, NamespacedName } from '../../api/kubernetes.ts';
import type { FluxBinding } from '../../api/types.ts';
import { labelValue } from '../kube/labels.ts';
import { formatInstant, parseTime } from '../kube/time.ts';
import { parseGateState } from './gateState.ts';
import { marksOf } from './marks.ts';
import { applierOf } from './suspension.ts';

/** Value of RESUME_LABEL for a Kustomization. */
export function resumeLabel({ namespace, name }: NamespacedName): string {
  return labelValue(`${namespace}.${name}`);
}

/** Whom the object waits for, and since when; undefined when it waits for nobody. */
export function awaitedApply(object: FluxObject): { owner: NamespacedName; since: EpochMs } | undefined {
  const mark = parseGateState(object.metadata.annotations?.[GATE_STATE]);
  const owner = applierOf(object);
  return mark?.is === 'opening' && owner ? { owner, since: mark.since } : undefined;
}

/**
 * Whether a Kustomization relates the bindings that wait for it. Not all do: each change of any binding is matched against
 * every one that does. One that a Rollout pins is a leaf, as a rule, unless its inventory says otherwise. Where this
 * answer is wrong (it is cached by generation), the object waits for the timeout.
 */
export function mayApplyFluxObjects(object: FluxObject): boolean {
  if (object.kind !== 'Kustomization') return false;
  const inventory = (object.status as KustomizationStatus | undefined)?.inventory?.entries ?? [];
  // `<namespace>_<name>_<group>_<kind>`
  const applies = inventory.some(({ id }) => {
    const [, , group, kind] = id.split('_');
    return GOVERNED_KINDS.some((known) => known.group === group && known.kind === kind);
  });
  return applies || marksOf(object).pins.length === 0;
}

/**
 * What `reconcile.fluxcd.io/requestedAt` of the owner should say: the instant of the newest opening, so that asking twice
 * is asking once. undefined when nobody waits, or where an apply after that instant was asked for already.
 *
 * A request that is not handled yet ends in another look here, so many openings cost one request per apply. Once handled
 * it counts by its own time, and only up to `now`: the clock of whoever asked may be ahead.
 */
export function reconcileRequest(
  owner: FluxObject,
  bindings: readonly FluxBinding[],
  now: EpochMs,
): string | undefined {
  const openings = bindings.flatMap(({ spec }) => parseTime(spec?.observed?.resumeRequestedAt) ?? []);
  if (openings.length === 0) return undefined;
  const newest = Math.max(...openings);
  const asked = owner.metadata.annotations?.[RECONCILE_REQUESTED_AT];
  const handled = owner.status?.lastHandledReconcileAt;
  if (asked !== undefined && asked !== handled) return undefined;
  const last = typeof handled === 'string' ? parseTime(handled) : undefined;
  return last !== undefined && last >= newest && last <= now ? undefined : formatInstant(newest);
}
