/**
 * Approvals on a Gate with `spec.approvals`: they let one version of one Rollout through while it is closed.
 * A request to close revokes those that were given before it; one to open only ends a closing, and opens nothing.
 */
import { APPROVE_FOR } from '../../api/annotations.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Gate, Rollout } from '../../api/types.ts';
import { APPROVAL_KEYS, type ApprovalRecord, recordedOn } from '../approval/approvalRecord.ts';
import { type ApprovalVerdict, type Background, evaluateApprovals } from '../approval/approvalVerdict.ts';
import { identityOf, refKey } from '../kube/names.ts';
import { tagWord } from '../kube/tag.ts';
import type { CommandLine } from '../text/commands.ts';
import { shell } from '../text/shell.ts';
import { type GateRequest, gateRequestsOf } from './gateRequests.ts';

/** What a Rollout is about to deploy. */
export interface NextDeployment {
  version: string;
  /** `namespace/name`. */
  rollout: string;
  /** That Rollout's. */
  uid: string | undefined;
  background: Background;
}

/** The verdict on the version's approvals; undefined for a Gate without `spec.approvals`. */
export function approvalsOn(gate: Gate, next: NextDeployment, now: EpochMs): ApprovalVerdict | undefined {
  const rule = gate.spec.approvals;
  if (!rule) return undefined;
  const { given } = standingApprovals(gate, now);
  const meant = given.filter(
    ({ version, rollout, uid }) => version === next.version && rollout === next.rollout && uid === next.uid,
  );
  return evaluateApprovals(rule, meant, next.background, now);
}

/** The record of approvals, without those that a closing has revoked. */
export function standingApprovals(gate: Gate, now: EpochMs): ApprovalRecord {
  const record = recordedOn(gate, APPROVAL_KEYS.Gate);
  const closing = closeRequestOf(gate, now);
  return closing ? { ...record, given: record.given.filter(({ at }) => at > closing.at) } : record;
}

/** The record, without approvals for a Rollout that was deleted, or deleted and created again. */
export function withoutDeletedRollouts(record: ApprovalRecord, rollouts: readonly Rollout[]): ApprovalRecord {
  const uids = new Map(rollouts.map((rollout) => [refKey(identityOf(rollout)), rollout.metadata.uid]));
  return {
    ...record,
    given: record.given.filter(({ rollout = '', uid }) => uids.has(rollout) && uids.get(rollout) === uid),
  };
}

/** The request that closed the Gate last, if it is the newest one; it may be over. */
export function closeRequestOf(gate: Gate, now: EpochMs): GateRequest | undefined {
  const { current } = gateRequestsOf(gate, now);
  return current?.action === 'close' ? current : undefined;
}

/** Whether a request to open has an effect: with approvals it only ends a closing, or calls off a planned one. */
export function takesOpening(gate: Gate, now: EpochMs): boolean {
  return (
    !gate.spec.approvals || closeRequestOf(gate, now) !== undefined || gateRequestsOf(gate, now).planned !== undefined
  );
}

/**
 * The command in a refusal or condition that approves a version.
 * Without `rollout`, for whichever Rollout has the version.
 */
export function approveForCommand(
  { metadata }: Pick<Gate, 'metadata'>,
  version?: string,
  rollout?: string,
): CommandLine {
  const { namespace, name } = identityOf({ metadata });
  const wanted = `${rollout === undefined ? '' : `${rollout}:`}${tagWord(version)}`;
  const line = shell`kubectl -n ${namespace} annotate gate/${name} ${APPROVE_FOR}=${wanted}`;
  return [
    `To approve ${version === undefined ? 'a version' : 'it'} at Gate ${namespace}/${name}, as another person`,
    line,
  ];
}
