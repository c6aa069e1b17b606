/** Whether the Gates that an object requires are open, why not, and how much of that a reader may see. */
import { OPENED } from '../../api/conditions.ts';
import type { EpochMs, NamespacedName } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import { findCondition } from '../kube/conditions.ts';
import { refKey } from '../kube/names.ts';
import { earliestTime, formatTime, parseTime } from '../kube/time.ts';
import { type GateApprovals, gateApprovals, type NextDeployment } from './gateApprovals.ts';
import { type GateRequest, targetsVersion } from './gateRequests.ts';
import { type CountingException, evaluateGate, exceptionChange, type GateEvaluation } from './gateTimeline.ts';

/** The most characters of a user's name or a reason in a message: any user can write a reason. */
const MAX_QUOTED_CHARACTERS = 120;

/** The closure of a Gate that doesn't exist: a bypass of it ends once the Gate is created as a closed one. */
export const ABSENCE = 'missing';

/** Whether the Gate does not exist. */
export function isMissing({ closure }: Pick<GateResult, 'closure'>): boolean {
  return closure === ABSENCE;
}

/** The state of one Gate for one object or deployment. */
export interface GateResult extends GateApprovals {
  /** The Gate, by `refKey`. */
  key: string;
  ref: NamespacedName;
  isOpen: boolean;
  message: string;
  /** The next change by itself; of a closed Gate, its opening, if need be for the version only. */
  until?: EpochMs | undefined;
  /** Identifies the closure: `closure` in core/gate/gateTimeline.ts. */
  closure?: string | undefined;
  /** The request that closed it, if one did. */
  closedBy?: GateRequest | undefined;
  /** The request that opened it, if one did. */
  openedBy?: GateRequest | undefined;
  opensByApprovalsOnly?: GateEvaluation['opensByApprovalsOnly'];
}

/**
 * Evaluates Gates; a missing Gate counts as closed.
 * @param gates the Gates that exist, by `refKey`
 * @param next the next deployment of a Rollout, for which openings for its version only, and its approvals, count
 */
export function evaluateGates(
  refs: readonly NamespacedName[],
  gates: ReadonlyMap<string, Gate>,
  now: EpochMs,
  next?: NextDeployment,
): GateResult[] {
  return refs.map((ref) => gateResult(ref, gates.get(refKey(ref)), now, next));
}

function gateResult(
  { namespace, name }: NamespacedName,
  gate: Gate | undefined,
  now: EpochMs,
  next: NextDeployment | undefined,
): GateResult {
  const ref = { namespace, name };
  const key = refKey(ref);
  if (!gate) {
    const message = `Gate '${key}' does not exist and counts as closed: create it`;
    return { key, ref, isOpen: false, message, closure: ABSENCE };
  }
  const evaluation = evaluateGate(gate, now);
  const { opened, openFor, message, until, closure, cause, opensByApprovalsOnly } = evaluation;
  const isForNext = next && evaluation.exception && targetsVersion(evaluation.exception.for, next);
  const exception = isForNext ? evaluation.exception : undefined;
  const passing = openFor === undefined ? undefined : exception;
  const isOpen = opened || passing !== undefined;
  const openedBy = passing ?? cause;
  // Approvals count while the Gate is closed, also beside an exception.
  const approvals = next && !opened ? gateApprovals(gate, next, now) : {};
  return {
    key,
    ref,
    isOpen: isOpen || approvals.approvedBy !== undefined,
    message: passing ? `Gate ${exceptionText(passing, now)}` : message,
    until: earliestTime([until, exception && exceptionChange(exception, now)]),
    closure,
    openedBy: isOpen && openedBy?.action === 'open' ? openedBy : undefined,
    closedBy: !isOpen && cause?.action === 'close' ? cause : undefined,
    opensByApprovalsOnly,
    ...approvals,
  };
}

/** `open for version '1.2.0' until 2026-01-05T11:00:00Z` */
function exceptionText({ for: version, at, until }: CountingException, now: EpochMs): string {
  const from = at > now ? ` from ${formatTime(at)}` : '';
  return `open for version '${version}'${from}${until === undefined ? '' : ` until ${formatTime(until)}`}`;
}

/** The text about the Gate's state; while the Gate is closed, with the exception. */
export function withException(text: string, { opened, exception }: GateEvaluation, now: EpochMs): string {
  return exception && !opened ? `${text}; ${exceptionText(exception, now)}, ${requestText(exception)}` : text;
}

/** The request as text: `closed by alice: INC-42`. */
export function requestText({ action, by = 'an unknown user', reason }: GateRequest): string {
  const who = `${action === 'open' ? 'opened' : 'closed'} by ${by.slice(0, MAX_QUOTED_CHARACTERS)}`;
  return reason ? `${who}: ${reason.slice(0, MAX_QUOTED_CHARACTERS)}` : who;
}

/** The Gate's message, the user who closed it, the reason, and the approvals that the version lacks. */
export function fullMessage({ message, closedBy, missingApprovals }: GateResult): string {
  const text = closedBy ? `${message}, ${requestText(closedBy)}` : message;
  return missingApprovals ? `${text}; ${missingApprovals.names ?? missingApprovals.count}` : text;
}

/** Keys of the Gates that the reader of a sentence may read. */
export type ReadableGates = ReadonlySet<string>;

/**
 * The Gates as a reader in `namespace` may see them. If the reader can't read a Gate of another namespace, the users
 * who closed it or approved on it are left out, and their reasons.
 */
export function redactFor(
  gates: readonly GateResult[],
  namespace: string,
  readable: ReadableGates = new Set(),
): GateResult[] {
  return gates.map((gate) => {
    if (!hasHiddenDetails(gate, namespace) || readable.has(gate.key)) return gate;
    const { closedBy: _, missingApprovals, ...rest } = gate;
    if (!missingApprovals) return rest;
    const { names: __, ...counts } = missingApprovals;
    return { ...rest, missingApprovals: counts };
  });
}

/** The Gates of which `redactFor` would hide something, unless a review shows that the reader may read them. */
export function hiddenGates(gates: readonly GateResult[], namespace: string): NamespacedName[] {
  return gates.flatMap((gate) => (hasHiddenDetails(gate, namespace) ? [gate.ref] : []));
}

function hasHiddenDetails({ ref, closedBy, missingApprovals }: GateResult, namespace: string): boolean {
  return (closedBy !== undefined || missingApprovals?.names !== undefined) && ref.namespace !== namespace;
}

/**
 * The time at which the Gate last opened or closed, by its own status: `now` if the status doesn't show that yet, 0
 * without the condition. Reports are delayed from this time, so that objects are suspended and resumed first.
 * @param opened whether the Gate is open now
 */
export function statusChangedAt(gate: Gate | undefined, opened: boolean, now: EpochMs): EpochMs {
  const shown = findCondition(gate?.status?.conditions, OPENED);
  if (!shown) return 0;
  return shown.status === (opened ? 'True' : 'False') ? (parseTime(shown.lastTransitionTime) ?? 0) : now;
}
