/** The Gates that something requires, the closed ones among them, and limits: in memory, stored, and in words. */
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { FluxBindingSpec, FluxBindingStatus } from '../../api/types.ts';
import { refKey, uniqueRefs } from '../kube/names.ts';
import { LIMITS } from '../limits.ts';
import type { CommandLine } from '../text/commands.ts';
import { type GateResult, isMissing, requestText } from './evaluateGates.ts';

/** The limit of an object that requires too many Gates to evaluate. */
export const LIMIT_OF_GATES = '(too-many)';
/** The limit of an object that names too many Rollouts or variables. */
export const LIMIT_OF_ROLLOUTS = '(too-many-rollouts)';

/**
 * A limit that an object exceeds: it counts as a closed Gate. Annotations and FluxBindings have this text in place of a
 * Gate's name, which it cannot be.
 */
export type Limit = typeof LIMIT_OF_GATES | typeof LIMIT_OF_ROLLOUTS;

/** The sentence about each limit, as the text after `held: `. */
export const LIMIT_TEXTS: Record<Limit, string> = {
  [LIMIT_OF_GATES]:
    'the object requires too many Gates (limits requiredGates, selectingGates, selectingGatesBytes): require fewer',
  [LIMIT_OF_ROLLOUTS]: `more than ${LIMITS.boundRollouts} Rollouts or ${LIMITS.managedFields} variables are named (limits boundRollouts, managedFields): name fewer`,
};

/** Whether the stored text stands for a limit, not for a Gate. */
export function isLimit(key: string): key is Limit {
  return Object.hasOwn(LIMIT_TEXTS, key);
}

interface RequiredGate extends NamespacedName {
  /** Whether the Gate selects the object; otherwise the object names it. */
  selected?: boolean;
}

/** The Gates that one or more objects require, each once. */
export interface RequiredGates {
  refs: RequiredGate[];
  /** Set if an object exceeds a limit: then it is held, and its Gates need not be evaluated. */
  limit?: Limit | undefined;
}

/** All of these Gates, each once, without `selected`. If several limits are exceeded, the first by name. */
export function unionOfRequired(all: readonly RequiredGates[]): RequiredGates {
  const refs = all.flatMap((each) => each.refs.map(({ namespace, name }) => ({ namespace, name })));
  return {
    refs: uniqueRefs(refs),
    limit: all.flatMap(({ limit }) => limit ?? []).sort()[0],
  };
}

/**
 * Closed Gates, and an exceeded limit, which counts as one. At least one of the two: if nothing is closed there is no
 * such value, so no caller can forget a limit.
 */
export interface ClosedGates {
  gates: readonly GateResult[];
  limit?: Limit | undefined;
}

/** The closed ones of these Gates, with the limit; undefined if all are open and no limit is exceeded. */
export function closedAmong(gates: readonly GateResult[], limit?: Limit): ClosedGates | undefined {
  const closed = gates.filter(({ isOpen }) => !isOpen);
  return limit || closed.length > 0 ? { gates: closed, limit } : undefined;
}

/** The closed Gates of all of these, each once. If several limits are exceeded, the first by name. */
export function unionOfClosed(all: readonly (ClosedGates | undefined)[]): ClosedGates | undefined {
  const found = all.flatMap((each) => each ?? []);
  const known = new Set<string>();
  const gates = found.flatMap((each) => each.gates).filter(({ key }) => !known.has(key) && known.add(key));
  return closedAmong(gates, found.flatMap(({ limit }) => limit ?? []).sort()[0]);
}

/** The closed Gates, and the limit, whose closures pass the test. */
export function closedWhere(
  closed: ClosedGates | undefined,
  test: (closure: string) => boolean,
): ClosedGates | undefined {
  if (!closed) return undefined;
  const { gates, limit } = closed;
  const passing = gates.filter((gate) => test(closureKey(gate)));
  return closedAmong(passing, limit && test(limit) ? limit : undefined);
}

