/**
 * `status.approvals` of a Gate or RolloutGate, and the Events of its changes.
 * Nothing decides from this status: approvals are evaluated anew for each decision.
 */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { ApprovalRule, ApprovalsStatus } from '../../api/types.ts';
import { type NewEvent, ORDER } from '../kube/events.ts';
import { earliestTime, formatTime, parseTime } from '../kube/time.ts';
import type { ApprovalRecord } from './approvalRecord.ts';
import { countText, type EvaluatedApproval, evaluateVersions, expiryOf, type VersionUsers } from './approvalVerdict.ts';
import { ruleChangeEvents } from './ruleChange.ts';

type VersionStatus = NonNullable<ApprovalsStatus['versions']>[number];
type GivenStatus = VersionStatus['given'][number];

/** The Rollout of a RolloutGate. */
interface ApprovedRollout {
  /** Returns the users behind a version. */
  usersBehind: (version: string) => VersionUsers | undefined;
  /** The pending version. */
  pending: string | undefined;
}

/**
 * The status, and the time until which it is valid; undefined if the object requires no approvals.
 * @param rollout absent for a Gate: each of its Rollouts excludes its own users, so whether a version has enough
 * approvals is not shown
 */
export function approvalsStatus(
  rule: ApprovalRule | undefined,
  record: ApprovalRecord,
  now: EpochMs,
  rollout?: ApprovedRollout,
): { status: ApprovalsStatus | undefined; until: EpochMs | undefined } {
  if (!rule) return { status: undefined, until: undefined };
  const evaluated = evaluateVersions(rule, record.given, now, rollout?.usersBehind);
  const isDecisive = rollout !== undefined || !rule.notBy?.length;
  const pending = rollout?.pending;
  const versions = evaluated.map(({ version, rollout, verdict: { counted, enough, given } }) => ({
    version,
    ...(rollout !== undefined && { rollout }),
    count: counted.length,
    ...(isDecisive && { enough }),
    given: given.map((each) => givenStatus(each, rule)),
  }));
  const shown = pending === undefined ? versions[0] : versions.find(({ version }) => version === pending);
  const version = shown?.version ?? pending;
  const count = `${shown?.count ?? 0}/${rule.required}`;
  const ends = evaluated.flatMap(({ verdict }) => verdict.until ?? []);
  const change = record.changes.at(-1);
  return {
    status: {
      required: rule.required,
      progress: version === undefined ? count : `${count} for ${version}`,
      ...(change && { changedBy: change.by, changedAt: formatTime(change.at), changes: change.number }),
      ...(versions.length > 0 && { versions }),
    },
    until: earliestTime(ends),
  };
}

function givenStatus(approval: EvaluatedApproval, rule: ApprovalRule): GivenStatus {
  const { by, at, reason, doesNotCount } = approval;
  const expires = expiryOf(approval, rule);
  return {
    by,
    at: formatTime(at),
    ...(reason && { reason }),
    ...(expires !== undefined && { expiresAt: formatTime(expires) }),
    ...(doesNotCount !== undefined && { doesNotCount }),
  };
}

/** The Events of the changes since the last status. */
export function approvalEvents(
  before: ApprovalsStatus | undefined,
  after: ApprovalsStatus | undefined,
  record: ApprovalRecord,
  now: EpochMs,
): NewEvent[] {
  const known = new Map(before?.versions?.map((each) => [keyOf(each), each]));
  const current = new Map(after?.versions?.map((each) => [keyOf(each), each]));
  return [
    ...ruleChangeEvents(before, after?.required, record, now),
    ...[...current.values()].flatMap((each) => givenEvents(known.get(keyOf(each)), each, after!.required)),
    ...(after ? [...known.values()].flatMap((each) => goneEvents(each, current.get(keyOf(each)), now)) : []),
  ];
}

function givenEvents(before: VersionStatus | undefined, after: VersionStatus, required: number): NewEvent[] {
  const what = titleOf(after);
  const known = new Set(before?.given.map(idOf));
  const fresh = after.given.filter((each) => !known.has(idOf(each)));
  const events = fresh.map(({ by, at, reason, doesNotCount }): NewEvent => {
    const why = reason ? `: ${reason}` : '';
    const aside = doesNotCount ? ` (doesn't count: ${doesNotCount})` : '';
    const count = countText(after.count ?? 0, required);
    return {
      type: 'Normal',
      reason: 'Approved',
      message: `${what} is approved by ${by}${aside}${why} (${count})`,
      about: `${what} ${by} ${at}`,
      order: ORDER.approval,
    };
  });
  if (!after.enough || before?.enough) return events;
  const counted = after.given.filter(({ doesNotCount }) => !doesNotCount);
  const names = counted.map(({ by }) => by).join(', ');
  const message = `${what} has ${countText(after.count ?? 0, required)}: ${names}`;
  const about = `${what} ${counted.map(idOf).join(' ')}`;
  return [...events, { type: 'Normal', reason: 'ApprovalsComplete', message, about, order: ORDER.enoughApprovals }];
}

function goneEvents(before: VersionStatus, after: VersionStatus | undefined, now: EpochMs): NewEvent[] {
  const users = new Set(after?.given.map(({ by }) => by));
  const gone = before.given.filter(({ by }) => !users.has(by));
  return gone.map(({ by, at, expiresAt }) => {
    const isOver = (parseTime(expiresAt) ?? Number.POSITIVE_INFINITY) <= now;
    const how = isOver ? 'has expired' : 'no longer counts: it was withdrawn, revoked or dropped';
    return {
      type: 'Normal',
      reason: isOver ? 'ApprovalExpired' : 'ApprovalWithdrawn',
      message: `The approval of ${titleOf(before)} by ${by} ${how}`,
      about: `${titleOf(before)} ${by} ${at}`,
      order: ORDER.approval,
    };
  });
}

function titleOf({ version, rollout }: VersionStatus): string {
  return rollout === undefined ? version : `${version} of Rollout '${rollout}'`;
}

function keyOf({ version, rollout = '' }: VersionStatus): string {
  return `${rollout}:${version}`;
}

function idOf({ by, at }: GivenStatus): string {
  return `${by} ${at}`;
}
