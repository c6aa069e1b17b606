/**
 * When a slot is freed: only on evidence that cannot become false. Its holder was seen in a status newer than the
 * grant's, has no request, and is not rolling out; or the holder is gone. An older status proves nothing.
 */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { HistoryEntry, Rollout, Slot } from '../../api/types.ts';
import { formatTime, parseTime } from '../kube/time.ts';
import { isBaking } from '../rollout/deployment/bake.ts';
import { hasNoBake } from '../rollout/deployment/withoutBake.ts';
import type { Member } from './fleet.ts';

/** How long a grant may stay unused. A Rollout that doesn't use it has a failing hook. */
export const UNUSED_MS = 600_000;
/**
 * How long a revoked slot stays taken after a status of its Rollout: by then a commit that was
 * decided before is stored.
 */
export const REVOKED_MS = 60_000;

/** The Rollout that has the slot. `gone`: deleted or re-created. undefined: not read. */
export type Holder = Rollout | 'gone' | undefined;

export interface SlotResult {
  /** The slot from now on; absent if it is free. */
  slot?: Slot;
  /** Why the slot is free. Ended: its deployment has ended. Declined: it was not used. */
  freed?: 'Ended' | 'Declined' | 'Deleted' | 'Revoked';
  /** When the result changes by time alone. */
  requeueAt?: EpochMs;
}

/** The slot as it should be now. `slotTimeout` is in milliseconds. */
export function evaluateSlot(slot: Slot, holder: Holder, slotTimeout: number | undefined, now: EpochMs): SlotResult {
  if (holder === 'gone') return { freed: 'Deleted' };
  if (holder === undefined || revisionOf(holder) < slot.rolloutRevision) return { slot };
  const request = holder.status?.slotRequest?.id;
  if (isUnused(slot) && request === slot.request) return unused(slot, now);
  const [head] = holder.status?.history ?? [];
  if (head && isRunning(holder, head)) return underWay(slot, holder, head, slotTimeout, now);
  return { freed: isUnused(slot) && !isOf(slot, head) ? 'Declined' : 'Ended' };
}

/** The slot with its unused grant revoked. Its Rollout can't deploy with it, and requests a slot again. */
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
 * The slot of a Rollout that deploys without a grant, manually or since before the budget existed. It counts against
 * the limit, and is not stopped.
 */
export function runningWithoutSlot({ rollout, uid, head, image }: Member, now: EpochMs): Slot | undefined {
  if (!head || !isRunning(rollout, head)) return undefined;
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
 * Whether a deployment counts as running. One without a bake can be replaced: once its Rollout requests the next
 * version, it no longer counts against the limit.
 */
function isRunning(rollout: Rollout, head: HistoryEntry): boolean {
  return isBaking(head) && !(rollout.status?.slotRequest && hasNoBake(head, rollout));
}

export function revisionOf({ status }: Rollout): number {
  return status?.revision ?? 0;
}

function isUnused({ state }: Slot): boolean {
  return state === 'Granted' || state === 'Revoking';
}

/** Whether the deployment used the slot: one that has ended must not count as declined. */
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
