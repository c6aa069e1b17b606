/**
 * What the webhook makes of a write to a Gate or RolloutGate: the approval that it gives or takes back, and the record.
 *
 * The annotations that ask for it are taken off in the same write, so that the next person writes the same one. Whose
 * approval it is comes from admission alone. What a writer says in the record is ignored, and what a Git sync takes off
 * comes back.
 */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { ApprovalRule } from '../../api/types.ts';
import { firstFew } from '../kube/firstFew.ts';
import { isLegalTag } from '../kube/tag.ts';
import { formatTime, wholeSeconds } from '../kube/time.ts';
import { LIMITS } from '../limits.ts';
import { MAX_REASON, MAX_USER } from '../record/record.ts';
import { boundedLine } from '../text/oneLine.ts';
import { type Approval, type ApprovalRecord, parseApprovals } from './approvalRecord.ts';
import { isExpired, notAPerson } from './approvalVerdict.ts';

/** The length of a quoted value in a message. */
const MAX_VALUE = 128;
/** The length of a version and of a user in a Warning, which may have 120 characters. */
const MAX_NAME = 32;

/** The request of one write: values of annotations that it sets or changes. */
export interface ApprovalRequest {
  approve?: string | undefined;
  unapprove?: string | undefined;
  reason?: string | undefined;
}

/** Which version of which Rollout an annotation's value means; `problem` if none is meant. */
export type ApprovalTarget =
  | { version: string; rollout?: string; uid?: string | undefined; requesters: readonly string[] }
  | { problem: string };

export interface ApprovalAcceptance {
  record: ApprovalRecord;
  /** Why what is asked for is not done; a write of a person is denied with it. */
  problem?: string;
  /** Sentences of at most 120 characters. */
  warnings: string[];
}

/**
 * The values that this write sets.
 * A value that was stored before, perhaps while the webhook was down, is not a request.
 */
export function approvalRequestOf(
  annotations: Readonly<Record<string, string>> | undefined,
  before: Readonly<Record<string, string>> | undefined,
  keys: { approve: string; unapprove: string; reason: string },
): ApprovalRequest {
  const fresh = (key: string) => (annotations?.[key] === before?.[key] ? undefined : annotations?.[key]);
  return { approve: fresh(keys.approve), unapprove: fresh(keys.unapprove), reason: annotations?.[keys.reason] };
}

/** At most this many forged approvals are named, one sentence each. */
const NAMED_FORGERIES = 3;

/**
 * Warnings about text that the write puts into the record, or about an old request annotation: sentences.
 * A record that is taken off, as a Git sync does it, comes back without a word.
 */
export function droppedText(
  annotations: Readonly<Record<string, string>> | undefined,
  before: Readonly<Record<string, string>> | undefined,
  keys: { approve: string; record: string },
): string[] {
  const left = annotations?.[keys.approve];
  const stale =
    left !== undefined && left === before?.[keys.approve]
      ? [`not approved: ${keys.approve} existed before this write. It is removed; set it again to approve`]
      : [];
  const text = annotations?.[keys.record];
  const stored = before?.[keys.record];
  if (text === undefined || text === stored) return stale;
  const { given } = parseApprovals(stored);
  const forged = parseApprovals(text).given.filter((each) => !given.some((known) => isSame(known, each)));
  const named = forged.slice(0, NAMED_FORGERIES).map(({ version, by }) => {
    const [what, who] = [boundedLine(version, MAX_NAME), boundedLine(by, MAX_NAME)];
    return `ignored: you cannot record an approval for another user (${what}, ${who})`;
  });
  const more =
    forged.length > NAMED_FORGERIES
      ? [`ignored: ${forged.length - NAMED_FORGERIES} more approvals that no user gave`]
      : [];
  return [...stale, ...named, ...more, `${keys.record} is written by the webhook: your change of it is ignored`];
}

/**
 * The record after the write.
 * @param before the record as it is stored, without what has been revoked
 * @param target what the value of `approve` means; undefined if the write approves nothing, or the object requires no
 * approvals
 */
