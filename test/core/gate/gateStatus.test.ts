/** A Gate's status reports objects that its opening or closing hasn't reached. */
import { expect, it } from 'vitest';
import { gateStatus } from '../../../core/gate/gateStatus.ts';
import { evaluateGate } from '../../../core/gate/gateTimeline.ts';
import { gate } from '../admission/objects.ts';

const NOW = Date.parse('2026-03-04T10:00:00Z');
const unheld = [{ kind: 'Kustomization', namespace: 'shop', name: 'runs', reason: 'NotMarked' as const }];
const unresumed = [{ kind: 'Kustomization', namespace: 'shop', name: 'waits', reason: 'NotResumed' as const }];

it.each([
  ['closed ten seconds ago', 'closed', 10, { notHeld: 1, notHeldObjects: unheld }],
  ['closed a moment ago', 'closed', 9, {}],
  ['open for ten seconds', 'opened', 10, { notResumed: 1, notResumedObjects: unresumed }],
  ['open for a moment', 'opened', 9, {}],
  ['closed a minute ago, a moment before the objects were read', 'closed', 60, {}, 51],
  ['closed a minute ago, ten seconds before that', 'closed', 60, { notHeld: 1, notHeldObjects: unheld }, 50],
  ['opened after the objects were read', 'opened', 15, {}, 20],
] as const)('%s', (_, state, seconds, says, readAgo?: number) => {
  const lastTransitionTime = new Date(NOW - seconds * 1000).toISOString();
  const conditions = [
    { type: 'Opened', status: state === 'opened' ? 'True' : 'False', reason: 'x', message: '', lastTransitionTime },
  ];
  const readAt = readAgo === undefined ? undefined : NOW - readAgo * 1000;
  const freeze = { ...gate('shop/freeze', { default: state }), status: { conditions } } as never;
  const status = gateStatus(freeze, evaluateGate(freeze, NOW), { unheld, unresumed, readAt }, NOW);
  const { notHeld, notHeldObjects, notResumed, notResumedObjects } = status;
  expect(JSON.parse(JSON.stringify({ notHeld, notHeldObjects, notResumed, notResumedObjects }))).toEqual(says);
});
