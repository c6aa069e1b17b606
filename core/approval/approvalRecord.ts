/**
 * The record of approvals on a Gate or RolloutGate: JSON in an annotation that only the webhook writes. Also the types
 * of such an object and of a write of it.
 */
import {
  APPROVALS,
  APPROVE,
  APPROVE_FOR,
  APPROVE_FOR_REASON,
  APPROVE_REASON,
  GATE_APPROVALS,
  UNAPPROVE,
  UNAPPROVE_FOR,
} from '../../api/annotations.ts';
import type { EpochMs, KubeObject } from '../../api/kubernetes.ts';
import type { ApprovalRule, ApprovalsStatus } from '../../api/types.ts';
import { formatTime } from '../kube/time.ts';
import { LIMITS } from '../limits.ts';
import { type ChangedBy, changedByOf, type Entry, parseRecord, storedEntry, textsOf } from '../record/record.ts';

/** The annotations of approvals, by the kind that requires them. */
export const APPROVAL_KEYS = {
  Gate: { approve: APPROVE_FOR, unapprove: UNAPPROVE_FOR, reason: APPROVE_FOR_REASON, record: GATE_APPROVALS },
  RolloutGate: { approve: APPROVE, unapprove: UNAPPROVE, reason: APPROVE_REASON, record: APPROVALS },
} as const;

export type ApprovalKeys = (typeof APPROVAL_KEYS)[keyof typeof APPROVAL_KEYS];

/** A Gate or RolloutGate; only a RolloutGate has `rolloutRef`. */
export interface Approvable
  extends KubeObject<
    { approvals?: ApprovalRule | undefined; rolloutRef?: { name?: string } | undefined },
    { approvals?: ApprovalsStatus }
  > {}

/** A write of a Gate or RolloutGate. */
export interface ApprovalWrite {
  object: Approvable;
  old: Approvable | undefined;
  keys: ApprovalKeys;
  /** The authenticated user. */
  by: string;
  now: EpochMs;
}

/** The approval of one version by one user. */
export interface Approval extends ChangedBy {
  version: string;
  /** The Rollout of the version, `namespace/name`; only on a Gate, because a RolloutGate has one Rollout. */
  rollout?: string;
  /** The uid of that Rollout: a new Rollout with its name, perhaps another user's, has no approvals. */
  uid?: string;
}

/** The parts of `namespace/name:version`, the version of one Rollout; a tag has neither slash nor colon. */
export function splitTarget(value: string): { version: string; rollout?: string } {
  const colon = value.indexOf(':');
  return colon < 0 ? { version: value } : { rollout: value.slice(0, colon), version: value.slice(colon + 1) };
}

/** A changed field, with its values as text; a value is absent if the field was absent or empty. */
export interface FieldChange {
  /** The path below the spec, such as `approvals.required`; or `metadata.ownerReferences`. */
  path: string;
  from?: string;
  to?: string;
}

/** The name of a changed field, from the object's root. */
export function fieldName(path: string): string {
  return path.startsWith('metadata.') ? path : `spec.${path}`;
}

/** One change of the approval rule. */
export interface RuleChange {
  /** The number of the change, from 1. */
  number: number;
  /** The authenticated user. */
  by: string;
  at: EpochMs;
  fields: FieldChange[];
  /** The approvals before the change, such as `1/2 for 1.2.0`. */
  progress?: string;
}

/** The record of approvals on one Gate or RolloutGate, which only the webhook writes. */
export interface ApprovalRecord {
  /** Oldest first. */
  given: Approval[];
  /** The last changes of the rule, oldest first. */
  changes: RuleChange[];
}

/** The text of a record; equal records have equal texts. undefined if the record is empty. */
export function formatApprovals({ given, changes }: ApprovalRecord): string | undefined {
  if (given.length === 0 && changes.length === 0) return undefined;
  return JSON.stringify({
    given: given.map(({ version, rollout, uid, by, at, reason }) => ({
      version,
      rollout,
      uid,
      by,
      at: formatTime(at),
      reason,
    })),
    ...(changes.length > 0 && { changes: changes.map(storedEntry) }),
  });
}

/** The record of approvals on a Gate or RolloutGate. */
export function recordedOn(object: Pick<KubeObject, 'metadata'> | undefined, keys: ApprovalKeys): ApprovalRecord {
  return parseApprovals(object?.metadata.annotations?.[keys.record]);
}

/** The record in a text, without entries that the webhook did not write. */
export function parseApprovals(text: string | undefined): ApprovalRecord {
  const { given, changes = [] } = (parseRecord(text) ?? {}) as Record<string, unknown>;
  if (!Array.isArray(given) || !Array.isArray(changes)) return { given: [], changes: [] };
  return { given: given.flatMap(approvalOf).slice(-LIMITS.approvals), changes: changes.flatMap(changeOf) };
}

function approvalOf(entry: Entry): Approval[] {
  const changed = changedByOf(entry);
  const { version, ...rest } = textsOf(entry, 'version', 'rollout', 'uid');
  return version === undefined || !changed ? [] : [{ version, ...rest, ...changed }];
}

function changeOf(entry: Entry): RuleChange[] {
  const changed = changedByOf(entry);
  const { number, fields } = entry ?? {};
  if (!changed || typeof number !== 'number' || !Array.isArray(fields)) return [];
  const { by, at } = changed;
  return [{ number, by, at, fields: fields.flatMap(fieldOf), ...textsOf(entry, 'progress') }];
}

function fieldOf(entry: Entry): FieldChange[] {
  const { path, ...values } = textsOf(entry, 'path', 'from', 'to');
  return path === undefined ? [] : [{ path, ...values }];
}