/** The results of the function for the limit, if one is exceeded, and for each Gate. */
export function mapClosed<T>(
  { gates, limit }: ClosedGates,
  ofLimit: (text: string) => T,
  ofGate: (gate: GateResult) => T,
): T[] {
  return [...(limit ? [ofLimit(LIMIT_TEXTS[limit])] : []), ...gates.map(ofGate)];
}

// The stored forms: a limit is in the place of a Gate's name.

/** The Gates and the limit in a stored list. */
export function requiredIn<Ref extends NamespacedName>(
  stored: readonly Ref[],
): { refs: Ref[]; limit: Limit | undefined } {
  return { refs: stored.filter((ref) => !isLimit(refKey(ref))), limit: stored.map(refKey).find(isLimit) };
}

/** The entry of a limit in a stored list. */
export function storedLimit(limit: Limit): NamespacedName {
  return { namespace: '', name: limit };
}

/** The Gates that the object of a FluxBinding requires. */
export function requiredByBinding(spec: FluxBindingSpec | undefined): RequiredGates {
  return requiredIn((spec?.gates ?? []).map(({ gate, ...ref }) => ({ ...ref, name: gate })));
}

/** `spec.gates` of a FluxBinding. */
export function bindingGates({ refs, limit }: RequiredGates): NonNullable<FluxBindingSpec['gates']> {
  return [...(limit ? [storedLimit(limit)] : []), ...refs].map(({ name, ...ref }) => ({ ...ref, gate: name }));
}

/** The Gates that a FluxBinding reports as closed, with the limit. */
export function reportedClosed(entries: FluxBindingStatus['gates']): ClosedGates | undefined {
  const { refs, limit } = requiredIn((entries ?? []).filter(({ opened }) => !opened));
  const gates = refs.map(({ namespace, name, message = '', closure }) => {
    const ref = { namespace, name };
    return { key: refKey(ref), ref, isOpen: false, message, closure };
  });
  return closedAmong(gates, limit);
}

/** The closed Gates, as stored lists name them. */
export function gateKeys({ gates, limit }: ClosedGates): string[] {
  return [...(limit ? [limit] : []), ...gates.map(({ key }) => key)];
}

/** The closures, as stored lists name them. */
export function closureKeys(closed: ClosedGates | undefined): string[] {
  return closed ? [...(closed.limit ? [closed.limit] : []), ...closed.gates.map(closureKey)] : [];
}

/** A closed Gate with its closure, `ns/a@<closure>`: a bypass is for one closure only. */
export function closureKey({ key, closure }: Pick<GateResult, 'key' | 'closure'>): string {
  return closure ? `${key}@${closure}` : key;
}

// The texts.

/** The closed Gates with their causes: `Gate 'shop/freeze' is closed by alice: INC-42`. */
export function closedText(closed: ClosedGates): string {
  return mapClosed(closed, String, closedGateText).join('; ');
}

export function closedGateText(gate: GateResult): string {
  return isMissing(gate) ? gate.message : `Gate '${gate.key}' is ${closedPhrase(gate)}`;
}

/** `closed by alice: INC-42 (1.2.0 has 1 of 2 approvals)`; without a known user, `closed (Gate close requested)`. */
export function closedPhrase({ message, until, closedBy, missingApprovals, opensByApprovalsOnly }: GateResult): string {
  const approvals = missingApprovals
    ? (missingApprovals.names ?? missingApprovals.count)
    : opensByApprovalsOnly && 'it opens only by approvals, for one version of one Rollout';
  const details = [...(closedBy && until === undefined ? [] : [message]), ...(approvals ? [approvals] : [])].join('; ');
  return `${closedBy ? requestText(closedBy) : 'closed'}${details && ` (${details})`}`;
}

/** The commands that approve the version at the closed Gates with approvals. */
export function approveGateCommands(gates: readonly GateResult[]): CommandLine[] {
  return gates.flatMap(({ missingApprovals }) => (missingApprovals ? [missingApprovals.how] : []));
}
