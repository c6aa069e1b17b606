/** Gates opened and asked, and inputs read, from outside: on a cluster of its own whose hook server takes calls, with the rights we ship. */
import { createHash, createHmac, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { requestToken } from '../../dev/local/controlPlane/serviceAccount.ts';
import { freePort } from '../../dev/local/process/ports.ts';
import { type Issuer, startIssuer } from '../server/oidc/issuer.ts';
import { ask as get } from '../server/program.ts';
import { type AnyObject, type ClusterView, gate, ref, rollout, viewCluster, waitFor } from './support/cluster.ts';
import { createStrictly, exampleObjects } from './support/examples.ts';
import { ask, conditionText, gated, isFree, isHeld } from './support/gates.ts';
import { startTestCluster, type TestCluster } from './support/testCluster.ts';

const TOKEN = 's3cret';
let cluster: TestCluster;
let view: ClusterView;
let issuer: Issuer;
let base: string;
let inputsPort: number;
let env: Record<string, string>;

beforeAll(async () => {
  const port = await freePort();
  inputsPort = await freePort();
  issuer = await startIssuer();
  const ca = join(mkdtempSync(join(tmpdir(), 'issuer-')), 'ca.crt');
  writeFileSync(ca, issuer.ca);
  const issuers = { OIDC_ISSUERS: issuer.url, NODE_EXTRA_CA_CERTS: ca };
  env = { RECEIVER_PORT: String(port), INPUTS_PORT: String(inputsPort), ...issuers };
  base = `http://127.0.0.1:${port}`;
  cluster = await startTestCluster({ hookEnv: env });
  view = viewCluster(cluster);
});
afterAll(async () => {
  issuer?.close();
  await cluster?.dispose();
});

/** manifests/examples/gate-receiver.yaml in a namespace of its own: Secret, Gate and RoleBinding. */
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
  // Paths are looked up in lists that may be two seconds old.
  await waitFor(async () => (await post(path, { body: '', headers: {} })) !== 404, 'the path to be known');
  return { ns, path };
}

interface Call {
  body: string;
  headers: Record<string, string>;
}

function signed(
  path: string,
  body: object,
  { at = Date.now(), token = TOKEN }: { at?: number; token?: string } = {},
): Call {
  const text = JSON.stringify(body);
  const timestamp = String(Math.floor(at / 1000));
  const signature = createHmac('sha256', token).update(`${timestamp}.${path}.${text}`).digest('hex');
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

/** The same request in the same second is the same call. */
function nextSecond(): Promise<unknown> {
  const second = () => Math.floor(Date.now() / 1000);
  const now = second();
  return waitFor(() => second() > now, 'the next second');
}

const opened = (ns: string) =>
  view.admin.get(ref('gate', ns, 'release-pipeline')).then((object) => conditionText(object, 'Opened'));
const becomes = (ns: string, status: 'True' | 'False') =>
  waitFor(
    async () => (await opened(ns))?.startsWith(status),
    `the Gate to be ${status === 'True' ? 'open' : 'closed'}`,
  );

describe('a signed call', () => {
  it('opens and closes the Gate, and what requires it follows; the status says who and why', async () => {
    const { ns, path } = await receiving();
    const object = gated('Kustomization', ns, 'app', 'release-pipeline');
    await view.developer.create(object);
    await isHeld(view.admin, object);
    expect(await post(path, signed(path, { action: 'open', reason: 'CHG-1' }))).toBe(200);
    await becomes(ns, 'True');
    await isFree(view.admin, object);
    expect((await view.admin.get(ref('gate', ns, 'release-pipeline'))).status).toMatchObject({
      openedBy: 'system:serviceaccount:rollout-hooks:rollout-hooks',
      reason: 'CHG-1',
    });
    expect(await post(path, signed(path, { action: 'close' }))).toBe(200);
    await becomes(ns, 'False');
    await isHeld(view.admin, object);
  });

  it('is refused when it was taken before: again, under a new nonce, and after the hook server was restarted', async () => {
    const { ns, path } = await receiving();
    const call = signed(path, { action: 'open' });
    expect(await post(path, call)).toBe(200);
    await becomes(ns, 'True');
    await ask(view.sre, ns, 'release-pipeline', 'close');
    await becomes(ns, 'False');
    const renamed = { ...call, headers: { ...call.headers, 'x-nonce': randomUUID() } };
    expect([await post(path, call), await post(path, renamed)]).toEqual([400, 400]);
    cluster.hooks()?.kill('SIGKILL');
    await waitFor(() => cluster.hooks() === undefined, 'the hook server to be gone');
    await cluster.startHooks(env);
    expect([await post(path, call), await post(path, renamed)]).toEqual([400, 400]);
    expect(await opened(ns)).toMatch(/^False/);
    await nextSecond();
    expect(await post(path, signed(path, { action: 'open' }))).toBe(200);
    await becomes(ns, 'True');
  });

  it('goes nowhere in a namespace that did not let the hook server in', async () => {
    const ns = await view.newNamespace();
    await view.admin.create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'hook', namespace: ns },
      stringData: { token: TOKEN },
    });
    await view.sre.create(gate(ns, 'other', { spec: { receiver: { type: 'hmac', secretRef: { name: 'hook' } } } }));
    const object = await waitFor(async () => {
      const found = await view.admin.get(ref('gate', ns, 'other'));
      return conditionText(found, 'ReceiverReady') && found;
    }, 'the condition');
    expect(conditionText(object, 'ReceiverReady')).toContain('False SecretUnreadable');
    expect(conditionText(object, 'Opened')).toContain('Gate closed by default');
  });
});

