/**
 * The annotation `gate.fluxcd.io/state`: `open`, `closed: ns/a,ns/b`; `opening: <time>` while a suspension waits for
 * the applier's next apply, to the millisecond (a gate may open twice in one second); `bypassed: ns/a@<closing>` if the
 * gates were bypassed and the object runs behind them; `passing: ns/a@<closing>` while it runs behind them for one
 * deployment (bypassGrant.ts).
 */
import type { EpochMs, NamespacedName } from '../../api/kubernetes.ts';
import { BEYOND } from '../gate/gateRefs.ts';
import { refKey } from '../kube/names.ts';
import { formatInstant, parseTime } from '../kube/time.ts';

export type StateAnnotation =
  | { is: 'open' }
  | { is: 'opening'; since: EpochMs }
  | { is: 'closed' | 'bypassed' | 'passing'; gates: string[] };

/** Stands in the list of closed gates for references that name no Gate. */
export const INVALID_REFERENCE = '(invalid)';

/** Characters of a list of closed gates: the object's other annotations need room too. */
export const MAX_LIST = 16_384;

export function formatState(state: StateAnnotation): string {
  if (state.is === 'open') return state.is;
  if (state.is === 'opening') return `opening: ${formatInstant(state.since)}`;
  const list = [...state.gates].sort().join(',');
  // For a bypass every closing counts; for a hold the list only informs readers.
  return `${state.is}: ${state.is === 'closed' && list.length > MAX_LIST ? BEYOND : list}`;
}

/** undefined when the text is not ours. */
export function parseState(text: string | undefined): StateAnnotation | undefined {
  const [, is, rest = ''] = /^(open|opening|closed|bypassed|passing)(?:: (.*))?$/.exec(text ?? '') ?? [];
  if (is === 'open') return { is };
  if (is === 'closed' || is === 'bypassed' || is === 'passing')
    return { is, gates: rest.split(',').filter((ref) => ref !== '') };
  const since = parseTime(rest);
  return is === 'opening' && since !== undefined ? { is, since } : undefined;
}

/**
 * A closed gate as the state of a bypassed object names it: the bypass counts for this closing, and not for the next.
 */
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
  // Beyond the limit it is not known which closings those are: a bypass is for the write that makes it, and no other.
  if (closings.includes(BEYOND)) return false;
  const bypassed = new Set(state.gates);
  return closings.every((closing) => bypassed.has(closing));
}
