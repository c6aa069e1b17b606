/** Whether all the Gates that an object requires let it through. */
import type { EpochMs, NamespacedName } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import { refKey } from '../kube/names.ts';
import { LIMITS } from '../limits.ts';
import type { GateRequest } from './acceptedRequests.ts';
import { closingOf, evaluateGate } from './evaluate.ts';
import { isTooMany } from './refs.ts';

/** A reason is anybody's text, and one message may name many gates. */
const MAX_ASKED = 120;

/** The sentence that stands for the Gates beyond the limit, which are not looked at. */
export const TOO_MANY_TEXT =
  `it requires more than ${LIMITS.requiredGates} Gates (those it names and those that select it) or follows more than ` +
  `${LIMITS.boundRollouts} Rollouts, which are the limits of one object, and counts as closed: name fewer`;

export interface JudgedGate {
  ref: NamespacedName;
  open: boolean;
  message: string;
  /** When the gate changes next by itself. */
  until?: EpochMs;
  missing?: boolean;
  /** Not a Gate, but the limit on how many are looked at; the message is the sentence. */
  isLimit?: boolean;
  /** Which closing it is: see closingOf. */
  closing?: string;
  /** Who closed it and why, where somebody did. */
  closedBy?: string;
  /** The request that opened it, where one did. */
  openedBy?: GateRequest;
}

export interface Judgement {
  open: boolean;
  /** Every gate in the way, not only the first. */
  closed: JudgedGate[];
  all: JudgedGate[];
}

/**
 * All must be open; an object that requires no gate is free. A missing gate counts as closed.
 * `version` is the tag a Rollout is about to deploy: an opening for that tag alone lets it through.
 */
export function judgeGates(
  refs: readonly NamespacedName[],
  find: (ref: NamespacedName) => Gate | undefined,
  now: EpochMs,
  version?: string,
): Judgement {
  const all = refs.map((ref) => judge(ref, find(ref), now, version));
  const closed = all.filter(({ open }) => !open);
  return { open: closed.length === 0, closed, all };
}

function judge(ref: NamespacedName, gate: Gate | undefined, now: EpochMs, version: string | undefined): JudgedGate {
  if (isTooMany(ref)) return { ref, open: false, message: TOO_MANY_TEXT, isLimit: true };
  if (!gate) {
    const message =
      `Gate '${ref.namespace}/${ref.name}' does not exist, and a missing gate counts as closed ` +
      '(a Kustomization must not require a Gate that it delivers itself)';
    return { ref, open: false, message, missing: true };
  }
  const evaluation = evaluateGate(gate, now);
  const { opened, openFor, message, until, cause } = evaluation;
  const closing = opened ? '' : closingOf(evaluation);
  const judged: JudgedGate = { ref, open: opened || (openFor !== undefined && openFor === version), message };
  if (until !== undefined) judged.until = until;
  if (closing) judged.closing = closing;
  if (judged.open && cause?.action === 'open') judged.openedBy = cause;
  if (!opened && cause?.action === 'close') judged.closedBy = askedBy(cause);
  return judged;
}

/** `closed by alice: INC-42`. */
export function askedBy({ action, by = 'somebody', reason }: GateRequest): string {
  const who = `${action === 'open' ? 'opened' : 'closed'} by ${by.slice(0, MAX_ASKED)}`;
  return reason ? `${who}: ${reason.slice(0, MAX_ASKED)}` : who;
}

/** Each closed Gate in a few words, for a condition that everybody in the namespace reads. */
export function closedText(closed: readonly JudgedGate[]): string {
  const texts = closed.map((gate) =>
    gate.missing || gate.isLimit ? gate.message : `gate '${refKey(gate.ref)}' is closed (${fullMessage(gate)})`,
  );
  return texts.join(', ');
}

/** What the gate says, and who closed it and why. */
export function fullMessage({ message, closedBy }: JudgedGate): string {
  return closedBy ? `${message}, ${closedBy}` : message;
}

/** Keys of the Gates that the reader of a sentence may read. */
export type Readable = ReadonlySet<string>;

/** The gates as a reader in `namespace` may see them: who closed a Gate of another namespace, and why, is for those who may read it. */
export function reveal(gates: JudgedGate[], namespace: string, readable: Readable = new Set()): JudgedGate[] {
  return gates.map((gate) => {
    if (!isSecret(gate, namespace) || readable.has(refKey(gate.ref))) return gate;
    const { closedBy: _, ...rest } = gate;
    return rest;
  });
}

/** Those for which that has to be asked. */
export function secrets(gates: readonly JudgedGate[], namespace: string): NamespacedName[] {
  return gates.filter((gate) => isSecret(gate, namespace)).map(({ ref }) => ref);
}

function isSecret({ ref, closedBy }: JudgedGate, namespace: string): boolean {
  return closedBy !== undefined && ref.namespace !== namespace;
}