describe('a call with an ID token', () => {
  const NAME = 'release-by-id-token';

  /** manifests/examples/gate-receiver-oidc.yaml in a namespace of its own, with an issuer of the test's. */
  async function receivingTokens({ isBound = true } = {}): Promise<{ ns: string; path: string }> {
    const ns = await view.newNamespace();
    const names = { 'https://token.actions.githubusercontent.com': issuer.url, 'flux-system': ns };
    for (const object of exampleObjects('gate-receiver-oidc.yaml', names)) {
      if (isBound || object.kind !== 'RoleBinding') await view.admin.create(object);
    }
    const path = `/hook/${ns}/${NAME}`;
    await waitFor(
      async () => (await view.admin.get(ref('gate', ns, NAME))).status?.webhookPath === path,
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

  const state = async (ns: string) => conditionText(await view.admin.get(ref('gate', ns, NAME)), 'Opened');

  it('opens the Gate once, also when the hook server was restarted, and the status says whose pipeline it was', async () => {
    const { ns, path } = await receivingTokens();
    const call = await withToken(path, 'open');
    expect(await post(path, call)).toBe(200);
    await waitFor(async () => (await state(ns))?.startsWith('True'), 'the Gate to be open');
    expect((await view.admin.get(ref('gate', ns, NAME))).status).toMatchObject({
      openedBy: 'system:serviceaccount:rollout-hooks:rollout-hooks',
      reason: 'repo:my-org/my-app:ref:refs/heads/main: CHG-1',
    });
    expect(await post(path, await withToken(path, 'close'))).toBe(200);
    await waitFor(async () => (await state(ns))?.startsWith('False'), 'the Gate to be closed');
    cluster.hooks()?.kill('SIGKILL');
    await waitFor(() => cluster.hooks() === undefined, 'the hook server to be gone');
    await cluster.startHooks(env);
    expect(await post(path, call)).toBe(400);
    expect(await post(path, await withToken(path, 'open', { repository: 'stranger/app' }))).toBe(400);
    expect(await state(ns)).toMatch(/^False/);
  });

  it('goes nowhere in a namespace that does not let the server annotate the Gate', async () => {
    const { ns, path } = await receivingTokens({ isBound: false });
    expect(await post(path, await withToken(path, 'open'))).toBe(503);
    expect(await state(ns)).toMatch(/^False/);
  });

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
        oidc: { ...oidc, claims: { sub: 'me', ...Object.fromEntries(Array.from({ length: 16 }, (_, i) => [i, 'x'])) } },
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

describe('Flagger', () => {
  const confirm = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' };
    return (await fetch(`${base}/flagger/${path}`, { method: 'POST', body: JSON.stringify(body), headers })).status;
  };

  it('is answered from the Gate, also by a server that was just started', async () => {
    const ns = await view.newNamespace();
    await view.sre.create(gate(ns, 'podinfo'));
    const canary = { name: 'podinfo', namespace: ns, phase: 'Progressing', metadata: {} };
    expect(await confirm('confirm', canary)).toBe(403);
    await ask(view.sre, ns, 'podinfo', 'open');
    expect(await confirm('confirm', canary)).toBe(200);
    expect(await confirm('rollback', { ...canary, metadata: { gate: `${ns}/rollback` } })).toBe(403);
    cluster.hooks()?.kill('SIGKILL');
    await waitFor(() => cluster.hooks() === undefined, 'the hook server to be gone');
    await cluster.startHooks(env);
    expect(await confirm('confirm', { ...canary, metadata: { gate: `${ns}/podinfo` } })).toBe(200);
    await ask(view.sre, ns, 'podinfo', 'close');
    expect(await confirm('confirm', canary)).toBe(403);
  });
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