export function acceptApproval(
  { approve, unapprove, reason }: ApprovalRequest,
  before: ApprovalRecord,
  rule: ApprovalRule | undefined,
  by: string,
  target: ApprovalTarget | undefined,
  now: EpochMs,
): ApprovalAcceptance {
  if (!rule) {
    const asks = approve !== undefined || unapprove !== undefined;
    const problem = asks ? 'it has no spec.approvals, so no version needs approval' : undefined;
    return { record: { ...before, given: [] }, warnings: [], ...(problem && { problem }) };
  }
  const alive = before.given.filter((approval) => !isExpired(approval, rule, now));
  const kept = { ...before, given: alive };
  if (target) return withApproval(kept, rule, by, target, reason, now);
  if (unapprove !== undefined) return withoutApproval(kept, by, unapprove);
  return { record: kept, warnings: [] };
}

function withApproval(
  record: ApprovalRecord,
  rule: ApprovalRule,
  by: string,
  target: ApprovalTarget,
  reason: string | undefined,
  now: EpochMs,
): ApprovalAcceptance {
  const refuse = (problem: string): ApprovalAcceptance => ({ record, problem, warnings: [] });
  const stranger = notAPerson(by, rule);
  if (stranger !== undefined) return refuse(`${stranger}: this approval does not count`);
  if (by.length > MAX_USER) return refuse(`users with names longer than ${MAX_USER} characters cannot approve`);
  if ('problem' in target) return refuse(target.problem);
  const { version, rollout, uid, requesters } = target;
  const why = reasonOf(reason);
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
  const given = [...others, approval].slice(-LIMITS.approvals);
  const [dropped] = others.length < LIMITS.approvals ? [] : others;
  return {
    record: { ...record, given },
    warnings: [
      ...(earlier ? [`you approved ${version} at ${formatTime(earlier.at)} already: it counts once, from now`] : []),
      ...(requesters.includes(by) && rule.notBy?.includes('requester')
        ? [`you requested ${version}, so your approval does not count (spec.approvals.notBy)`]
        : []),
      ...(dropped
        ? [`more than ${LIMITS.approvals} approvals: the oldest, ${dropped.version} by ${dropped.by}, is dropped`]
        : []),
    ],
  };
}

/** `value`: a version, or `namespace/name:version` if it is of one Rollout only; it may be gone by now. */
function withoutApproval(record: ApprovalRecord, by: string, value: string): ApprovalAcceptance {
  const { version, rollout } = namedIn(value);
  const isMeant = (each: Approval) =>
    each.by === by && each.version === version && (rollout === undefined || each.rollout === rollout);
  const given = record.given.filter((each) => !isMeant(each));
  if (given.length < record.given.length) return { record: { ...record, given }, warnings: [] };
  const mine = record.given.filter((each) => each.by === by).map((each) => each.version);
  const have = mine.length > 0 ? `; you have approved ${firstFew(mine)}` : '';
  const quoted = JSON.stringify(value.slice(0, MAX_VALUE));
  const what = value === '' ? 'the annotation names no version' : `${by} has not approved ${quoted}`;
  return { record, problem: `${what}${have}`, warnings: [] };
}

/** The parts of `namespace/name:version`; a tag has neither slash nor colon. */
export function namedIn(value: string): { version: string; rollout?: string } {
  const colon = value.indexOf(':');
  return colon < 0 ? { version: value } : { rollout: value.slice(0, colon), version: value.slice(colon + 1) };
}

/** The version that a value names, discovered by this Rollout: an approval of a typo must not open anything later. */
export function versionProblem(version: string, isKnown: boolean, rollout: string): string | undefined {
  if (!isLegalTag(version)) return `${JSON.stringify(version.slice(0, 128))} is not a tag`;
  return isKnown
    ? undefined
    : `Rollout '${rollout}' has no release ${version}: approve it after its ImagePolicy has selected it`;
}

function isSame(a: Pick<Approval, 'version' | 'rollout' | 'by'>, b: Pick<Approval, 'version' | 'rollout' | 'by'>) {
  return a.version === b.version && a.rollout === b.rollout && a.by === b.by;
}

function reasonOf(text: string | undefined): string {
  return boundedLine(text ?? '', MAX_REASON);
}
