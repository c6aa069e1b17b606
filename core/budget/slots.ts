/**
 * The states of a slot. It becomes free only on evidence that can't become false:
 * - its Rollout is gone;
 * - a status of its Rollout that is newer than the grant has neither request nor running deployment.
 */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { HistoryEntry, Rollout, Slot } from '../../api/types.ts';
import { formatTime, parseTime, startSeconds } from '../kube/time.ts';
import { hasNoBake, isUnfinished } from '../rollout/deployment/history.ts';
import type { Member } from './fleet.ts';

/** The time for which a grant may stay unused. After it, the Rollout's hook must be failing. */
export const UNUSED_GRANT_MS = 600_000;
/** The time for which a revoked slot stays taken, so that a commit that was already decided is stored by then. */
export const REVOKED_SLOT_MS = 60_000;

/** The next state of a slot, or why it is free. */
export interface SlotResult {
  /** The next state of the slot; absent if it is free. */
  slot?: Slot;
  /** Why the slot is free. Ended: its deployment has ended. Declined: the Rollout didn't use it. */
  freed?: 'Ended' | 'Declined' | 'Deleted' | 'Revoked';
  /** The time at which the result changes even if no object does. */
  requeueAt?: EpochMs;
}

/**
 * The slot as it should be now.
 * @param owner the Rollout that has the slot; undefined if it was deleted or re-created
 * @param slotTimeout in milliseconds
 */
export function evaluateSlot(
  slot: Slot,
  owner: Rollout | undefined,
  slotTimeout: number | undefined,
  now: EpochMs,
): SlotResult {
  if (!owner) return { freed: 'Deleted' };
  if (revisionOf(owner) < slot.rolloutRevision) return { slot };
  const request = owner.status?.slotRequest?.id;
  if (isUnused(slot) && request === slot.request) return unusedResult(slot, now);
  const [head] = owner.status?.history ?? [];
  if (head && isRunning(owner, head)) {
    // A manual deployment or a rollback has replaced the slot's deployment: its time starts now.
    const isReplaced = !isUnused(slot) && slot.version !== head.version.tag;
    const taken = isReplaced ? takenSlot(slot, owner, head, now) : slot;
    return runningResult(taken, owner, head, slotTimeout, now);
  }
  return { freed: isUnused(slot) && !hasUsed(head, slot) ? 'Declined' : 'Ended' };
}

/** The slot with its unused grant revoked. The Rollout can no longer deploy with it, and requests a new slot. */
export function revokeGrant(slot: Slot, now: EpochMs): Slot {
  if (slot.state !== 'Granted') return slot;
  return { ...slot, state: 'Revoking', revokedTime: formatTime(startSeconds(now)) };
}

/** Whether the slot counts against the limit. */
export function countsAgainstLimit({ state }: Slot): boolean {
  return state !== 'Overdue';
}

/**
 * The slot of a Rollout that deploys without a grant: manually, or since before the budget existed. It counts against
 * the limit, but doesn't stop the deployment.
 */
export function slotWithoutGrant({ rollout, uid, head, image }: Member, now: EpochMs): Slot | undefined {
  if (!head || !isRunning(rollout, head)) return undefined;
  const { namespace = '', name = '' } = rollout.metadata;
  return takenSlot({ namespace, name, uid, image }, rollout, head, now);
}

/** The slot of a deployment that was not granted one. */
function takenSlot(
  { namespace, name, uid, image }: Pick<Slot, 'namespace' | 'name' | 'uid' | 'image'>,
  rollout: Rollout,
  head: HistoryEntry,
  now: EpochMs,
): Slot {
  return {
    namespace,
    name,
    uid,
    ...versionFields(head, image),
    rolloutRevision: revisionOf(rollout),
    grantedTime: formatTime(now),
    state: slotState(head),
  };
}

/**
 * Whether a deployment counts as running. A deployment without a bake can be replaced: it no longer counts once its
 * Rollout requests the next version.
 */
function isRunning(rollout: Rollout, head: HistoryEntry): boolean {
  return isUnfinished(head) && !(rollout.status?.slotRequest && hasNoBake(head, rollout));
}

export function revisionOf({ status }: Rollout): number {
  return status?.revision ?? 0;
}

function isUnused({ state }: Slot): boolean {
  return state === 'Granted' || state === 'Revoking';
}

/** Whether the newest deployment has used the slot. It may have ended before the slot was seen in use. */
function hasUsed(head: HistoryEntry | undefined, { version, grantedTime }: Slot): boolean {
  return head?.version.tag === version && (parseTime(head.timestamp) ?? 0) >= (parseTime(grantedTime) ?? 0);
}

function unusedResult(slot: Slot, now: EpochMs): SlotResult {
  const revoked = parseTime(slot.revokedTime);
  if (slot.state === 'Revoking' && revoked !== undefined) {
    const at = revoked + REVOKED_SLOT_MS;
    return now >= at ? { freed: 'Revoked' } : { slot, requeueAt: at };
  }
  const at = (parseTime(slot.grantedTime) ?? now) + UNUSED_GRANT_MS;
  return now < at ? { slot, requeueAt: at } : { slot: revokeGrant(slot, now), requeueAt: now + REVOKED_SLOT_MS };
}

function runningResult(
  slot: Slot,
  rollout: Rollout,
  head: HistoryEntry,
  slotTimeout: number | undefined,
  now: EpochMs,
): SlotResult {
  const { revokedTime: _, digest: __, ...kept } = slot;
  const overdueAt = slotTimeout === undefined ? undefined : (parseTime(slot.grantedTime) ?? now) + slotTimeout;
  const isOverdue = slot.state === 'Overdue' || (overdueAt !== undefined && now >= overdueAt);
  const state = isOverdue ? 'Overdue' : slotState(head);
  const isNew = state !== slot.state || slot.version !== head.version.tag;
  const next: Slot = isNew
    ? { ...kept, ...versionFields(head, slot.image), state, rolloutRevision: revisionOf(rollout) }
    : slot;
  return { slot: next, requeueAt: isOverdue ? undefined : overdueAt };
}

function versionFields({ version: { tag, digest } }: HistoryEntry, image: string | undefined) {
  return { version: tag, ...(digest && { digest }), image };
}

function slotState({ bakeStatus }: HistoryEntry): Slot['state'] {
  return bakeStatus === 'InProgress' ? 'Baking' : 'Deploying';
}
