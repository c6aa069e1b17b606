/** Offers the withdrawal instead of the approval if the user has already approved a version. */
import { APPROVAL_KEYS, recordedOn } from '../../core/approval/approvalRecord.ts';
import { refKey } from '../../core/kube/names.ts';
import type { Action } from './action.ts';
import { offer } from './offer.ts';

/** The actions, with a withdrawal for each version that the user has approved. `user`: undefined if unknown. */
export function withOwnApprovals(actions: readonly Action[], user: string | undefined): Action[] {
  return actions.flatMap((action) =>
    user !== undefined && isApprovedBy(action, user) ? withdrawalOf(action) : [action],
  );
}

function isApprovedBy({ request: { type, object, version, rollout }, found }: Action, user: string): boolean {
  if (type !== 'approve') return false;
  const { given } = recordedOn(found, APPROVAL_KEYS[object.kind === 'Gate' ? 'Gate' : 'RolloutGate']);
  const of = rollout && refKey(rollout);
  return given.some(
    (approval) =>
      approval.by === user &&
      approval.version === version &&
      (of === undefined || approval.rollout === undefined || approval.rollout === of),
  );
}

function withdrawalOf({ request: { object, version, rollout }, found, step }: Action): Action[] {
  return offer({ type: 'withdraw', object, ...(version && { version }), ...(rollout && { rollout }) }, found, { step });
}
