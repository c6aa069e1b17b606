/**
 * The approval that a write of a Gate or RolloutGate gives or withdraws, and the record after that write.
 * The webhook removes the request annotations in the same write, so that the next user can set the same one. The
 * approver is the user of the admission request. Changes of the record by a writer are ignored, and a record that a Git
 * sync removes is restored.
 */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { ApprovalRule } from '../../api/types.ts';
import { goJsonBytes, sameJson } from '../kube/json.ts';
import { isLegalTag } from '../kube/tag.ts';
import { formatTime, wholeSeconds } from '../kube/time.ts';
import { isServiceAccount } from '../kube/users.ts';
import { LIMITS } from '../limits.ts';
import { MAX_USER } from '../record/record.ts';
import type { TextWithCommands } from '../text/commands.ts';
import { firstFew } from '../text/firstFew.ts';
import { boundedLine, inWarning } from '../text/oneLine.ts';
import {
  type Approval,
  type ApprovalRecord,
  type ApprovalWrite,
  formatApprovals,
  parseApprovals,
  splitTarget,
} from './approvalRecord.ts';
import { isExpired, ruleProblem, whyIneligible } from './approvalVerdict.ts';
import { withRuleChange } from './ruleChange.ts';

/** The version of a Rollout that an annotation's value names; `problem` if it names none. */
export type ApprovalTarget =
  | {
      version: string;
      rollout?: string;
      uid?: string | undefined;
      requesters: readonly string[];
      /** A Warning for the approver, if the value could have meant another Rollout. */
      warning?: string;
    }
  | { problem: string };

const NAMES_NO_VERSION = 'the annotation names no version';

/**
 * The problem of a version that isn't a tag, or not a release of the Rollouts: a typo must not be approved in advance.
 */
export function unknownVersion(version: string, rollouts: readonly string[]): string {
  if (version === '') return NAMES_NO_VERSION;
  if (!isLegalTag(version)) return `${quoted(version)} is not a tag`;
  const missing =
    rollouts.length === 1
      ? `Rollout '${rollouts[0]}' has no release ${version}`
      : `none of the Rollouts ${firstFew(rollouts)} has release ${version}`;
  return `${missing}. Approve the version once an ImagePolicy has selected it`;
}

/** The result of a write of approvals: the annotations to store, or the denial. */
export interface ApprovalsWritten {
  /** The annotations of the keys to store. */
  annotations: Record<string, string | undefined>;
  /** Sentences with the important words first: responseOf cuts them at 120 characters. */
  warnings: string[];
  /** Why the write is denied. */
  problem?: TextWithCommands;
}

/**
 * The value of `keys.approve` that the write sets or changes; undefined if it sets none, or if the object requires no
 * approvals.
 */
export function approvedValue(write: ApprovalWrite): string | undefined {
  return write.object.spec?.approvals && changedValue(write, write.keys.approve);
}

/**
 * The approvals of the object after the write.
 * A ServiceAccount's write is never denied for its approvals, because that would stop a Git sync.
 * @param stored the record before the write, without revoked approvals
 * @param target what `approvedValue` names; undefined if that is undefined
 */
export function acceptApproval(
  write: ApprovalWrite,
  stored: ApprovalRecord,
  target: ApprovalTarget | undefined,
): ApprovalsWritten {
  const { object, old, keys, by } = write;
  const { record, failure, warnings } = acceptedRecord(write, withRuleChange(stored, write), target);
  const isByServiceAccount = isServiceAccount(by);
  const annotations = {
    [keys.approve]: undefined,
    [keys.unapprove]: undefined,
    [keys.reason]: undefined,
    [keys.record]: formatApprovals(record),
  };
  const [rule, oldRule] = [object.spec?.approvals, old?.spec?.approvals];
  const invalid = rule && !sameJson(rule, oldRule) ? ruleProblem(rule) : undefined;
  const problem = invalid ?? (isByServiceAccount ? undefined : failure);
  const ignored = failure !== undefined && isByServiceAccount ? [failure] : [];
  return {
    annotations,
    warnings: [...ignored, ...warnings, ...droppedTextWarnings(write)],
    ...(problem !== undefined && { problem: { text: `${problem}.` } }),
  };
}

