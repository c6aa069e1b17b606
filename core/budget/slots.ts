/**
 * What becomes of a slot.
 * It is freed only on evidence that nothing can take back: its holder was seen in a status newer than that of the
 * grant, has no request, and is not rolling out; or the holder is gone. An older status proves nothing.
 */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { HistoryEntry, Rollout, Slot } from '../../api/types.ts';
import { formatTime, parseTime } from '../kube/time.ts';
import { isBaking } from '../rollout/deployment/bake.ts';
import { hasNoBake } from '../rollout/deployment/withoutBake.ts';
import type { Member } from './fleet.ts';

/** How long a grant may stay unused: a Rollout that does not take it is one whose hook fails. */
export const UNUSED_MS = 600_000;
/** How long after that its Rollout has been reported: a commit that was decided before is stored by then. */
export const REVOKED_MS = 60_000;

/** `gone`: there is no such Rollout, or another of its name. undefined: nothing is known of it now. */
export type Sight = Rollout | 'gone' | undefined;

export interface SlotResult {
  /** As it is from now on; absent if it is free. */
  slot?: Slot;
  /** Why it is free. Ended: its deployment has. Declined: it was not used. */
  freed?: 'Ended' | 'Declined' | 'Deleted' | 'Revoked';
  /** When it changes by time alone. */
  requeueAt?: EpochMs;
}

/** `slotTimeout`: milliseconds. */
export function evaluateSlot(slot: Slot, sight: Sight, slotTimeout: number | undefined, now: EpochMs): SlotResult {
  if (sight === 'gone') return { freed: 'Deleted' };
  if (sight === undefined || revisionOf(sight) < slot.rolloutRevision) return { slot };
  const request = sight.status?.slotRequest?.id;
  if (isUnused(slot) && request === slot.request) return unused(slot, now);
  const [head] = sight.status?.history ?? [];
  if (head && isUnderWay(sight, head)) return underWay(slot, sight, head, slotTimeout, now);
  return { freed: isUnused(slot) && !isOf(slot, head) ? 'Declined' : 'Ended' };
}

/** An unused grant that must no longer be used. Its Rollout does not deploy with it, and requests a slot again. */
export function revoking(slot: Slot, now: EpochMs): Slot {
  if (slot.state !== 'Granted') return slot;
  // Rounded up: it must not be free before its time.
  return { ...slot, state: 'Revoking', revokedTime: formatTime(Math.ceil(now / 1000) * 1000) };
}

/** Whether the slot counts against the limit. */
export function countsAgainstLimit({ state }: Slot): boolean {
  return state !== 'Overdue';
}

/**
 * A Rollout that deploys without a slot, manually or since before the budget existed: it counts against the limit, and
 * is not stopped.
 */
export function uninvited({ rollout, uid, head, image }: Member, now: EpochMs): Slot | undefined {
  if (!head || !isUnderWay(rollout, head)) return undefined;
  const { namespace = '', name = '' } = rollout.metadata;
  return {
    namespace,
    name,
    uid,
    ...versionOf(head, image),
    rolloutRevision: revisionOf(rollout),
    grantedTime: formatTime(now),
    state: stateOf(head),
  };
}

/**
 * A deployment that does not bake can be replaced: once its Rollout requests the next version, it no longer counts
 * against the limit.
 */
function isUnderWay(rollout: Rollout, head: HistoryEntry): boolean {
  return isBaking(head) && !(rollout.status?.slotRequest && hasNoBake(head, rollout));
}

export function revisionOf({ status }: Rollout): number {
  return status?.revision ?? 0;
}

function isUnused({ state }: Slot): boolean {
  return state === 'Granted' || state === 'Revoking';
}

/** Whether the slot was used: a deployment that has ended must not count as declined. */
function isOf({ version, grantedTime }: Slot, head: HistoryEntry | undefined): boolean {
  return head?.version.tag === version && (parseTime(head.timestamp) ?? 0) >= (parseTime(grantedTime) ?? 0);
}

function unused(slot: Slot, now: EpochMs): SlotResult {
  const revoked = parseTime(slot.revokedTime);
  if (slot.state === 'Revoking' && revoked !== undefined) {
    const at = revoked + REVOKED_MS;
    return now >= at ? { freed: 'Revoked' } : { slot, requeueAt: at };
  }
  const at = (parseTime(slot.grantedTime) ?? now) + UNUSED_MS;
  return now < at ? { slot, requeueAt: at } : { slot: revoking(slot, now), requeueAt: now + REVOKED_MS };
}

function underWay(
  slot: Slot,
  rollout: Rollout,
  head: HistoryEntry,
  slotTimeout: number | undefined,
  now: EpochMs,
): SlotResult {
  const { revokedTime: _, digest: __, ...kept } = slot;
  const overdueAt = slotTimeout === undefined ? undefined : (parseTime(slot.grantedTime) ?? now) + slotTimeout;
  const isOverdue = slot.state === 'Overdue' || (overdueAt !== undefined && now >= overdueAt);
  const state = isOverdue ? 'Overdue' : stateOf(head);
  const isNew = state !== slot.state || slot.version !== head.version.tag;
  const next: Slot = isNew
    ? { ...kept, ...versionOf(head, slot.image), state, rolloutRevision: revisionOf(rollout) }
    : slot;
  return { slot: next, ...(!isOverdue && overdueAt !== undefined && { requeueAt: overdueAt }) };
}

function versionOf({ version: { tag, digest } }: HistoryEntry, image: string | undefined) {
  return { version: tag, ...(digest && { digest }), ...(image !== undefined && { image }) };
}

function stateOf({ bakeStatus }: HistoryEntry): Slot['state'] {
  return bakeStatus === 'InProgress' ? 'Baking' : 'Deploying';
}
