/**
 * Gates opened and read, and inputs read, from outside: by a hook server with the rights in our manifests, which is
 * restarted once.
 */
import { createHash, createHmac, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { requestToken } from '../../dev/local/controlPlane/serviceAccount.ts';
import { type AnyObject, gate, ref, rollout, waitFor } from '../cluster/support/cluster.ts';
import { createStrictly, exampleObjects } from '../cluster/support/examples.ts';
import { conditionText, gated, isFree, isHeld, requestGate } from '../cluster/support/gates.ts';
import { nextSecond } from '../cluster/support/rolloutScenario.ts';
import { ask as get } from '../server/program.ts';
import { cluster, inputsPort, issuer, kill, receiverPort, view } from './cluster.ts';

const TOKEN = 's3cret';
const BY_TOKEN = 'release-by-id-token';
const base = `http://127.0.0.1:${receiverPort}`;

/** Creates manifests/examples/gate-receiver.yaml in a new namespace: Secret, Gate and RoleBinding. */
async function receiving(): Promise<{ ns: string; path: string }> {
  const ns = await view.newNamespace();
  const text = readFileSync(new URL('../../manifests/examples/gate-receiver.yaml', import.meta.url), 'utf8');
  for (const document of parseAllDocuments(text)) {
    const object = document.toJS() as AnyObject;
    object.metadata.namespace = ns;
    if (object.kind === 'Secret') object.stringData = { token: TOKEN };
    await view.admin.create(object);
  }
  const path = `/hook/${createHash('sha256').update(`${TOKEN}release-pipeline${ns}`).digest('hex')}`;
  await waitFor(
    async () => (await view.admin.get(ref('gate', ns, 'release-pipeline'))).status?.webhookPath === path,
    'the path in the status, made as Flux makes a Receiver’s',
  );
  // The receiver finds paths in lists that may be two seconds old.
  await waitFor(async () => (await post(path, { body: '', headers: {} })) !== 404, 'the path to be known');
  return { ns, path };
}

interface Call {
  body: string;
  headers: Record<string, string>;
}

function signed(path: string, body: object): Call {
  const text = JSON.stringify(body);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', TOKEN).update(`${timestamp}.${path}.${text}`).digest('hex');
  return {
    body: text,
    headers: { 'x-signature': `sha256=${signature}`, 'x-timestamp': timestamp, 'x-nonce': randomUUID() },
  };
}

async function post(path: string, { body, headers }: Call): Promise<number> {
  const response = await fetch(`${base}${path}`, { method: 'POST', body, headers });
  expect(await response.text()).toBe('');
  return response.status;
}

/** Creates manifests/examples/gate-receiver-oidc.yaml in a new namespace, with the test's issuer. */
async function receivingTokens(): Promise<{ ns: string; path: string }> {
  const ns = await view.newNamespace();
  const names = { 'https://token.actions.githubusercontent.com': issuer.url, 'flux-system': ns };
  for (const object of exampleObjects('gate-receiver-oidc.yaml', names)) await view.admin.create(object);
  const path = `/hook/${ns}/${BY_TOKEN}`;
  await waitFor(
    async () => (await view.admin.get(ref('gate', ns, BY_TOKEN))).status?.webhookPath === path,
    'the path in the status',
  );
  return { ns, path };
}

async function withToken(path: string, action: string, claims: object = {}): Promise<Call> {
  const seconds = Math.floor(Date.now() / 1000);
  const token = await issuer.sign({
    iss: issuer.url,
    aud: `https://gates.example.com${path}`,
    sub: 'repo:my-org/my-app:ref:refs/heads/main',
    repository: 'my-org/my-app',
    ref: 'refs/heads/main',
    jti: randomUUID(),
    iat: seconds,
    exp: seconds + 300,
    ...claims,
  });
  return { body: JSON.stringify({ action, reason: 'CHG-1' }), headers: { authorization: `Bearer ${token}` } };
}

const opened = async (ns: string, name = 'release-pipeline') =>
  conditionText(await view.admin.get(ref('gate', ns, name)), 'Opened');
const becomes = (ns: string, status: 'True' | 'False', name?: string) =>
  waitFor(
    async () => (await opened(ns, name))?.startsWith(status),
    `the Gate to be ${status === 'True' ? 'open' : 'closed'}`,
  );

export function receiver(): void {
  describe('a receiver', () => {
    const oidc = {
      issuer: 'https://issuer.example',
      audience: 'https://gates.example.com/hook/apps/a',
      claims: { sub: 'me' },
    };
    const secretRef = { name: 'hook' };

    it.each<[string, object]>([
      ['both ways', { type: 'oidc', oidc, secretRef }],
      ['the fields of the other way', { type: 'hmac', oidc }],
      ['no field of its way', { type: 'oidc' }],
      ['no Secret', { type: 'hmac' }],
      ['an issuer without TLS', { type: 'oidc', oidc: { ...oidc, issuer: 'http://issuer.example' } }],
      ['no audience', { type: 'oidc', oidc: { ...oidc, audience: undefined } }],
      ['no claims', { type: 'oidc', oidc: { ...oidc, claims: {} } }],
      [
        'no claim that says whose pipeline it is',
        { type: 'oidc', oidc: { ...oidc, claims: { ref: 'refs/heads/main' } } },
      ],
      ['an empty claim', { type: 'oidc', oidc: { ...oidc, claims: { sub: '' } } }],
      ['a claim with a long name', { type: 'oidc', oidc: { ...oidc, claims: { sub: 'me', ['x'.repeat(65)]: 'y' } } }],
      [
        'too many claims',
        {
          type: 'oidc',
          oidc: {
            ...oidc,
            claims: { sub: 'me', ...Object.fromEntries(Array.from({ length: 16 }, (_, i) => [i, 'x'])) },
          },
        },
      ],
    ])('is not described by %s', async (_, receiver) => {
      const object = gate(await view.newNamespace(), 'a', { spec: { receiver } });
      await expect(view.sre.create(object)).rejects.toMatchObject({ code: 422 });
    });

    it.each(['sub', 'repository', 'repository_owner_id', 'project_path', 'namespace_id'])(
      'is described by %s alone; an issuer that is not allowed is reported',
      async (claim) => {
        const ns = await view.newNamespace();
        const receiver = { type: 'oidc', oidc: { ...oidc, claims: { [claim]: 'x'.repeat(512) } } };
        await view.sre.create(gate(ns, 'a', { spec: { receiver } }));
        const condition = await waitFor(
          async () => conditionText(await view.admin.get(ref('gate', ns, 'a')), 'ReceiverReady'),
          'the condition',
        );
        expect(condition).toContain('False IssuerNotAllowed');
      },
    );
  });

  it('a call takes effect once, signed or with a token, and Flagger gets the Gate’s state, also from a new server', async () => {
    const { ns, path } = await receiving();
    const call = signed(path, { action: 'open' });
    const renamed = { ...call, headers: { ...call.headers, 'x-nonce': randomUUID() } };
    const held = gated('Kustomization', ns, 'app', 'release-pipeline');
    await view.developer.create(held);
    await isHeld(view.admin, held);
    expect(await post(path, call)).toBe(200);
    await becomes(ns, 'True');
    await isFree(view.admin, held);
    expect(await post(path, signed(path, { action: 'close' }))).toBe(200);
    await becomes(ns, 'False');

    const byToken = await receivingTokens();
    const callByToken = await withToken(byToken.path, 'open');
    expect(await post(byToken.path, callByToken)).toBe(200);
    await becomes(byToken.ns, 'True', BY_TOKEN);
    expect((await view.admin.get(ref('gate', byToken.ns, BY_TOKEN))).status).toMatchObject({
      openedBy: 'system:serviceaccount:rollout-hooks:rollout-hooks',
      reason: 'repo:my-org/my-app:ref:refs/heads/main: CHG-1',
    });
    expect(await post(byToken.path, await withToken(byToken.path, 'close'))).toBe(200);
    await becomes(byToken.ns, 'False', BY_TOKEN);

    const confirm = async (route: string, body: object) => {
      const headers = { 'content-type': 'application/json' };
      return (await fetch(`${base}/flagger/${route}`, { method: 'POST', body: JSON.stringify(body), headers })).status;
    };
    const canary = { name: 'podinfo', namespace: ns, phase: 'Progressing', metadata: {} };
    await view.sre.create(gate(ns, 'podinfo'));
    expect(await confirm('confirm', canary)).toBe(403);
    await requestGate(view.sre, ns, 'podinfo', 'open');
    expect(await confirm('confirm', canary)).toBe(200);
    expect(await confirm('rollback', { ...canary, metadata: { gate: `${ns}/rollback` } })).toBe(403);

    const again = async () => [
      await post(path, call),
      await post(path, renamed),
      await post(byToken.path, callByToken),
    ];
    expect(await again()).toEqual([400, 400, 400]);
    await kill('hooks');
    await cluster.startHooks();
    expect(await again()).toEqual([400, 400, 400]);
    const stranger = await withToken(byToken.path, 'open', { repository: 'stranger/app' });
    expect(await post(byToken.path, stranger)).toBe(400);
    expect([await opened(ns), await opened(byToken.ns, BY_TOKEN)]).toEqual(
      Array(2).fill(expect.stringMatching(/^False/)),
    );
    expect(await confirm('confirm', { ...canary, metadata: { gate: `${ns}/podinfo` } })).toBe(200);
    await requestGate(view.sre, ns, 'podinfo', 'close');
    expect(await confirm('confirm', canary)).toBe(403);
    // The same request in the same second is the same call.
    await nextSecond();
    expect(await post(path, signed(path, { action: 'open' }))).toBe(200);
    await becomes(ns, 'True');
  });

  describe('inputs', () => {
    const AUDIENCE = 'rollout-hooks';
    const ACCOUNT = 'rollout-hooks-inputs';
    const inputs = async (path: string, token?: string) => {
      const headers = token ? { authorization: `Bearer ${token}` } : {};
      const { status, text } = await get({ port: inputsPort, path, ca: view.admin.access.ca, agent: false, headers });
      return { status, body: JSON.parse(text) };
    };

    it('are read with a token for them, of a ServiceAccount with the right to get that Rollout', async () => {
      const ns = await view.newNamespace();
      const rights = exampleObjects('resource-set-inputs.yaml', { 'namespace: apps': `namespace: ${ns}` }).filter(
        ({ kind }) => !kind.startsWith('ResourceSet'),
      );
      for (const object of rights) await createStrictly(view.admin, object);
      await view.admin.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace: ns, name: 'other' } });
      const token = await requestToken(view.admin, { namespace: ns, name: ACCOUNT }, AUDIENCE);
      const forApiServer = await requestToken(view.admin, { namespace: ns, name: ACCOUNT });
      const ofOther = await requestToken(view.admin, { namespace: ns, name: 'other' }, AUDIENCE);
      const path = `/inputs/${ns}/my-app`;

      expect((await inputs(path, token)).status).toBe(404);
      await view.publish(ns, 'my-app', '1.0.0');
      await view.admin.create(rollout(ns, 'my-app'));
      const { body } = await waitFor(async () => {
        const answer = await inputs(path, token);
        return answer.status === 200 && answer;
      }, 'inputs of the Rollout');
      expect(body.inputs).toMatchObject([{ namespace: ns, rollout: 'my-app', tag: '1.0.0', deployment: '1' }]);

      expect((await inputs(path)).status).toBe(401);
      expect((await inputs(path, forApiServer)).status).toBe(401);
      expect((await inputs(path, `${token}x`)).status).toBe(401);
      expect((await inputs(path, ofOther)).status).toBe(403);
      expect((await inputs(`/inputs/${ns}/other`, token)).status).toBe(403);

      const binding = rights.find(({ kind }) => kind === 'RoleBinding')!;
      await view.admin.remove(binding);
      await waitFor(async () => (await inputs(path, token)).status === 403, 'the right to be gone');
      await view.admin.remove({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace: ns, name: ACCOUNT } });
      await waitFor(async () => (await inputs(path, token)).status === 401, 'the token to be gone');
    });
  });
}