/**
 * The text that the write sets or changes; undefined if it is unchanged, even if it was stored while the webhook was
 * down.
 */
function changedValue({ object, old }: ApprovalWrite, key: string): string | undefined {
  const value = object.metadata.annotations?.[key];
  return value === old?.metadata.annotations?.[key] ? undefined : value;
}

/** The most forged approvals with a Warning of their own. */
const FORGERIES_IN_WARNINGS = 3;

/**
 * Warnings about text that the webhook drops from the write: forged approvals in the record, or an old request. There
 * is none for a removed record, since Git syncs remove it.
 */
function droppedTextWarnings({ object, old, keys }: ApprovalWrite): string[] {
  const [annotations, before] = [object.metadata.annotations, old?.metadata.annotations];
  const isOld = (key: string) => annotations?.[key] !== undefined && annotations[key] === before?.[key];
  const stale = [
    ...(isOld(keys.approve) ? [`approval ${notRecorded(keys.approve)}`] : []),
    ...(isOld(keys.unapprove) ? [`withdrawal ${notRecorded(keys.unapprove)}`] : []),
  ];
  const text = annotations?.[keys.record];
  const stored = before?.[keys.record];
  if (text === undefined || text === stored) return stale;
  const { given } = parseApprovals(stored);
  const forged = parseApprovals(text).given.filter((each) => !given.some((known) => isSame(known, each)));
  const named = forged.slice(0, FORGERIES_IN_WARNINGS).map(({ version, by }) => {
    const [what, who] = [inWarning(version), inWarning(by)];
    return `ignored: you cannot record an approval for another user (${what}, ${who})`;
  });
  const more =
    forged.length > FORGERIES_IN_WARNINGS
      ? [`ignored: ${forged.length - FORGERIES_IN_WARNINGS} more approvals for other users`]
      : [];
  return [...stale, ...named, ...more];
}

const notRecorded = (key: string) => `not recorded: ${key} had this value already and was removed. Set it again`;

interface Accepted {
  record: ApprovalRecord;
  /** Why the request has no effect: `not withdrawn: bob has not approved "1.2.0"`. */
  failure?: string;
  warnings: string[];
}

function acceptedRecord(write: ApprovalWrite, before: ApprovalRecord, target: ApprovalTarget | undefined): Accepted {
  const { object, keys, by, now } = write;
  const unapprove = changedValue(write, keys.unapprove);
  const rule = object.spec?.approvals;
  if (!rule) {
    const approves = changedValue(write, keys.approve) !== undefined;
    const failure = `not ${approves ? 'approved' : 'withdrawn'}: without spec.approvals, no version needs approval`;
    return {
      record: { ...before, given: [] },
      warnings: [],
      ...((approves || unapprove !== undefined) && { failure }),
    };
  }
  const kept = { ...before, given: before.given.filter((approval) => !isExpired(approval, rule, now)) };
  const withdrawn = unapprove === undefined ? { record: kept, warnings: [] } : withoutApproval(kept, by, unapprove);
  if (!target || withdrawn.failure !== undefined) return withdrawn;
  return withApproval(withdrawn.record, rule, by, target, object.metadata.annotations?.[keys.reason], now);
}

