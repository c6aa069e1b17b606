/** Whether the webhook has recorded a requested approval or withdrawal: it denies a person's, and only warns others. */
import type { AnyObject } from '../../../api/kubernetes.ts';
import type { Gate, RolloutGate } from '../../../api/types.ts';
import { APPROVAL_KEYS, type Approval, recordedOn, splitTarget } from '../../../core/approval/approvalRecord.ts';
import { type ApprovalChange, objectTitle, type WriteRequest } from './plannedWrite.ts';

/** The change of the record that a write of this version requests. */
export function approvalChange(gate: Gate | RolloutGate, version: string, is: ApprovalChange['is']): ApprovalChange {
  const kind = gate.kind as ApprovalChange['kind'];
  return { kind, is, version, before: approvalsOf(gate, kind, version) };
}

/** Why the write has no effect although the API server has accepted it; undefined if it has one. */
export function unrecordedProblem({ approval, object }: WriteRequest, stored: AnyObject): string | undefined {
  if (!approval) return undefined;
  const { kind, is, version, before } = approval;
  const after = approvalsOf(stored, kind, version);
  const [more, fewer] = is === 'given' ? [after, before] : [before, after];
  if (more.some((each) => !fewer.some((other) => JSON.stringify(other) === JSON.stringify(each)))) return undefined;
  return `No approval of ${version} was ${is === 'given' ? 'recorded' : 'withdrawn'} at ${objectTitle(kind, object)}.`;
}

function approvalsOf(gate: AnyObject, kind: ApprovalChange['kind'], value: string): Approval[] {
  const { version, rollout } = splitTarget(value);
  const { given } = recordedOn(gate, APPROVAL_KEYS[kind]);
  return given.filter((each) => each.version === version && (rollout === undefined || each.rollout === rollout));
}
