/**
 * Common rules of the hooks' routes: an invalid request is refused with its field, and requeues fit Metacontroller's
 * arithmetic.
 */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { HookCall } from '../../api/ports.ts';
import { LIMITS } from '../../core/limits.ts';
import { goDurationMs } from '../../dev/engine/runtime/clock.ts';
import { fakeWebhookCall } from '../../dev/fakes/ports.ts';
import { decorating } from '../../dev/fakes/requests.ts';
import { boundedResync } from '../../hooks/hook.ts';
import { hookRoutes } from '../../hooks/index.ts';
import { responseOf } from '../support/admission.ts';
import { objectOf } from '../support/objects.ts';
import { healthCheck } from './healthCheck/fixture.ts';
import { fakeCall, NOW } from './rollout/call.ts';

const sync = (parent: object, ports: Partial<HookCall> = {}) => {
  const call = { ...fakeCall().call, ...ports };
  const route = hookRoutes(() => call).find(({ path }) => path === '/hooks/gate/sync')!;
  return route.answer({ controller: {}, parent, children: {}, related: {}, finalizing: false });
};

it('a HealthCheck with an interval of a thousand years: requeued within an hour, and not at once', async () => {
  const route = hookRoutes(() => fakeCall().call).find(({ path }) => path === '/hooks/healthcheck/sync')!;
  const about = 'healthcheck.kuberik.com';
  const annotations = { [`${about}/kustomization`]: 'app', [`${about}/requeue-interval`]: '9999999h' };
  const check = healthCheck({ metadata: { uid: 'u' }, annotations });
  const answered = async (status?: object) =>
    (await route.answer(decorating({ ...check, ...(status && { status }) }) as never)) as {
      status?: object;
      resyncAfterSeconds: number;
    };
  const { resyncAfterSeconds } = await answered((await answered()).status);
  expect(goDurationMs(resyncAfterSeconds)).toBeGreaterThan(0);
  expect(resyncAfterSeconds).toBeLessThanOrEqual(LIMITS.resyncAfterSeconds);
});

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

  it('one without a requeue stays so', () => {
    expect(boundedResync({})).toEqual({});
  });
});

const namedGate = (fields: object, metadata: object = {}) =>
  objectOf('Gate', {
    metadata: { namespace: 'shop', name: 'a', uid: 'u', ...metadata },
    spec: { default: 'opened' },
    ...fields,
  });
describe('a hook', () => {
  it.each([
    [namedGate({ spec: null }), '/parent/spec must be object'],
    [namedGate({ spec: { default: 'opened', schedule: { rules: 5 } } }), '/parent/spec/schedule/rules must be array'],
    [namedGate({ status: { conditions: [null] } }), '/parent/status/conditions/0 must be object'],
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
    await expect(sync(namedGate({}), { sharedReads: { recent: broken, withinMs: broken } })).rejects.toThrow(
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
    const write = { object: namedGate({ spec: null }) as KubeObject };
    await expect(responseOf('validate/gate', write, fakeWebhookCall({ now: NOW }).call)).rejects.toMatchObject({
      status: 400,
      message: 'not an AdmissionReview of admission.k8s.io/v1: /request/object/spec must be object',
    });
  });
});
