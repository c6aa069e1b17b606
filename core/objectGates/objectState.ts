/**
 * An object's state, in its annotation `gate.fluxcd.io/state`. In each write the webhook decides which one is stored. A
 * state has one of five forms:
 *
 * - `open`;
 * - `closed: ns/a,ns/b`: these Gates suspend the object;
 * - `opening: <time>`: the suspension waits for the applier's next apply; to the millisecond, because a Gate may open
 *   twice in one second;
 * - `bypassed: ns/a@<closure>`: a user bypassed the Gates, and the object runs behind them;
 * - `bypassing: ns/a@<closure>`: the object runs behind them for one deployment (bypassGrant.ts).
 *
 * A decorator's trigger requests a state, `closed@<minute>`: see core/suspension/stateTriggers.ts.
 */
import { AWAITS_ARTIFACT, GATE_STATE, SUSPENDED } from '../../api/annotations.ts';
import { READY } from '../../api/conditions.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { EpochMs, KubeObject } from '../../api/kubernetes.ts';
import type { FluxBindingStatus } from '../../api/types.ts';
import { isLimit, LIMIT_OF_GATES, reportedClosed } from '../gate/closedGates.ts';
import { findCondition } from '../kube/conditions.ts';
import { formatInstant, parseTime } from '../kube/time.ts';

/**
 * The state of an object, stored in GATE_STATE. `gates`: the closures that hold the object (stored without the time of
 * each), or that are bypassed.
 */
export type ObjectState =
  | { is: 'open' }
  | { is: 'opening'; since: EpochMs }
  | { is: 'closed' | 'bypassed' | 'bypassing'; gates: string[] };

/** Limit for a list of Gates in an annotation: the object's other annotations need room too. */
export const MAX_GATE_LIST_CHARACTERS = 16_384;

/** The text of GATE_STATE. A list of closed Gates that is too long is replaced by the name of the limit. */
export function formatState(state: ObjectState): string {
  if (state.is === 'open') return state.is;
  if (state.is === 'opening') return `opening: ${formatInstant(state.since)}`;
  if (state.is !== 'closed') return `${state.is}: ${[...state.gates].sort().join(',')}`;
  // The list of a closed state only informs readers, so it may be cut. The others are compared as a whole.
  const list = state.gates.map(gateOfClosure).sort().join(',');
  return `closed: ${list.length > MAX_GATE_LIST_CHARACTERS ? LIMIT_OF_GATES : list}`;
}

const STATE = /^(open|opening|closed|bypassed|bypassing)(?:: (.*)|@.*)?$/;

/**
 * The state of the object, or the one that a trigger requests, without Gates; undefined if it has none, or the
 * annotation has another format.
 */
export function storedState(object: Pick<KubeObject, 'metadata'> | undefined): ObjectState | undefined {
  const [, is, rest = ''] = STATE.exec(object?.metadata.annotations?.[GATE_STATE] ?? '') ?? [];
  if (is === 'open') return { is };
  // As `formatState` writes it. Only a tenant can have written a longer list.
  if (is === 'closed' && rest.length > MAX_GATE_LIST_CHARACTERS) return { is, gates: [LIMIT_OF_GATES] };
  if (is === 'closed' || is === 'bypassed' || is === 'bypassing')
    return { is, gates: rest.split(',').filter((ref) => ref !== '') };
  const since = parseTime(rest);
  return is === 'opening' && since !== undefined ? { is, since } : undefined;
}

/**
 * Why we suspend an object: a Gate is closed, its applier has yet to apply it, or its source to fetch the new version.
 * Of several reasons the first in this order counts.
 */
export type SuspensionReason = 'gates' | 'applier' | 'artifact';

/** Why we have suspended the object; undefined if it runs, or a user has suspended it. */
export function suspensionReason(object: FluxObject): SuspensionReason | undefined {
  if (!isSuspendedByUs(object)) return undefined;
  const state = storedState(object)?.is;
  if (state === 'opening') return 'applier';
  return state !== 'closed' && awaitsArtifact(object) ? 'artifact' : 'gates';
}

/** Whether we have suspended the object, for any `SuspensionReason`. */
export function isSuspendedByUs({ metadata, spec }: FluxObject): boolean {
  return metadata.annotations?.[SUSPENDED] !== undefined && spec?.suspend === true;
}

/** Whether the source of the object is still fetching its new version: see core/managedField/atomicUpdate.ts. */
export function awaitsArtifact(object: FluxObject | undefined): boolean {
  return object?.metadata.annotations?.[AWAITS_ARTIFACT] !== undefined;
}

/**
 * Whether the object was ready when a Gate suspended it. Our suspension has increased its generation by one, and Flux
 * doesn't update the conditions of a suspended object.
 */
export function wasReadyAtSuspension(object: FluxObject): boolean {
  const { metadata, status } = object;
  if (!isSuspendedByUs(object) || awaitsArtifact(object)) return false;
  const ready = findCondition(status?.conditions, READY);
  return ready?.status === 'True' && ready.observedGeneration === (metadata.generation ?? 0) - 1;
}

/** The Gate of a closure, as a list names it. */
function gateOfClosure(closure: string): string {
  return closure.split('@')[0]!;
}

/**
 * The state of an object with its Gates as they are now: the stored one, unless a Gate has opened or closed since. A
 * bypass counts while it covers every closure.
 * @param heldBy the closures that hold the object: `ObjectGates.heldBy`
 */
export function currentState(
  object: Pick<KubeObject, 'metadata'> | undefined,
  heldBy: readonly string[],
): ObjectState['is'] {
  const stored = storedState(object);
  if (heldBy.length === 0) return stored?.is === 'opening' ? 'opening' : 'open';
  if (stored?.is !== 'bypassed' && stored?.is !== 'bypassing') return 'closed';
  // Beyond the limit the closures are unknown: a bypass covers only the write with the reason.
  return !heldBy.some(isLimit) && containsAll(stored.gates, heldBy) ? stored.is : 'closed';
}

/** The state of an object according to its FluxBinding, which reports a deployment's bypass, but not a user's. */
export function reportedState({ gates, bypassing, awaits }: FluxBindingStatus): ObjectState['is'] {
  if (reportedClosed(gates)) return bypassing?.length ? 'bypassing' : 'closed';
  return awaits ? 'opening' : 'open';
}

/** Whether an object in this state runs although a Gate is closed. */
export function isBypass(state: ObjectState['is']): boolean {
  return state === 'bypassed' || state === 'bypassing';
}

export function containsAll(known: readonly string[], closures: readonly string[]): boolean {
  const all = new Set(known);
  return closures.every((closure) => all.has(closure));
}
