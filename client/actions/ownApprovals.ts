/** Offers the withdrawal instead of the approval if the user has already approved a version. */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import { APPROVAL_KEYS, type Approvable, recordedOn } from '../../core/approval/approvalRecord.ts';
import { isExpired } from '../../core/approval/approvalVerdict.ts';
import { standingApprovals } from '../../core/gate/gateApprovals.ts';
import { refKey } from '../../core/kube/names.ts';
import type { Action } from './action.ts';
import { offer } from './offer.ts';

/**
 * The actions, with a withdrawal for each version that the user has approved. An approval that has expired, or that a
 * request to close the Gate has revoked, can be given again, also one for a deleted Rollout of the same name.
 * @param user undefined if unknown
 */
export function withOwnApprovals(actions: readonly Action[], user: string | undefined, now: EpochMs): Action[] {
  return actions.flatMap((action) =>
    user !== undefined && isApprovedBy(action, user, now) ? withdrawalOf(action) : [action],
  );
}

function isApprovedBy(
  { request: { type, object, version, rollout }, rolloutUid, found }: Action,
  user: string,
  now: EpochMs,
): boolean {
  if (type !== 'approve' || !found) return false;
  const { given } =
    object.kind === 'Gate' ? standingApprovals(found as Gate, now) : recordedOn(found, APPROVAL_KEYS.RolloutGate);
  const of = rollout && refKey(rollout);
  const rule = (found as Approvable | undefined)?.spec?.approvals;
  return given.some(
    (approval) =>
      approval.by === user &&
      !(rule && isExpired(approval, rule, now)) &&
      approval.version === version &&
      (of === undefined || approval.rollout === undefined || approval.rollout === of) &&
      (rolloutUid === undefined || approval.uid === rolloutUid),
  );
}

function withdrawalOf({ request: { object, version, rollout }, found, step }: Action): Action[] {
  return offer({ type: 'withdraw', object, ...(version && { version }), ...(rollout && { rollout }) }, found, { step });
}
