/** A request that no API server could send is refused by name; an error of ours is not blamed on it. */
import { describe, expect, it } from 'vitest';
import type { HookCall } from '../../api/ports.ts';
import { hookRoutes } from '../../hooks/index.ts';
import { webhookRoutes } from '../../webhooks/index.ts';
import { objectOf } from '../support/objects.ts';
import { fakeCall } from './rollout/call.ts';

const gate = (fields: object, metadata: object = {}) =>
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
    [gate({ spec: null }), '/parent/spec must be object'],
    [gate({ spec: { default: 'opened', schedule: { rules: 5 } } }), '/parent/spec/schedule/rules must be array'],
    [gate({ status: { conditions: [null] } }), '/parent/status/conditions/0 must be object'],
    [
      gate(
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
    await expect(sync(gate({}), { requirers: { read: broken } })).rejects.toThrow(new TypeError('ours'));
  });
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
      object: gate({}, { annotations: [null], labels: null }),
      oldObject: null,
    };
    const review = {
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      request: { ...request, object: gate({ spec: null }) },
    };
    const route = routes.find(({ path }) => path === '/admission/validate/gate')!;
    await expect(route.answer(review)).rejects.toMatchObject({
      status: 400,
      message: 'not an AdmissionReview of admission.k8s.io/v1: /request/object/spec must be object',
    });
  });
});