function withApproval(
  record: ApprovalRecord,
  rule: ApprovalRule,
  by: string,
  target: ApprovalTarget,
  reason: string | undefined,
  now: EpochMs,
): Accepted {
  const reject = (problem: string): Accepted => ({ record, failure: `not approved: ${problem}`, warnings: [] });
  const ineligible = whyIneligible(by, rule);
  if (ineligible !== undefined) return reject(ineligible);
  if (by.length > MAX_USER) return reject(`users with names longer than ${MAX_USER} characters cannot approve`);
  if ('problem' in target) return reject(target.problem);
  const { version, rollout, uid, requesters, warning } = target;
  const why = boundedLine(reason ?? '', LIMITS.reason);
  const shown = inWarning(version);
  const approval: Approval = {
    version,
    ...(rollout !== undefined && { rollout }),
    ...(uid !== undefined && { uid }),
    by,
    at: wholeSeconds(now),
    ...(why && { reason: why }),
  };
  const earlier = record.given.find((each) => isSame(each, approval) && each.uid === uid);
  const others = record.given.filter((each) => !isSame(each, approval));
  const { given, dropped } = withinLimits(others, approval);
  return {
    record: { ...record, given },
    warnings: [
      ...(warning === undefined ? [] : [warning]),
      ...(earlier
        ? [`you approved ${shown} before, at ${formatTime(earlier.at)}: this approval replaces that one`]
        : []),
      ...(requesters.includes(by) && rule.notBy?.includes('requester')
        ? [`you requested ${shown}, so your approval does not count (spec.approvals.notBy)`]
        : []),
      ...droppedWarning(dropped),
    ],
  };
}

/**
 * The approvals that the record keeps, and those that it drops for a new one: the oldest of the user whose approvals
 * take the most bytes. Otherwise one user could approve so many versions that others' approvals are dropped or find no
 * room.
 */
function withinLimits(others: readonly Approval[], approval: Approval): { given: Approval[]; dropped: Approval[] } {
  const given = [...others, approval];
  const bytes = new Map(given.map((each) => [each, goJsonBytes(formatApprovals({ given: [each], changes: [] }))]));
  const bytesBy = new Map<string, number>();
  for (const [{ by }, size] of bytes) bytesBy.set(by, (bytesBy.get(by) ?? 0) + size);
  let total = [...bytesBy.values()].reduce((sum, size) => sum + size, 0);
  const dropped: Approval[] = [];
  while (given.length > 1 && (given.length > LIMITS.approvals || total > LIMITS.approvalBytes)) {
    const most = Math.max(...given.slice(0, -1).map(({ by }) => bytesBy.get(by)!));
    const [oldest] = given.splice(
      given.findIndex(({ by }) => bytesBy.get(by) === most),
      1,
    );
    const size = bytes.get(oldest!)!;
    bytesBy.set(oldest!.by, most - size);
    total -= size;
    dropped.push(oldest!);
  }
  return { given, dropped };
}

function droppedWarning([first, ...more]: readonly Approval[]): string[] {
  if (!first) return [];
  const others = more.length > 0 ? ` (and ${more.length} more)` : '';
  const [by, version] = [inWarning(first.by), inWarning(first.version)];
  return [`the record is full: removed the oldest approval, of ${version} by ${by}${others}`];
}

/** The record without this user's approval of `value`: a version, or `namespace/name:version` for one Rollout. */
function withoutApproval(record: ApprovalRecord, by: string, value: string): Accepted {
  const { version, rollout } = splitTarget(value);
  const isWithdrawn = (each: Approval) =>
    each.by === by && each.version === version && (rollout === undefined || each.rollout === rollout);
  const given = record.given.filter((each) => !isWithdrawn(each));
  if (given.length < record.given.length) return { record: { ...record, given }, warnings: [] };
  const mine = record.given.filter((each) => each.by === by).map((each) => each.version);
  const have = mine.length > 0 ? `; you have approved ${firstFew(mine)}` : '';
  const what = value === '' ? NAMES_NO_VERSION : `${by} has not approved ${quoted(value)}`;
  return { record, failure: `not withdrawn: ${what}${have}`, warnings: [] };
}

const MAX_QUOTED = 128;

/** The value of an annotation, quoted for a denial. */
function quoted(value: string): string {
  return JSON.stringify(value.slice(0, MAX_QUOTED));
}

function isSame(a: Pick<Approval, 'version' | 'rollout' | 'by'>, b: Pick<Approval, 'version' | 'rollout' | 'by'>) {
  return a.version === b.version && a.rollout === b.rollout && a.by === b.by;
}
