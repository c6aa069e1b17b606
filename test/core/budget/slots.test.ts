/** A slot's state, by the state of its owner. */
import { describe, expect, it } from 'vitest';
import type { HistoryEntry, Rollout, Slot } from '../../../api/types.ts';
import { slotEvents } from '../../../core/budget/budgetReport.ts';
import {
  evaluateSlot,
  REVOKED_SLOT_MS,
  revokeGrant,
  type SlotResult,
  UNUSED_GRANT_MS,
} from '../../../core/budget/slots.ts';
import { formatTime } from '../../../core/kube/time.ts';
import { objectOf } from '../../support/objects.ts';
import { NOW } from '../rollout/observedFixture.ts';
import { slot } from './slot.ts';

/** The slot's owner, in a revision of its status, with its newest deployment and its request. */
const owner = (revision: number, head: Partial<HistoryEntry>, request?: number): Rollout =>
  objectOf('Rollout', 'team-a/app', {
    metadata: { uid: 'uid-1' },
    spec: { releasesImagePolicy: {} },
    status: {
      revision,
      ...(request !== undefined && { slotRequest: { id: request, since: formatTime(NOW) } }),
      history: [{ version: { tag: '1.2.0' }, timestamp: formatTime(NOW), ...head }],
    },
  });
const deploying = { bakeStatus: 'Deploying' };
const baking = { bakeStatus: 'InProgress' };
const succeeded = { bakeStatus: 'Succeeded' };
const earlier = { version: { tag: '1.1.0' }, timestamp: '2026-01-01T00:00:00Z', bakeStatus: 'Succeeded' };
const used = slot({ state: 'Deploying', rolloutRevision: 8 });

describe('a slot', () => {
  it.each<[string, Slot, Rollout | undefined, string | Partial<Slot>]>([
    [
      'is used by a deployment by hand too',
      slot(),
      owner(8, { ...deploying, version: { tag: '2.0.0' } }),
      { version: '2.0.0' },
    ],
    ['bakes', used, owner(9, baking), { state: 'Baking', rolloutRevision: 9 }],
    [
      'is free when its deployment does not bake and a newer version is to take its place',
      used,
      owner(9, deploying, 9),
      'Ended',
    ],
    [
      'is kept when its deployment bakes, whatever is asked for',
      used,
      owner(9, { ...baking, bakeStartTime: formatTime(NOW) }, 9),
      { state: 'Baking' },
    ],
    ['is free when its deployment had no bake', slot(), owner(8, succeeded), 'Ended'],
    ['is free when its request has gone without a deployment', slot(), owner(8, earlier), 'Declined'],
    ['is free when its owner is gone', used, undefined, 'Deleted'],
    ['is kept by a status that is older than what was seen of it', used, owner(7, succeeded), used],
  ])('%s', (_, before, sight, expected) => {
    const what = typeof expected === 'string' ? { freed: expected } : { slot: expected };
    expect(evaluateSlot(before, sight, undefined, NOW)).toMatchObject(what);
  });

  it('without use is revoked in two steps, the second after its owner was reported for a minute', () => {
    const waiting = owner(7, earlier, 7);
    const late = NOW + UNUSED_GRANT_MS;
    expect(evaluateSlot(slot(), waiting, undefined, late - 1)).toMatchObject({
      slot: { state: 'Granted' },
      requeueAt: late,
    });
    const { slot: reported } = evaluateSlot(slot(), waiting, undefined, late);
    expect(reported).toMatchObject({ state: 'Revoking', revokedTime: formatTime(late) });
    expect(evaluateSlot(reported!, waiting, undefined, late + REVOKED_SLOT_MS - 1)).toMatchObject({ slot: reported });
    expect(evaluateSlot(reported!, waiting, undefined, late + REVOKED_SLOT_MS)).toEqual({ freed: 'Revoked' });
    expect(evaluateSlot(reported!, owner(8, earlier, 8), undefined, late + 1)).toEqual({ freed: 'Declined' });
    expect(evaluateSlot(reported!, owner(8, deploying), undefined, late + 1).slot).not.toHaveProperty('revokedTime');
    // A clock that is set back makes it wait longer.
    expect(evaluateSlot(reported!, waiting, undefined, NOW)).toMatchObject({ slot: reported });
  });

  it('is revoked rounded up to a second, never early', () => {
    expect(revokeGrant(slot(), NOW + 1).revokedTime).toBe(formatTime(NOW + 1000));
    expect(revokeGrant(used, NOW)).toBe(used);
  });

  it('is overdue after slotTimeout, and stays so until its deployment ends', () => {
    const timeout = 3_600_000;
    expect(evaluateSlot(used, owner(9, deploying), timeout, NOW)).toMatchObject({ requeueAt: NOW + timeout });
    const { slot: overdue } = evaluateSlot(used, owner(9, baking), timeout, NOW + timeout);
    expect(overdue).toMatchObject({ state: 'Overdue' });
    expect(evaluateSlot(overdue!, owner(10, baking), undefined, NOW)).toMatchObject({ slot: { state: 'Overdue' } });
    expect(evaluateSlot(overdue!, owner(10, succeeded), timeout, NOW)).toEqual({ freed: 'Ended' });
  });

  it('starts its time anew when another deployment takes the place of the one before, overdue or not', () => {
    const timeout = 3_600_000;
    const fix = owner(10, { ...deploying, version: { tag: '1.2.1' } });
    for (const before of [used, { ...used, state: 'Overdue' } as const]) {
      const { slot: next } = evaluateSlot(before, fix, timeout, NOW + timeout);
      expect(next).toMatchObject({ version: '1.2.1', state: 'Deploying', grantedTime: formatTime(NOW + timeout) });
      expect(evaluateSlot(next!, fix, timeout, NOW + timeout)).toEqual({ slot: next, requeueAt: NOW + 2 * timeout });
      expect(evaluateSlot(next!, fix, timeout, NOW + 2 * timeout)).toMatchObject({ slot: { state: 'Overdue' } });
    }
  });
});

it.each<[string, SlotResult, string]>([
  ['SlotOverdue', { slot: { ...used, state: 'Overdue' } }, 'A Rollout has been deploying 1.2.0 for longer than'],
  ['SlotFreed', { freed: 'Revoked' }, 'A Rollout has not used its slot'],
])(
  '%s of a ClusterRolloutBudget is sent to all namespaces, without the name of its Rollout',
  (reason, result, text) => {
    const [event] = slotEvents(slot(), result);
    expect(event).toMatchObject({ reason, message: expect.stringContaining('team-a/app') });
    expect(event!.forOthers).toMatch(text);
  },
);
