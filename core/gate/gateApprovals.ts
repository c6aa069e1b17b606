/**
 * The approvals on a Gate with `spec.approvals`, which open it for one version of one Rollout.
 * A request to close revokes the approvals that were given before it; a request to open only ends a closure.
 */
import { APPROVE_FOR } from '../../api/annotations.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import { APPROVAL_KEYS, type Approval, type ApprovalRecord, recordedOn } from '../approval/approvalRecord.ts';
import {
  type ApprovalVerdict,
  countText,
  evaluateApprovals,
  type VersionUsers,
  verdictText,
} from '../approval/approvalVerdict.ts';
import { identityOf } from '../kube/names.ts';
import { tagWord } from '../kube/tag.ts';
import type { CommandLine } from '../text/commands.ts';
import { shell } from '../text/shell.ts';
import { type GateRequest, gateRequestsOf } from './gateRequests.ts';

/** The next deployment of a Rollout, for which Gates are evaluated. */
export interface NextDeployment {
  version: string;
  /** `namespace/name`. */
  rollout: string;
  /** Uid of that Rollout. */
  uid: string | undefined;
  users: VersionUsers;
}

/** The approvals of a version at a closed Gate with `spec.approvals`; empty for any other Gate. */
export interface GateApprovals {
  /** The approvals that let the version through, the oldest first. */
  approvedBy?: Approval[];
  /**
   * The approvals of a version that lacks some, as numbers and text (`1.2.0 has 1 of 2 approvals`), and with the users
   * (`names`).
   */
  missingApprovals?: { have: number; need: number; count: string; names?: string | undefined; how: CommandLine };
  /** The time at which the next approval expires. */
  approvalsUntil?: EpochMs;
}

/** The approvals of the next version at the Gate, which is closed. */
export function gateApprovals(gate: Gate, next: NextDeployment, now: EpochMs): GateApprovals {
  const verdict = approvalsOn(gate, next, now);
  if (!verdict) return {};
  const { counted, required, until, enough } = verdict;
  const expiry = until !== undefined && { approvalsUntil: until };
  if (enough) return { ...expiry, approvedBy: counted };
  const of = (text: string) => `${next.version} has ${text}`;
  const how = approveGateCommand(gate, next.version, next.rollout);
  const count = { have: counted.length, need: required, count: of(countText(counted.length, required)) };
  return { ...expiry, missingApprovals: { ...count, names: of(verdictText(verdict)), how } };
}

/** The verdict on the version's approvals; undefined for a Gate without `spec.approvals`. */
export function approvalsOn(gate: Gate, next: NextDeployment, now: EpochMs): ApprovalVerdict | undefined {
  const rule = gate.spec.approvals;
  if (!rule) return undefined;
  const { given } = standingApprovals(gate, now);
  const ofVersion = given.filter(
    ({ version, rollout, uid }) => version === next.version && rollout === next.rollout && uid === next.uid,
  );
  return evaluateApprovals(rule, ofVersion, next.users, now);
}

/** The record of approvals, without those that a request to close has revoked. */
export function standingApprovals(gate: Gate, now: EpochMs): ApprovalRecord {
  const record = recordedOn(gate, APPROVAL_KEYS.Gate);
  const closeRequest = closeRequestOf(gate, now);
  return closeRequest ? { ...record, given: record.given.filter(({ at }) => at > closeRequest.at) } : record;
}

/** The newest request, if it is one to close. It revokes earlier approvals, even if its effect has ended. */
export function closeRequestOf(gate: Gate, now: EpochMs): GateRequest | undefined {
  const { current } = gateRequestsOf(gate, now);
  return current?.action === 'close' ? current : undefined;
}

/**
 * Whether a request to open has an effect. On a Gate with approvals it can only end a closure, or withdraw a planned
 * one. If the write also closes the Gate, only that request counts: the opening would come first, or replace a planned
 * one.
 * @param version the one version that the opening is for
 * @param gate the Gate after the write, with the record of its requests; before the write the same as `old`
 */
export function openRequestHasEffect(
  version: string | undefined,
  gate: Gate,
  old: Gate | undefined,
  now: EpochMs,
): boolean {
  if (!gate.spec.approvals) return true;
  if (version !== undefined) return false;
  if (closeRequestOf(gate, now)) return true;
  return old !== undefined && (closeRequestOf(old, now) ?? gateRequestsOf(old, now).planned) !== undefined;
}

/**
 * The record without approvals for Rollouts that have been deleted, or deleted and created again.
 * @param uids the uids of the existing Rollouts, by `refKey`
 */
export function withoutDeletedRollouts(
  record: ApprovalRecord,
  uids: ReadonlyMap<string, string | undefined>,
): ApprovalRecord {
  const isForExisting = ({ rollout = '', uid }: Approval) => uids.has(rollout) && uids.get(rollout) === uid;
  return { ...record, given: record.given.filter(isForExisting) };
}

/** The command that approves the version, for that Rollout or else for any. */
export function approveGateCommand(
  { metadata }: Pick<Gate, 'metadata'>,
  version?: string,
  rollout?: string,
): CommandLine {
  const { namespace, name } = identityOf({ metadata });
  const wanted = `${rollout === undefined ? '' : `${rollout}:`}${tagWord(version)}`;
  const line = shell`kubectl -n ${namespace} annotate --overwrite gate/${name} ${APPROVE_FOR}=${wanted}`;
  return [
    `To approve ${version === undefined ? 'a version' : 'it'} at Gate ${namespace}/${name}, each approver runs`,
    line,
  ];
}
