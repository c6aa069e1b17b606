/** One object of one tenant must not end the page of all its readers: views are computed in the server's process. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AnyObject } from '../../api/kubernetes.ts';
import type { Gate, Rollout } from '../../api/types.ts';
import { AuditStream } from '../../audit/auditStream.ts';
import { gateActions } from '../../client/actions/gateActions.ts';
import { rolloutActions } from '../../client/actions/rolloutActions.ts';
import { isBoundKind, WATCHED_KINDS, type WatchedKind } from '../../page/objects.ts';
import { Views } from '../../page/views.ts';
import { admittedObject } from '../support/admittedObject.ts';

const now = () => Date.parse('2026-03-01T00:00:00Z');
const OURS = WATCHED_KINDS.filter((kind) => !isBoundKind(kind));
const anyObject = fc.oneof(
  ...OURS.map((kind) => admittedObject(kind).map((object): [WatchedKind, AnyObject] => [kind, object])),
);

const metadata = { name: 'app', namespace: 'shop', resourceVersion: '1' };
const EXAMPLES = [
  ['RolloutSchedule', { kind: 'RolloutSchedule', metadata }],
  [
    'Rollout',
    {
      kind: 'Rollout',
      metadata,
      spec: { releasesImagePolicy: {} },
      status: { pendingVersion: '1.1.0', gates: [{ kind: 'constructor', name: 'qa', passing: false }] },
    },
  ],
];

it('the page shows every object that the CRDs admit, together with any other', () => {
  fc.assert(
    fc.property(fc.array(anyObject, { minLength: 1, maxLength: 6 }), (objects) => {
      const views = new Views(now);
      for (const [kind, object] of objects) views.set(kind, object);
      views.refresh();
      views.touchDue();
      views.refresh();
      for (const rollout of views.objects.all<Rollout>('Rollout')) {
        const application = views.application(`shop/${rollout.metadata.name}`);
        rolloutActions(rollout, application!, views.objects.related(rollout), now());
      }
      for (const gate of views.objects.all<Gate>('Gate')) {
        gateActions(gate, views.waitingFor(`shop/${gate.metadata.name}`), now());
      }
      expect(views.isStale).toBe(false);
    }),
    { numRuns: 300, examples: EXAMPLES.map((each) => [[each as unknown as [WatchedKind, AnyObject]]]) },
  );
});

it('the sender of audit events watches on, whatever object the CRDs admit', async () => {
  const stream = new AuditStream({ source: '/test', now, send: async () => {}, missed: () => {} });
  const take = async ([kind, object]: [WatchedKind, AnyObject]) => stream.take(kind, { type: 'set', object });
  await fc.assert(fc.asyncProperty(anyObject, take), { numRuns: 300 });
});
