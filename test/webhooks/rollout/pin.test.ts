/** The record of who pinned a Rollout or removed the pin, when and why, which only the webhook writes. */
import { describe, expect, it } from 'vitest';
import { NO_RELATED } from '../../../client/explain/related.ts';
import { explainRollout } from '../../../client/explain/rollout/explainRollout.ts';
import { pinRecordOf } from '../../../core/record/pinAndSchedule.ts';
import { annotated, P, stored } from './call.ts';

const AT = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/);
const plain = annotated({});
const pinned = async (annotations: Record<string, string> = { [`${P}deploy-message`]: '1.1.0 leaks' }) => {
  const object = annotated(annotations, { wantedVersion: '1.0.0' });
  return annotated((await stored({ object, old: plain, user: 'sre' }))!, { wantedVersion: '1.0.0' });
};
const unpinned = async (annotations: Record<string, string> = {}) => {
  const old = await pinned();
  return annotated((await stored({ object: annotated(annotations), old, user: 'bob' }))!);
};

describe('the record', () => {
  it('of a pin has the authenticated user and the reason', async () => {
    expect(pinRecordOf(await pinned())).toEqual({ version: '1.0.0', by: 'sre', at: AT, reason: '1.1.0 leaks' });
  });

  it('of its removal too, and the reason is removed', async () => {
    const removed = await unpinned({ [`${P}reason`]: '1.1.1 repairs it' });
    expect(pinRecordOf(removed)).toEqual({ from: '1.0.0', by: 'bob', at: AT, reason: '1.1.1 repairs it' });
    expect(removed.metadata.annotations).not.toHaveProperty([`${P}reason`]);
  });

  it('can’t be written by any user', async () => {
    const forged = { [`${P}pin`]: '{"version":"1.0.0","by":"carol","at":"2026-03-01T12:00:00Z"}' };
    expect(pinRecordOf(await pinned(forged))).toMatchObject({ by: 'sre' });
    const old = await pinned();
    const object = annotated(forged, { wantedVersion: '1.0.0' });
    expect(await stored({ object, old, user: 'mallory' })).toMatchObject({
      [`${P}pin`]: old.metadata.annotations?.[`${P}pin`],
    });
    expect(await stored({ object: annotated(forged), old: plain, user: 'mallory' })).toBeUndefined();
  });

  it('is no reason of an older message', async () => {
    const old = annotated({ [`${P}deploy-message`]: 'older' });
    const object = annotated({ [`${P}deploy-message`]: 'older' }, { wantedVersion: '1.0.0' });
    const annotations = await stored({ object, old, user: 'sre' });
    expect(JSON.parse(annotations![`${P}pin`]!)).not.toHaveProperty('reason');
  });
});

it('of its removal is no cause while the status still has the pin', async () => {
  const rollout = await unpinned();
  const status = {
    conditions: [
      { type: 'Pinned', status: 'True', reason: 'WantedVersion', message: 'pinned', lastTransitionTime: '' },
    ],
  };
  const { pin, causes } = explainRollout({ ...rollout, status } as never, NO_RELATED, 0);
  expect(pin).toMatchObject({ from: '1.0.0', by: 'bob' });
  expect(causes.map(({ code }) => code)).toEqual(['WantedVersion']);
});

it('is shown with the pin', async () => {
  const rollout = await pinned();
  const conditions = [
    { type: 'Pinned', status: 'True', reason: 'WantedVersion', message: 'pinned', lastTransitionTime: '' },
  ];
  const blockers = [{ type: 'PinnedVersion', effect: 'Blocks', reason: 'WantedVersion', version: '1.1.0' }];
  const status = { conditions, blockers };
  const { pin, steps, causes } = explainRollout({ ...rollout, status } as never, NO_RELATED, 0);
  expect(pin).toMatchObject({ version: '1.0.0', by: 'sre' });
  expect(steps).toMatchObject([{ kind: 'pin', by: 'sre', reason: '1.1.0 leaks', since: AT }]);
  expect(causes.map(({ text }) => text)).toEqual([
    'pinned',
    expect.stringMatching(/^Pinned to 1.0.0 by sre at .*: 1.1.0 leaks$/),
  ]);
});
