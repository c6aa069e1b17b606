/**
 * Changes of the approval rule: of a field of `spec.approvals`, or of the Rollout that a RolloutGate is for. The
 * webhook records each change, and an Event reports it once.
 */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { ApprovalRule, ApprovalsStatus } from '../../api/types.ts';
import { type NewEvent, ORDER } from '../kube/events.ts';
import { formatTime, wholeSeconds } from '../kube/time.ts';
import { MAX_USER } from '../record/record.ts';
import { countOf } from '../text/count.ts';
import { boundedLine, shortened } from '../text/oneLine.ts';
import {
  type Approvable,
  type ApprovalRecord,
  type ApprovalWrite,
  type FieldChange,
  fieldName,
  type RuleChange,
} from './approvalRecord.ts';

/** Limits of a record. Changes before the last ten are already reported, or one user has made too many. */
const MAX_CHANGES = 10;
const MAX_FIELDS_IN_CHANGE = 16;
const MAX_VALUE_CHARACTERS = 80;
const MAX_PROGRESS_CHARACTERS = 160;
/**
 * The time for which a change is reported even if `status.approvals` already has it: any writer of the status can forge
 * that.
 */
const RECENT_MS = 60_000;
const REQUIRED = 'approvals.required';
const OWNERS = 'metadata.ownerReferences';

/** The record with the change that the write makes to the rule. An object's first rule is no change. */
export function withRuleChange(record: ApprovalRecord, { object, old, by, now }: ApprovalWrite): ApprovalRecord {
  const isRuled = old?.spec?.approvals || (object.spec?.approvals && record.changes.length > 0);
  const fields = old && isRuled ? changedFields(object, old) : [];
  if (fields.length === 0) return record;
  const progress = old?.status?.approvals?.progress;
  const change: RuleChange = {
    number: (record.changes.at(-1)?.number ?? 0) + 1,
    by: by.slice(0, MAX_USER),
    at: wholeSeconds(now),
    fields,
    ...(progress && { progress: boundedLine(progress, MAX_PROGRESS_CHARACTERS) }),
  };
  return { ...record, changes: [...record.changes, change].slice(-MAX_CHANGES) };
}

function changedFields(object: Approvable, before: Approvable): FieldChange[] {
  const [after, old] = [valuesOf(object), valuesOf(before)];
  const paths = [...new Set([...old.keys(), ...after.keys()])];
  return paths
    .filter((path) => (after.get(path) ?? '') !== (old.get(path) ?? ''))
    .slice(0, MAX_FIELDS_IN_CHANGE)
    .map((path) => {
      const [from, to] = [boundedValue(old.get(path)), boundedValue(after.get(path))];
      return { path, ...(from && { from }), ...(to && { to }) };
    });
}

/**
 * The values of the rule's fields, by their names. An empty and an absent list have the same value. Owners count too:
 * through an owner, the garbage collector deletes the object and its rule, in no user's name.
 */
function valuesOf({ spec, metadata }: Approvable): Map<string, string> {
  const { approvals = {} as ApprovalRule, rolloutRef } = spec ?? {};
  const rule = Object.entries(approvals).map(([key, value]) => [`approvals.${key}`, textOf(value)] as const);
  const owners = metadata.ownerReferences?.map(({ kind, name, uid }) => `${kind} ${name} (${uid})`) ?? [];
  return new Map([['rolloutRef.name', rolloutRef?.name ?? ''], ...rule, [OWNERS, owners.join(', ')]]);
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ');
  return typeof value === 'object' ? JSON.stringify(value ?? '') : String(value ?? '');
}

function boundedValue(text = ''): string {
  return boundedLine(shortened(text, MAX_VALUE_CHARACTERS), MAX_VALUE_CHARACTERS + 1);
}

/**
 * Warning Events for recorded changes that are not reported yet, and for a change that only the status shows, because
 * the webhook was down.
 */
export function ruleChangeEvents(
  before: ApprovalsStatus | undefined,
  required: number | undefined,
  { changes }: ApprovalRecord,
  now: EpochMs,
): NewEvent[] {
  const isNew = ({ number, at }: RuleChange) =>
    now - at < RECENT_MS || (before !== undefined && number > (before.changes ?? 0));
  const fresh = changes.filter(isNew);
  const isSeen = fresh.some(({ fields }) => fields.some(({ path }) => path === REQUIRED));
  const [from, to] = [before?.required, required];
  const unseen = before !== undefined && from !== to && !isSeen;
  return [...fresh.map(changeEvent), ...(unseen ? [unseenEvent(from, to)] : [])];
}

function changeEvent({ number, by, at, fields, progress }: RuleChange): NewEvent {
  const what = fields
    .map(({ path, from = 'none', to = 'none' }) => `${fieldName(path)} from ${from} to ${to}`)
    .join(', ');
  const waits = progress ? `; approvals until then: ${progress}` : '';
  return {
    ...CHANGED,
    message: `${by} changed ${what} at ${formatTime(at)}${waits}`,
    about: `${number} ${formatTime(at)}`,
    order: `${ORDER.changeOfRule}.${String(number).padStart(6, '0')}`,
  };
}

function unseenEvent(from: number | undefined, to: number | undefined): NewEvent {
  const what = `spec.${REQUIRED} changed from ${from ?? 'none'} to ${to ?? 'none'}`;
  return {
    ...CHANGED,
    message: `${what} while the webhook was down: user unknown`,
    about: `${from} ${to}`,
    order: ORDER.changeOfRule,
  };
}

/**
 * The Event of a deletion.
 * @param what the object: `RolloutGate 'prod'`
 * @param by the user; undefined if it is not known for sure
 */
export function deletionEvent(
  what: string,
  uid: string | undefined,
  { required }: ApprovalRule,
  status: ApprovalsStatus | undefined,
  by: string | undefined,
): NewEvent {
  const gate = `${what}, which required ${countOf(required, 'approval')}`;
  const waits = status?.progress
    ? `; approvals until then: ${boundedLine(status.progress, MAX_PROGRESS_CHARACTERS)}`
    : '';
  return {
    ...CHANGED,
    message:
      by === undefined
        ? `${gate}, was deleted${waits} (the webhook doesn't authenticate its callers, so the user is only in the API server's audit log)`
        : `${by} deleted ${gate}${waits}`,
    // If two users may have deleted it, both are reported.
    about: `deleted ${what} ${uid}${by === undefined ? '' : ` ${by}`}`,
  };
}

const CHANGED = { type: 'Warning', reason: 'ApprovalsChanged' } as const;
