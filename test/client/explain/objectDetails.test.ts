/** Details of an object besides its explanation. */
import { expect, it } from 'vitest';
import type { KubeObject } from '../../../api/kubernetes.ts';
import { objectDetails } from '../../../client/explain/objectDetails.ts';
import type { CoreEvent } from '../../../core/audit/eventRecords.ts';

const AT = '2026-03-04T10:00:00Z';
const kustomization = (status: unknown, annotations: Record<string, string> = {}): KubeObject<any, any> => ({
  apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
  kind: 'Kustomization',
  metadata: { namespace: 'shop', name: 'web', annotations },
  spec: {},
  status,
});
const event = (name: string, more: object): CoreEvent => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { namespace: 'shop', name },
  involvedObject: {},
  ...more,
});

it('names the Rollouts that set its fields, and the revision that Flux has applied', () => {
  const object = kustomization(
    { lastAppliedRevision: 'main@sha1:abc' },
    { 'rollout.kuberik.com/substitute.APP_VERSION.from': 'web' },
  );
  const rollouts = [{ namespace: 'shop', name: 'web' }];
  expect(objectDetails(object, [])).toMatchObject({ revision: 'main@sha1:abc', rollouts });
  const source = { ...kustomization({ artifact: { revision: '1.0.0@sha256:abc' } }), kind: 'OCIRepository' };
  expect(objectDetails(source, [])).toMatchObject({ revision: '1.0.0@sha256:abc', rollouts: [] });
});

it('has its conditions as they are', () => {
  const ready = { type: 'Ready', status: 'False', reason: 'Failed', message: 'no', lastTransitionTime: AT };
  expect(objectDetails(kustomization({ conditions: [ready, { type: 'Stalled', status: 'False' }] }), [])).toMatchObject(
    {
      conditions: [
        { type: 'Ready', status: 'False', reason: 'Failed', message: 'no', since: AT },
        { type: 'Stalled', status: 'False' },
      ],
    },
  );
});

it('has its Events, newest first, with the controller and how often', () => {
  const { events } = objectDetails(kustomization({}), [
    event('a', { reason: 'Old', firstTimestamp: AT, lastTimestamp: AT, source: { component: 'flux' }, count: 3 }),
    event('b', { reason: 'New', type: 'Warning', lastTimestamp: null, eventTime: '2026-03-04T11:00:00.5Z' }),
  ]);
  expect(events).toEqual([
    { isWarning: true, reason: 'New', message: '', at: '2026-03-04T11:00:00.5Z' },
    { isWarning: false, reason: 'Old', message: '', at: AT, by: 'flux', count: 3 },
  ]);
  expect(objectDetails(kustomization({}), undefined)).not.toHaveProperty('events');
});

it('has its inventory, with the page’s kinds, up to a limit', () => {
  const entries = [
    { id: 'shop_web_apps_Deployment', v: 'v1' },
    { id: '_shop__Namespace', v: 'v1' },
    { id: 'shop_web_kuberik.com_Rollout', v: 'v1alpha1' },
    { id: 'shop_web_argoproj.io_Rollout', v: 'v1alpha1' },
  ];
  expect(objectDetails(kustomization({ inventory: { entries } }), [])).toMatchObject({
    inventoryCount: 4,
    inventory: [
      { kind: 'Deployment', namespace: 'shop', name: 'web', isKnown: false },
      { kind: 'Namespace', namespace: '', name: 'shop', isKnown: false },
      { kind: 'Rollout', isKnown: true },
      { kind: 'Rollout', isKnown: false },
    ],
  });
  const many = Array.from({ length: 700 }, (_, index) => ({ id: `shop_web-${index}_apps_Deployment`, v: 'v1' }));
  const cut = objectDetails(kustomization({ inventory: { entries: many } }), []);
  expect([cut.inventory?.length, cut.inventoryCount]).toEqual([500, 700]);
});

it.each([undefined, 7, { conditions: 'x', inventory: [], artifact: 1 }])(
  'takes a status of any shape: %j',
  (status) => {
    expect(objectDetails(kustomization(status), [])).toEqual({ rollouts: [], conditions: [], events: [] });
  },
);
