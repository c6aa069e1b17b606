/** A reason that is longer than what is stored of it gets a Warning, on each kind that stores reasons. */
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
const CLOSED = gate({ default: 'closed' }) as KubeObject<any, any>;
const REASON = 'rollout.kuberik.com/reason';
const CLOSE_REASON = 'close.gate.fluxcd.io/reason';

const withReason = (object: KubeObject<any, any>, key: string, characters: number) => ({
  ...object,
  metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, [key]: 'x'.repeat(characters) } },
});

async function warningsOf(name: string, object: KubeObject<any, any>, oldObject: KubeObject<any, any>) {
  const { call } = fakeWebhookCall({ now: NOW, objects: [ROLLOUT] });
  const write = { object, oldObject, namespace: 'shop', userInfo: { username: 'sre' } };
  const { allowed, warnings = [] } = await responseOf(name, write, call);
  expect(allowed).toBe(true);
  return warnings.filter((warning) => warning.includes('characters'));
}

it.each([
  ['a Rollout', 'mutate/rollout', ROLLOUT, REASON, LIMITS.reason],
  ['a RolloutGate', 'mutate/rolloutgate', ROLLOUT_GATE as KubeObject<any, any>, REASON, LIMITS.reason],
  ['a Gate', 'mutate/gate', CLOSED, CLOSE_REASON, LIMITS.gateReason],
])('on %s', async (_, route, stored, key, most) => {
  const long = withReason(stored, key, most + 1);
  expect(await warningsOf(route, long, stored)).toEqual([
    `${key} has ${most + 1} characters: the first ${most} are stored`,
  ]);
  expect(await warningsOf(route, withReason(stored, key, most), stored)).toEqual([]);
  expect(await warningsOf(route, long, long)).toEqual([]);
});

it('not on a Flux object, which stores no reason', async () => {
  const stored = kustomization({}) as KubeObject<any, any>;
  expect(await warningsOf('mutate/flux', withReason(stored, 'gate.fluxcd.io/bypass-reason', 2000), stored)).toEqual([]);
});
