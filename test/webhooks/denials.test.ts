/** Denied and held writes are counted by reason; writes that are allowed unchanged are not. */
import { expect, it } from 'vitest';
import type { KubeObject } from '../../api/kubernetes.ts';
import { fakeWebhookCall } from '../../dev/fakes/ports.ts';
import { reviewOf } from '../../webhooks/response.ts';
import { gate as fluxGate, kustomization, NOW, rollout } from '../core/admission/objects.ts';
import { gate } from '../core/gate/gate.ts';
import { responseOf } from '../support/admission.ts';
import { objectOf } from '../support/objects.ts';

interface Asked {
  route: string;
  object?: KubeObject<any, any>;
  oldObject?: KubeObject<any, any>;
}

async function counted({ route, ...write }: Asked) {
  const objects = [fluxGate('shop/freeze'), rollout('my-app', '1.1.0') as KubeObject<any, any>];
  const { call, counts } = fakeWebhookCall({ now: NOW, objects });
  const options = { fieldManager: 'kustomize-controller' };
  await responseOf(route, { ...write, namespace: 'shop', userInfo: { username: 'developer' }, options }, call);
  return counts;
}

const held = kustomization({ annotations: { 'gate.fluxcd.io/gates': 'freeze' }, spec: { suspend: true } });
const changed = { ...held, spec: { ...held.spec, path: './other' } };
const deep = { x: JSON.parse(`${'['.repeat(1000)}${']'.repeat(1000)}`) };
const managed = kustomization({ deployed: 'my-app=1/1.1.0/uid-my-app' });
const edited = kustomization({ deployed: 'my-app=1/1.1.0/uid-my-app', substitute: { APP: '9.9.9' } });

it.each<[reason: string, asked: Asked]>([
  ['gate_closed', { route: 'mutate/flux', object: changed, oldObject: held }],
  ['limit', { route: 'mutate/flux', object: kustomization({ spec: deep }) }],
  ['managed_field', { route: 'mutate/flux', object: edited, oldObject: managed }],
  ['overwritten', { route: 'validate/flux', object: kustomization({ substitute: { APP: '9.9.9' } }) }],
  ['invalid', { route: 'validate/gate', object: gate({ default: 'closed', window: 'soon' }) }],
  [
    'not_permitted',
    { route: 'validate/gate', object: gate({ default: 'closed', selects: { namespaceSelector: {} } }) },
  ],
])('%s', async (reason, asked) => {
  expect(await counted(asked)).toEqual([{ name: 'rollout_hooks_admission_denials_total', labels: { reason } }]);
});

const applied = (object: KubeObject<any, any>) => ({
  ...object,
  metadata: { ...object.metadata, managedFields: [APPLIED] },
});
const APPLIED = {
  manager: 'kustomize-controller',
  operation: 'Apply',
  apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
  time: '2026-03-10T10:00:00Z',
  fieldsV1: { 'f:spec': { 'f:path': {}, 'f:postBuild': { 'f:substitute': { 'f:APP': {} } } } },
};

it.each([
  ['gate_closed', { object: applied(changed), oldObject: held }],
  ['managed_field', { object: applied(edited), oldObject: managed }],
])('held: %s', async (reason, asked) => {
  const counts = await counted({ route: 'mutate/flux', ...asked });
  expect(counts).toEqual([{ name: 'rollout_hooks_admission_reverts_total', labels: { reason } }]);
});

it('nothing of a write that is allowed', async () => {
  expect(await counted({ route: 'validate/gate', object: gate({ default: 'closed' }) })).toEqual([]);
});

it('a user’s message has one line, whatever others wrote', () => {
  const forged = 'closed by bob: x\nallowed\u001b[2J';
  const answer = { allowed: false, reason: 'invalid', message: forged, warnings: [forged] } as const;
  const { response } = reviewOf({ uid: 'u' } as never, { ...answer, warnings: [forged] });
  expect([response?.status?.message, response?.warnings]).toEqual([
    'closed by bob: x allowed [2J',
    ['closed by bob: x allowed [2J'],
  ]);
});

it.each([
  ['mutate/rolloutbudget', 'RolloutBudget', {}, { 'rollout.kuberik.com/continue': 'no version' }],
  ['mutate/rolloutgate', 'RolloutGate', { approvals: { required: 1 } }, { 'rollout.kuberik.com/approve': '1.1.0' }],
  ['validate/rollout', 'Rollout', { bakeTime: 'soon' }, {}],
] as const)('%s calls a new object (new) if the API server makes its name', async (route, kind, spec, annotations) => {
  const { call } = fakeWebhookCall({ now: NOW });
  const metadata = { name: undefined, generateName: 'app-', namespace: 'shop', annotations };
  const object = objectOf(kind, { metadata, spec: { ...spec } } as never) as KubeObject<any, any>;
  const { status } = await responseOf(route, { object, namespace: 'shop', userInfo: { username: 'dev' } }, call);
  expect(status?.message).toContain(`${kind} 'shop/(new)'`);
});
