import { describe, expect, it } from 'vitest';
import type { Rollout } from '../../../api/types.ts';
import { objectOf } from '../../support/objects.ts';
import { AT, budget, granted, plan, readyOf, rollout } from './budgetFixture.ts';

describe('waves', () => {
  const spec = { maxConcurrent: 10, order: { label: 'ring', values: ['canary', 'eu'] } };
  const asking = (name: string, ring: string, asks = ['1.1.0', '1.0.0'], history: string[] = []) =>
    rollout(name, { ring, asks, history });

  it.each<[string, Rollout[], string[]]>([
    ['the first one alone, to begin with', [asking('c', 'canary'), asking('e', 'eu'), asking('u', 'us')], ['c 1.1.0']],
    [
      'the next one with the newest version that all of the one before have',
      [
        rollout('c', { ring: 'canary', history: ['1.1.0 InProgress', '1.0.0 Succeeded'] }),
        asking('e', 'eu'),
        asking('u', 'us'),
      ],
      ['e 1.0.0'],
    ],
    [
      'nobody after one that has failed',
      [rollout('c', { ring: 'canary', history: ['1.1.0 Failed', '1.0.0 Failed'] }), asking('e', 'eu')],
      [],
    ],
    [
      'those of another image by its own Rollouts',
      [asking('c', 'canary', ['1.1.0']), rollout('x', { ring: 'eu', asks: ['1.1.0'], image: 'cart' })],
      ['c 1.1.0', 'x 1.1.0'],
    ],
  ])('let begin %s', (_, fleet, expected) => {
    expect(granted(plan(budget(spec), fleet).status)).toEqual(expected);
  });

  it('block later ones while an earlier one may have the same image, and the budget names it', () => {
    const silent = objectOf('Rollout', 'team-a/c', {
      metadata: { uid: 'uid-of-c', labels: { ring: 'canary' } },
      spec: { releasesImagePolicy: { name: 'shop' } },
    });
    const { status } = plan(budget(spec), [silent, asking('e', 'eu', ['1.1.0'])]);
    expect(granted(status)).toEqual([]);
    expect(readyOf(status)).toMatchObject({
      reason: 'ImageUnknown',
      message: '0 of 10 slots are taken, 1 Rollout waits: team-a/c of earlier waves have not reported an image',
    });
    const spoken = { ...silent, status: { image: 'cart' } };
    expect(granted(plan(budget(spec), [spoken, asking('e', 'eu', ['1.1.0'])]).status)).toEqual(['e 1.1.0']);
    const later = { ...silent, metadata: { ...silent.metadata, labels: { ring: 'us' } } };
    expect(granted(plan(budget(spec), [later, asking('e', 'eu', ['1.1.0'])]).status)).toEqual(['e 1.1.0']);
  });

  it('continue after an excused failure, until it is retried', () => {
    const annotations = {
      'rollout.kuberik.com/continue': '1.1.0',
      'rollout.kuberik.com/continue-request': JSON.stringify({ id: 'uid-1', by: 'alice', at: AT }),
    };
    const canary = (...history: string[]) => rollout('c', { ring: 'canary', history });
    const waits = asking('e', 'eu', ['1.1.0']);
    const before = plan(budget(spec), [canary('1.1.0 Failed'), waits]).status;
    expect(granted(before)).toEqual([]);
    const { status, events } = plan(budget(spec, before, annotations), [canary('1.1.0 Failed'), waits]);
    expect(granted(status)).toEqual(['e 1.1.0']);
    const done = 'Version 1.1.0 has succeeded in 0 of 1 Rollout of the wave canary; 1 failure is excused';
    expect(events).toContainEqual(expect.objectContaining({ reason: 'WaveDone', message: done }));
    expect(status.versions).toMatchObject([
      { wave: 'eu 0/1', waves: [{ value: 'canary', total: 1, failed: 1, excused: 1 }, {}] },
    ]);
    const again = plan(budget(spec, { ...status, slots: [] }, annotations), [canary('1.1.0 Deploying'), waits]).status;
    expect(granted(again)).toEqual([]);
  });

  it('are shown with how many are done, under way, waiting and failed', () => {
    const fleet = [
      rollout('c', { ring: 'canary', history: ['1.1.0 Succeeded'] }),
      rollout('e1', { ring: 'eu', history: ['1.1.0 Succeeded'] }),
      rollout('e2', { ring: 'eu', history: ['1.1.0 Failed'] }),
      rollout('e3', { ring: 'eu', history: ['1.1.0 Deploying'] }),
      asking('e4', 'eu'),
      asking('u', 'us'),
    ];
    const { status } = plan(budget({ ...spec, maxConcurrent: 1 }), fleet);
    expect(status.versions).toMatchObject([
      {
        version: '1.1.0',
        wave: 'eu 1/4',
        failed: 1,
        waves: [
          { value: 'canary', total: 1, done: 1, underWay: 0, waiting: 0, failed: 0 },
          { value: 'eu', total: 4, done: 1, underWay: 1, waiting: 1, failed: 1 },
          { value: '', total: 1, done: 0, underWay: 0, waiting: 1, failed: 0 },
        ],
      },
    ]);
  });

  it('that are done have an Event, once', () => {
    const before = plan(budget(spec), [asking('c', 'canary', ['1.1.0']), asking('e', 'eu', ['1.1.0'])]).status;
    const fleet = [
      rollout('c', { ring: 'canary', revision: 6, history: ['1.1.0 Succeeded'] }),
      asking('e', 'eu', ['1.1.0']),
    ];
    const after = plan(budget(spec, before), fleet);
    expect(after.events).toMatchObject([
      { reason: 'WaveDone', message: 'Version 1.1.0 has succeeded in all 1 Rollout of the wave canary' },
    ]);
    expect(plan(budget(spec, after.status), fleet).events).toEqual([]);
  });
});
