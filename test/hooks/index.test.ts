/** What every hook has from its route: a request that is not in order is refused by name, and Metacontroller is asked to come again in its arithmetic. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { HookCall } from '../../api/ports.ts';
import { LIMITS } from '../../core/limits.ts';
import { goDurationMs } from '../../dev/engine/runtime/clock.ts';
import { boundedResync } from '../../hooks/hook.ts';
import { hookRoutes } from '../../hooks/index.ts';
import { webhookRoutes } from '../../webhooks/index.ts';
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
const sync = (parent: object, ports: Partial<HookCall> = {}) => {
  const call = { ...fakeCall().call, ...ports };
  const route = hookRoutes(() => call).find(({ path }) => path === '/hooks/gate/sync')!;
  return route.answer({ controller: {}, parent, children: {}, related: {}, finalizing: false });
};

describe('a hook', () => {
  it.each([
    [namedGate({ spec: null }), '/parent/spec must be object'],
    [namedGate({ spec: { default: 'opened', schedule: { rules: 5 } } }), '/parent/spec/schedule/rules must be array'],
    [namedGate({ status: { conditions: [null] } }), '/parent/status/conditions/0 must be object'],
    [
      namedGate(
        {},
        { annotations: { 'open.gate.fluxcd.io/reason': 5, 'open.gate.fluxcd.io/requestedAt': '2026-03-01T00:00:00Z' } },
      ),
      '/parent/metadata/annotations/open.gate.fluxcd.io~1reason must be string',
    ],
  ])('names the field that is wrong: %#', async (parent, problem) => {
    await expect(sync(parent)).rejects.toMatchObject({
      status: 400,
      message: `not a request for this hook: ${problem}`,
    });
  });

  it('leaves an error that is ours as it is', async () => {
    const broken = () => {
      throw new TypeError('ours');
    };
    await expect(sync(namedGate({}), { recent: { within: broken, fresh: broken } })).rejects.toThrow(
      new TypeError('ours'),
    );
  });
});

it('the log of a decorator is about its object, whatever else was sent', async () => {
  const lines: object[] = [];
  const log = { decided: () => {}, considered: (line: () => object) => void lines.push(line()) };
  const route = hookRoutes(() => fakeCall().call, log).find(({ path }) => path === '/hooks/gate-labels/sync')!;
  await route.answer({ object: namedGate({}), parent: true, attachments: {}, related: {}, finalizing: false });
  expect(lines).toMatchObject([{ kind: 'Gate', namespace: 'shop', name: 'a', hook: 'gate-labels' }]);
});

describe('a webhook', () => {
  it('names the field that is wrong', async () => {
    const { call } = fakeCall();
    const routes = webhookRoutes(() => ({
      ...call,
      events: { recordWhen: () => {} },
      access: { may: async () => false },
    }));
    const request = {
      uid: 'u',
      kind: {},
      resource: {},
      operation: 'CREATE',
      userInfo: { username: 'a' },
      object: namedGate({}, { annotations: [null], labels: null }),
      oldObject: null,
    };
    const review = {
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      request: { ...request, object: namedGate({ spec: null }) },
    };
    const route = routes.find(({ path }) => path === '/admission/validate/gate')!;
    await expect(route.answer(review)).rejects.toMatchObject({
      status: 400,
      message: 'not an AdmissionReview of admission.k8s.io/v1: /request/object/spec must be object',
    });
  });
});
