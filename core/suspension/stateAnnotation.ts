/**
 * The annotation `gate.fluxcd.io/state` has one of five forms:
 *
 * - `open`;
 * - `closed: ns/a,ns/b`: these Gates suspend the object;
 * - `opening: <time>`: the suspension waits for the applier's next apply; to the millisecond, because a Gate may open
 *   twice in one second;
 * - `bypassed: ns/a@<closing>`: a user bypassed the Gates, and the object runs behind them;
 * - `passing: ns/a@<closing>`: the object runs behind them for one deployment (bypassGrant.ts).
 */
import type { EpochMs, NamespacedName } from '../../api/kubernetes.ts';
import { BEYOND } from '../gate/gateRefs.ts';
import { refKey } from '../kube/names.ts';
import { formatInstant, parseTime } from '../kube/time.ts';

export type StateAnnotation =
  | { is: 'open' }
  | { is: 'opening'; since: EpochMs }
  | { is: 'closed' | 'bypassed' | 'passing'; gates: string[] };

/** Entry in the list of closed Gates for references that name no Gate. */
export const INVALID_REFERENCE = '(invalid)';

/** Limit for a list of closed Gates, in characters: the object's other annotations need room too. */
export const MAX_LIST = 16_384;

export function formatState(state: StateAnnotation): string {
  if (state.is === 'open') return state.is;
  if (state.is === 'opening') return `opening: ${formatInstant(state.since)}`;
  const list = [...state.gates].sort().join(',');
  // For a bypass every closing counts; for a hold the list only informs readers.
  return `${state.is}: ${state.is === 'closed' && list.length > MAX_LIST ? BEYOND : list}`;
}

/** The parsed annotation; undefined if it has another format. */
export function parseState(text: string | undefined): StateAnnotation | undefined {
  const [, is, rest = ''] = /^(open|opening|closed|bypassed|passing)(?:: (.*))?$/.exec(text ?? '') ?? [];
  if (is === 'open') return { is };
  if (is === 'closed' || is === 'bypassed' || is === 'passing')
    return { is, gates: rest.split(',').filter((ref) => ref !== '') };
  const since = parseTime(rest);
  return is === 'opening' && since !== undefined ? { is, since } : undefined;
}

/** A closed Gate in the state of a bypassed object, with its closing: a bypass is for one closing only. */
export function closingKey({ ref, closing }: { ref: NamespacedName; closing?: string | undefined }): string {
  return closing ? `${refKey(ref)}@${closing}` : refKey(ref);
}

/** Whether the bypass is for all the closings that are in force now; see `closingKey`. */
export function isBypassed(state: StateAnnotation | undefined, closings: readonly string[]): boolean {
  return state?.is === 'bypassed' && runsBehind(state, closings);
}

/** Whether the object runs in spite of all these closings, by its own bypass or by a deployment that bypasses them. */
export function runsBehind(state: StateAnnotation | undefined, closings: readonly string[]): boolean {
  if (state?.is !== 'bypassed' && state?.is !== 'passing') return false;
  // Beyond the limit these closings are not known: a bypass is only for the write that makes it.
  if (closings.includes(BEYOND)) return false;
  const bypassed = new Set(state.gates);
  return closings.every((closing) => bypassed.has(closing));
}
