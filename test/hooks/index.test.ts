/** What every hook has from its route: Metacontroller is asked to come again in its arithmetic. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/kubernetes.ts';
import { LIMITS } from '../../core/limits.ts';
import { goDurationMs } from '../../dev/engine/runtime/clock.ts';
import { boundedResync } from '../../hooks/hook.ts';
import { hookRoutes } from '../../hooks/index.ts';
import { gate } from '../core/gate/gate.ts';
import { objectOf } from '../support/objects.ts';
import { healthCheck } from './healthCheck/fixture.ts';
import { fakeCall, NOW, rollout } from './rollout/call.ts';

const FOR_EVER = '9999999h';
const started = new Date(NOW - 60_000).toISOString();
const baking = {
  history: [
    {
      id: 1,
      version: { tag: '1.0.0', revision: 'abc' },
      timestamp: started,
      bakeStatus: 'InProgress' as const,
      bakeStartTime: started,
    },
  ],
};
const policy = objectOf('ImagePolicy', { metadata: { name: 'policy', namespace: 'team-a', uid: 'p' } });
const until9999 = { rules: [{ dateRange: { start: '2026-01-01', end: '9999-12-31' } }] };

const parents: [says: string, hook: string, subject: 'parent' | 'object', KubeObject<any, any>][] = [
  ['a bake of a thousand years', 'rollout', 'parent', rollout({ bakeTime: FOR_EVER }, baking)],
  [
    'a HealthCheck that is looked at every thousand years',
    'healthcheck',
    'object',
    healthCheck({
      metadata: { uid: 'u' },
      annotations: {
        'healthcheck.kuberik.com/kustomization': 'app',
        'healthcheck.kuberik.com/requeue-interval': FOR_EVER,
      },
    }),
  ],
  [
    'a Gate closed until the last day',
    'gate',
    'parent',
    gate({ default: 'opened', interval: FOR_EVER, schedule: until9999 }),
  ],
  [
    'a schedule until the last day',
    'rolloutschedule',
    'parent',
    objectOf('RolloutSchedule', {
      metadata: { name: 's', namespace: 'team-a', uid: 'u' },
      spec: { rolloutSelector: {}, action: 'Deny', ...until9999 },
    }),
  ],
];

it.each(parents)(
  '%s, once all is quiet: asked again within an hour, and not at once',
  async (_, hook, subject, object) => {
    const route = hookRoutes(() => fakeCall({ objects: [policy] }).call).find(
      ({ path }) => path === `/hooks/${hook}/sync`,
    )!;
    let resyncAfterSeconds = 0;
    for (let round = 0, status = object.status; round < 3; round++) {
      const stored = { ...object, ...(status && { status }) };
      const body = { controller: {}, [subject]: stored, children: {}, attachments: {}, related: {}, finalizing: false };
      const answer = (await route.answer(body as never)) as { status?: object; resyncAfterSeconds: number };
      ({ resyncAfterSeconds } = answer);
      status = answer.status ?? status;
    }
    expect(goDurationMs(resyncAfterSeconds)).toBeGreaterThan(0);
    expect(resyncAfterSeconds).toBeLessThanOrEqual(LIMITS.resyncAfterSeconds);
  },
);

describe('every answer is bounded', () => {
  it.each([
    [3600.5, LIMITS.resyncAfterSeconds],
    [Number.POSITIVE_INFINITY, LIMITS.resyncAfterSeconds],
    [Number.NaN, LIMITS.resyncAfterSeconds],
    [-1, 0.1],
    [0, 0.1],
    [12.5, 12.5],
  ])('%d s become %d', (wanted, resyncAfterSeconds) => {
    expect(boundedResync({ resyncAfterSeconds: wanted })).toEqual({ resyncAfterSeconds });
  });

  it('one that asks for none stays so', () => {
    expect(boundedResync({})).toEqual({});
  });
});

const namedGate = (fields: object, metadata: object = {}) =>
  objectOf('Gate', {
    metadata: { namespace: 'shop', name: 'a', uid: 'u', ...metadata },
    spec: { default: 'opened' },
    ...fields,
  });
it('the log of a decorator is about its object, whatever else was sent', async () => {
  const lines: object[] = [];
  const log = { decided: () => {}, considered: (line: () => object) => void lines.push(line()) };
  const route = hookRoutes(() => fakeCall().call, log).find(({ path }) => path === '/hooks/gate-labels/sync')!;
  await route.answer({ object: namedGate({}), parent: true, attachments: {}, related: {}, finalizing: false });
  expect(lines).toMatchObject([{ kind: 'Gate', namespace: 'shop', name: 'a', hook: 'gate-labels' }]);
});
