/** A write of our kinds that the API server's policy of sizes would deny is denied before it is decided. */
import { expect, it } from 'vitest';
import { BYPASS_REASON } from '../../api/annotations.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import { annotate } from '../../core/kube/annotate.ts';
import { fakeWebhookCall, SETTINGS } from '../../dev/fakes/ports.ts';
import { NOW, rollout } from '../core/admission/objects.ts';
import { gate } from '../core/gate/gate.ts';
import { responseOf } from '../support/admission.ts';
import { objectOf } from '../support/objects.ts';

type Stored = KubeObject<any, any>;

const KINDS: [webhook: string, stored: Stored][] = [
  ['mutate/rollout', rollout('my-app') as Stored],
  [
    'mutate/rolloutgate',
    objectOf('RolloutGate', 'shop/qa', { spec: { rolloutRef: { name: 'my-app' }, passing: true } }) as Stored,
  ],
  ['mutate/gate', gate({ default: 'closed' }) as Stored],
  [
    'mutate/rolloutbudget',
    objectOf('RolloutBudget', 'shop/fleet', { spec: { selector: {}, maxConcurrent: 1 } }) as Stored,
  ],
];

const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, '']));
const withLabels = (object: Stored, count: number): Stored => ({
  ...object,
  metadata: { ...object.metadata, labels: many(count) },
});

async function answerTo(webhook: string, object: Stored, oldObject?: Stored, username = 'alice') {
  const { call } = fakeWebhookCall({ now: NOW });
  const { allowed, status } = await responseOf(webhook, { object, oldObject, userInfo: { username } }, call);
  return { allowed, message: status?.message ?? '' };
}

it.each(KINDS)('%s, except in Metacontroller’s writes', async (webhook, stored) => {
  const [large, larger] = [withLabels(stored, 20_000), withLabels(stored, 20_001)];
  const denial = { allowed: false, message: expect.stringMatching(/take \d+ bytes together, and at most 65536/) };
  expect(await answerTo(webhook, large)).toEqual(denial);
  expect(await answerTo(webhook, larger, large)).toEqual(denial);
  const bypass = annotate(large, BYPASS_REASON, 'INC-42');
  expect((await answerTo(webhook, bypass)).message).toMatch(/and at most 98304 are allowed/);
  expect(await answerTo(webhook, large, larger)).toMatchObject({ allowed: true });
  expect(await answerTo(webhook, larger, large, SETTINGS.metacontrollerUser)).toMatchObject({ allowed: true });
});
