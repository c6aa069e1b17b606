/**
 * `status.approvals` of a Gate or RolloutGate, and the Events of its changes.
 * Whether a version may be deployed is evaluated each time, not read from here.
 */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { ApprovalRule, ApprovalsStatus } from '../../api/types.ts';
import type { NewEvent } from '../kube/events.ts';
import { formatTime, parseTime } from '../kube/time.ts';
import type { Approval, ApprovalRecord } from './approvalRecord.ts';
import { type ApprovalVerdict, type Background, countText, evaluateApprovals, expiryOf } from './approvalVerdict.ts';
import { ruleChangeEvents } from './ruleChange.ts';

type VersionStatus = NonNullable<ApprovalsStatus['versions']>[number];
type GivenStatus = VersionStatus['given'][number];

/** Who is behind a version; undefined if that is not known to a Gate of many Rollouts. */
type BackgroundOf = (version: string) => Background | undefined;

/** undefined if nothing asks for approvals. `pending`: the version that waits. */
export function approvalsStatus(
  rule: ApprovalRule | undefined,
  record: ApprovalRecord,
  backgroundOf: BackgroundOf,
  pending: string | undefined,
  now: EpochMs,
): { status: ApprovalsStatus | undefined; until: EpochMs | undefined } {
  if (!rule) return { status: undefined, until: undefined };
  const byVersion = Map.groupBy(record.given, ({ version, rollout = '' }) => `${rollout}:${version}`);
  const newestFirst = [...byVersion.values()].sort((a, b) => b.at(-1)!.at - a.at(-1)!.at);
  const evaluated = newestFirst.map((given) => ({
    given,
    verdict: evaluateApprovals(rule, given, backgroundOf(given[0]!.version), now),
  }));
  const alive = evaluated.filter(({ verdict }) => verdict.counted.length + verdict.excluded.length > 0);
  const versions = alive.map(({ given, verdict }) => versionStatus(given[0]!, verdict, rule));
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
    until: ends.length > 0 ? Math.min(...ends) : undefined,
  };
}

function versionStatus(
  { version, rollout }: Approval,
  { counted, excluded, enough }: ApprovalVerdict,
  rule: ApprovalRule,
): VersionStatus {
  const all = [
    ...counted.map((approval) => ({ approval, why: undefined })),
    ...excluded.map(({ approval, why }) => ({ approval, why })),
  ];
  return {
    version,
    ...(rollout !== undefined && { rollout }),
    count: counted.length,
    enough,
    given: all.sort((a, b) => a.approval.at - b.approval.at).map(({ approval, why }) => given(approval, rule, why)),
  };
}

function given(approval: Approval, rule: ApprovalRule, why: string | undefined): GivenStatus {
  const expires = expiryOf(approval, rule);
  return {
    by: approval.by,
    at: formatTime(approval.at),
    ...(approval.reason && { reason: approval.reason }),
    ...(expires !== undefined && { expiresAt: formatTime(expires) }),
    ...(why !== undefined && { doesNotCount: why }),
  };
}

/** What has changed since the status before. */
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
    const aside = doesNotCount ? `, who ${doesNotCount} and does not count` : '';
    const count = countText(after.count ?? 0, required);
    return {
      type: 'Normal',
      reason: 'Approved',
      message: `${what} is approved by ${by}${aside}${why} (${count})`,
      about: `${what} ${by} ${at}`,
      order: 'b',
    };
  });
  if (!after.enough || before?.enough) return events;
  const counted = after.given.filter(({ doesNotCount }) => !doesNotCount);
  const names = counted.map(({ by }) => by).join(', ');
  const message = `${what} has ${countText(after.count ?? 0, required)}: ${names}`;
  const about = `${what} ${counted.map(idOf).join(' ')}`;
  return [...events, { type: 'Normal', reason: 'ApprovalsComplete', message, about, order: 'c' }];
}

function goneEvents(before: VersionStatus, after: VersionStatus | undefined, now: EpochMs): NewEvent[] {
  const people = new Set(after?.given.map(({ by }) => by));
  const gone = before.given.filter(({ by }) => !people.has(by));
  return gone.map(({ by, at, expiresAt }) => {
    const isOver = (parseTime(expiresAt) ?? Number.POSITIVE_INFINITY) <= now;
    const how = isOver ? 'has expired' : 'no longer counts: it was withdrawn, revoked or dropped';
    return {
      type: 'Normal',
      reason: isOver ? 'ApprovalExpired' : 'ApprovalWithdrawn',
      message: `The approval of ${titleOf(before)} by ${by} ${how}`,
      about: `${titleOf(before)} ${by} ${at}`,
      order: 'b',
    };
  });
}

function titleOf({ version, rollout }: VersionStatus): string {
  return rollout === undefined ? version : `${version} of Rollout ${rollout}`;
}

function keyOf({ version, rollout = '' }: VersionStatus): string {
  return `${rollout}:${version}`;
}

function idOf({ by, at }: GivenStatus): string {
  return `${by} ${at}`;
}
