import { describe, expect, it } from 'vitest';
import type { Gate, GateStatus } from '../../api/types.ts';
import { fakeCluster, fakeHookCall } from '../../dev/fakes/ports.ts';
import { composing } from '../../dev/fakes/requests.ts';
import { gateHook } from '../../hooks/gateHook.ts';
import { gate } from '../core/gate/gate.ts';

const NOW = '2021-03-26T09:00:00Z';

async function sync(spec: Gate['spec'], around: Partial<Parameters<typeof fakeHookCall>[0]>) {
  const { call } = fakeHookCall({ now: Date.parse(NOW), ...around });
  const { status, resyncAfterSeconds } = await gateHook.sync(composing(gate(spec)), call);
  return { status: status as GateStatus, resyncAfterSeconds };
}

describe('a Gate that takes signed calls', () => {
  const spec: Gate['spec'] = { default: 'closed', receiver: { type: 'hmac', secretRef: { name: 'hook' } } };
  const secret = (data: Record<string, string>) => ({
    get: async () => ({ apiVersion: 'v1', kind: 'Secret', metadata: {}, data }) as any,
  });

  it('shows its path, made as Flux makes a Receiver’s', async () => {
    const { status } = await sync(spec, { cluster: { ...fakeCluster([]), ...secret({ token: btoa('s3cret') }) } });
    // printf s3cretfreezeplatform | sha256sum
    expect(status.webhookPath).toBe('/hook/2098322b9659f8d513183c922d835ed8c5f5cfb6f1306a4571b8cc07ea85204d');
  });

  it.each([
    ['does not exist', { get: async () => undefined }, 'SecretInvalid', "Secret 'platform/hook' does not exist"],
    ['has no token', secret({ password: 'x' }), 'SecretInvalid', "Secret 'platform/hook' has no key 'token'"],
    [
      'has a token of zero length',
      secret({ token: '' }),
      'SecretInvalid',
      "Secret 'platform/hook' has an empty key 'token'",
    ],
    [
      'cannot be read',
      { get: () => Promise.reject(new Error('403')) },
      'SecretUnreadable',
      "Secret 'platform/hook' cannot be read",
    ],
  ])('says so when its Secret %s, and reads it again', async (_name, cluster, reason, message) => {
    const { status, resyncAfterSeconds } = await sync(spec, { cluster: { ...fakeCluster([]), ...cluster } });
    expect(resyncAfterSeconds).toBe(30);
    expect(status).not.toHaveProperty('webhookPath');
    expect(status.conditions?.[1]).toMatchObject({ type: 'ReceiverReady', status: 'False', reason, message });
  });
});

describe('a Gate that takes ID tokens', () => {
  const issuer = 'https://issuer.example';
  const audience = 'https://gates.example.com/hook/platform/freeze';
  const oidc = { issuer, audience, claims: { sub: 'me' } };
  const synced = (changes: Partial<typeof oidc>, oidcIssuers?: string[]) =>
    sync(
      { default: 'closed', receiver: { type: 'oidc', oidc: { ...oidc, ...changes } } },
      oidcIssuers ? { settings: { oidcIssuers } } : {},
    );

  it('shows its path', async () => {
    const { status } = await synced({}, [issuer]);
    expect(status.webhookPath).toBe('/hook/platform/freeze');
    expect(status.conditions?.[1]).toMatchObject({ type: 'ReceiverReady', status: 'True' });
  });

  it.each<[string, Partial<typeof oidc>, string[] | undefined, string]>([
    ['no issuer is allowed', {}, undefined, 'IssuerNotAllowed'],
    ['another issuer is allowed', {}, [`${issuer}/`], 'IssuerNotAllowed'],
    ['its audience names another Gate', { audience: `${audience}-2` }, [issuer], 'AudienceInvalid'],
    ['its audience names no Gate', { audience: 'platform/freeze' }, [issuer], 'AudienceInvalid'],
  ])('says so where %s', async (_name, changes, issuers, reason) => {
    const { status } = await synced(changes, issuers);
    expect(status).not.toHaveProperty('webhookPath');
    expect(status.conditions?.[1]).toMatchObject({ type: 'ReceiverReady', status: 'False', reason });
  });
});
