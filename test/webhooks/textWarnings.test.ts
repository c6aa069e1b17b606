/** Warnings about annotations that have no effect: reasons that are too long, records, and unknown keys. */
import { expect, it } from 'vitest';
import type { KubeObject } from '../../api/kubernetes.ts';
import { LIMITS } from '../../core/limits.ts';
import { fakeWebhookCall } from '../../dev/fakes/ports.ts';
import { kustomization, NOW, rollout } from '../core/admission/objects.ts';
import { gate } from '../core/gate/gate.ts';
import { responseOf } from '../support/admission.ts';
import { objectOf } from '../support/objects.ts';

const ROLLOUT = rollout('my-app', '1.1.0') as KubeObject<any, any>;
const ROLLOUT_GATE = objectOf('RolloutGate', 'shop/qa', { spec: { rolloutRef: { name: 'my-app' }, passing: false } });
const BUDGET = objectOf('RolloutBudget', 'shop/fleet', { spec: { selector: {}, maxConcurrent: 1 } });
const CLOSED = gate({ default: 'closed' }) as KubeObject<any, any>;
const REASON = 'rollout.kuberik.com/reason';
const CLOSE_REASON = 'close.gate.fluxcd.io/reason';

const withText = (object: KubeObject<any, any>, key: string, text: string) => ({
  ...object,
  metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, [key]: text } },
});
const withReason = (object: KubeObject<any, any>, key: string, characters: number) =>
  withText(object, key, 'x'.repeat(characters));

async function warningsOf(name: string, object: KubeObject<any, any>, oldObject: KubeObject<any, any> | null) {
  const { call } = fakeWebhookCall({ now: NOW, objects: [ROLLOUT] });
  const write = { object, oldObject, namespace: 'shop', userInfo: { username: 'sre' } };
  const { allowed, warnings = [] } = await responseOf(name, write, call);
  expect(allowed).toBe(true);
  return warnings.filter((warning) => /characters|is ignored|has no effect here/.test(warning));
}

it.each([
  ['a Rollout', 'mutate/rollout', ROLLOUT, REASON, LIMITS.reason],
  ['a RolloutGate', 'mutate/rolloutgate', ROLLOUT_GATE as KubeObject<any, any>, REASON, LIMITS.reason],
  ['a Gate', 'mutate/gate', CLOSED, CLOSE_REASON, LIMITS.gateReason],
])('a reason on %s that is longer than what is stored of it', async (_, route, stored, key, most) => {
  const long = withReason(stored, key, most + 1);
  expect(await warningsOf(route, long, stored)).toEqual([
    `${key} has ${most + 1} characters: the first ${most} are stored`,
  ]);
  expect(await warningsOf(route, withReason(stored, key, most), stored)).toEqual([]);
  expect(await warningsOf(route, long, long)).toEqual([]);
});

it('no reason on a Flux object, which stores no reason', async () => {
  const stored = kustomization({}) as KubeObject<any, any>;
  expect(await warningsOf('mutate/flux', withReason(stored, 'gate.fluxcd.io/bypass-reason', 2000), stored)).toEqual([]);
});

it.each([
  ['mutate/rollout', ROLLOUT, 'rollout.kuberik.com/request'],
  ['mutate/rollout', ROLLOUT, 'rollout.kuberik.com/pin'],
  ['mutate/rollout', ROLLOUT, 'gate.fluxcd.io/bypassed-by'],
  ['mutate/rollout', ROLLOUT, 'gate.fluxcd.io/bypassed-gates'],
  ['mutate/rolloutgate', ROLLOUT_GATE as KubeObject<any, any>, 'rollout.kuberik.com/approvals'],
  ['mutate/rolloutgate', ROLLOUT_GATE as KubeObject<any, any>, 'rollout.kuberik.com/listed'],
  ['mutate/gate', CLOSED, 'gate.fluxcd.io/approvals'],
  ['mutate/gate', CLOSED, 'gate.fluxcd.io/accepted-request'],
  ['mutate/gate', CLOSED, 'gate.fluxcd.io/scheduled-by'],
  ['mutate/gate', CLOSED, 'gate.fluxcd.io/bypassed-by'],
  ['mutate/rolloutbudget', BUDGET as KubeObject<any, any>, 'rollout.kuberik.com/continue-request'],
])('of %s: a record that a client writes', async (route, stored, key) => {
  const forged = withText(stored, key, '{"by":"bob"}');
  const told = [`${key} is written by the webhook: your change of it is ignored`];
  expect(await warningsOf(route, forged, stored)).toEqual(told);
  expect(await warningsOf(route, forged, null)).toEqual(told);
  expect(await warningsOf(route, forged, forged)).toEqual([]);
  expect(await warningsOf(route, stored, forged)).toEqual([]);
});

it.each([
  ['mutate/rollout', ROLLOUT, 'rollout.kuberik.com/force-deply', 'rollout.kuberik.com/force-deploy'],
  ['mutate/rollout', ROLLOUT, 'gate.fluxcd.io/gates', 'gate.fluxcd.io/bypass-reason'],
  [
    'mutate/rolloutgate',
    ROLLOUT_GATE as KubeObject<any, any>,
    'rollout.kuberik.com/aprove',
    'rollout.kuberik.com/reason',
  ],
  ['mutate/gate', CLOSED, 'close.gate.fluxcd.io/requestAt', 'close.gate.fluxcd.io/reason'],
  ['mutate/rolloutbudget', BUDGET as KubeObject<any, any>, 'rollout.kuberik.com/contine', 'example.com/contine'],
])('of %s: an unknown annotation', async (route, stored, unknown, known) => {
  const misspelt = withText(stored, unknown, 'x');
  const told = [`annotation ${unknown} has no effect here: is it a typo?`];
  expect(await warningsOf(route, misspelt, stored)).toEqual(told);
  expect(await warningsOf(route, misspelt, null)).toEqual(told);
  expect(await warningsOf(route, misspelt, misspelt)).toEqual([]);
  expect(await warningsOf(route, withText(stored, known, 'x'), stored)).toEqual([]);
});
