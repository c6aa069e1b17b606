/**
 * Approvals on a Gate with `spec.approvals`: they let one version of one Rollout through while it is closed. A request to close
 * revokes those that were given before it; one to open only ends a closing, and opens nothing.
 */
import { APPROVE_FOR, GATE_APPROVALS } from '../../api/annotations.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Gate, Rollout } from '../../api/types.ts';
import { type ApprovalVerdict, type Background, evaluateApprovals } from '../approval/approvalVerdict.ts';
import { type ApprovalRecord, parseApprovals } from '../approval/record.ts';
import { identityOf, refKey } from '../kube/names.ts';
import { tagWord } from '../kube/tag.ts';
import type { CommandLine } from '../text/commands.ts';
import { shell } from '../text/shell.ts';
import type { GateRequest } from './acceptedRequests.ts';
import { gateRequestsOf } from './requests.ts';

/** What a Rollout is about to deploy. */
export interface NextDeployment {
  version: string;
  /** `namespace/name`. */
  rollout: string;
  /** Of that Rollout. */
  uid: string | undefined;
  background: Background;
}

/** undefined for a Gate that asks for none. */
export function approvalsOn(gate: Gate, next: NextDeployment, now: EpochMs): ApprovalVerdict | undefined {
  const rule = gate.spec.approvals;
  if (!rule) return undefined;
  const { given } = standingApprovals(gate, now);
  const meant = given.filter(
    ({ version, rollout, uid }) => version === next.version && rollout === next.rollout && uid === next.uid,
  );
  return evaluateApprovals(rule, meant, next.background, now);
}

/** The record, without what a closing has revoked. */
export function standingApprovals(gate: Gate, now: EpochMs): ApprovalRecord {
  const record = parseApprovals(gate.metadata.annotations?.[GATE_APPROVALS]);
  const closing = closingOf(gate, now);
  return closing ? { ...record, given: record.given.filter(({ at }) => at > closing.at) } : record;
}

/** The record, without what was approved for a Rollout that is gone or was made anew under its name. */
export function ofLiving(record: ApprovalRecord, rollouts: readonly Rollout[]): ApprovalRecord {
  const uids = new Map(rollouts.map((rollout) => [refKey(identityOf(rollout)), rollout.metadata.uid]));
  return {
    ...record,
    given: record.given.filter(({ rollout = '', uid }) => uids.has(rollout) && uids.get(rollout) === uid),
  };
}

/** The request that closed it last, if it is the newest one; it may be over. */
export function closingOf(gate: Gate, now: EpochMs): GateRequest | undefined {
  const { current } = gateRequestsOf(gate, now);
  return current?.action === 'close' ? current : undefined;
}

/** Whether a request to open means anything: with approvals it only ends a closing, or calls off what is planned. */
export function takesOpening(gate: Gate, now: EpochMs): boolean {
  return !gate.spec.approvals || closingOf(gate, now) !== undefined || gateRequestsOf(gate, now).planned !== undefined;
}

/** What a refusal or a condition tells others to run. Without `rollout`, for whichever Rollout has the version. */
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
