/** Annotations with our prefixes that mean nothing on the object: misspelt, they request, hold and set nothing. */
import {
  ACCEPTED_REQUEST,
  APPROVALS,
  APPROVE,
  APPROVE_FOR,
  APPROVE_FOR_REASON,
  APPROVE_REASON,
  BOUND_ROLLOUT,
  BYPASS_FOR,
  BYPASS_REASON,
  BYPASSED_BY,
  BYPASSED_GATES,
  CLOSE_REASON,
  CLOSE_REQUESTED_AT,
  CONTINUE,
  CONTINUE_REQUEST,
  GATE_APPROVALS,
  LISTED,
  ONE_SHOT,
  OPEN_FOR,
  OPEN_REASON,
  OPEN_REQUESTED_AT,
  PIN_RECORD,
  REASON,
  REQUEST,
  REQUIRED_GATES,
  SCHEDULED_BY,
  SUBSTITUTE,
  SUBSTITUTE_FROM,
  UNAPPROVE,
  UNAPPROVE_FOR,
  UNCOUNTED_ON_FLUX_OBJECTS,
  USED_CALLS,
} from '../../api/annotations.ts';
import type { AnyObject } from '../../api/kubernetes.ts';

const ON_FLUX_OBJECTS: ReadonlySet<string> = new Set([
  ...UNCOUNTED_ON_FLUX_OBJECTS,
  BOUND_ROLLOUT,
  REQUIRED_GATES,
  SUBSTITUTE,
]);
const ON_BUDGETS: ReadonlySet<string> = new Set([CONTINUE, CONTINUE_REQUEST]);
const KNOWN: Readonly<Record<string, ReadonlySet<string>>> = {
  Rollout: new Set([...ONE_SHOT, REASON, REQUEST, PIN_RECORD, BYPASS_REASON, BYPASS_FOR, BYPASSED_BY, BYPASSED_GATES]),
  RolloutGate: new Set([APPROVE, APPROVE_REASON, UNAPPROVE, APPROVALS, REASON, LISTED]),
  Gate: new Set([
    ...[OPEN_REQUESTED_AT, OPEN_REASON, OPEN_FOR, CLOSE_REQUESTED_AT, CLOSE_REASON, ACCEPTED_REQUEST, USED_CALLS],
    ...[APPROVE_FOR, APPROVE_FOR_REASON, UNAPPROVE_FOR, GATE_APPROVALS],
    ...[REASON, SCHEDULED_BY, BYPASS_REASON, BYPASSED_BY],
  ]),
  RolloutBudget: ON_BUDGETS,
  ClusterRolloutBudget: ON_BUDGETS,
};

/** Keys with our prefixes, among them those of requests, such as `open.gate.fluxcd.io/`. */
const OURS = /^(?:rollout\.kuberik\.com|(?:[a-z]{1,20}\.)?gate\.fluxcd\.io)\//;

/** The annotations with our prefixes that mean nothing on an object of this kind; any other kind is Flux's. */
export function unknownAnnotations({ kind, metadata }: AnyObject): string[] {
  const known = KNOWN[kind] ?? ON_FLUX_OBJECTS;
  const isKnown = (key: string) => known.has(key) || (known === ON_FLUX_OBJECTS && SUBSTITUTE_FROM.test(key));
  return Object.keys(metadata.annotations ?? {}).filter((key) => OURS.test(key) && !isKnown(key));
}

const MAX_WARNINGS = 3;

/** The Warnings about unknown annotations that a write adds. */
export function unknownAnnotationWarnings(object: AnyObject, old: AnyObject | undefined): string[] {
  const before = old?.metadata.annotations ?? {};
  return unknownAnnotations(object)
    .filter((key) => before[key] === undefined)
    .slice(0, MAX_WARNINGS)
    .map((key) => `annotation ${key} has no effect here: is it a typo?`);
}
