/** Calls with ID tokens of a real issuer, from HTTP to the Gate. */
import type { Express } from 'express';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import type { Gate } from '../../api/types.ts';
import { createReceiver, RECEIVER_LIMITS } from '../../receiver/index.ts';
import { createIdTokenVerifier } from '../../server/oidc/verifier.ts';
import { gate } from '../core/gate/gate.ts';
import { KEYS, startIssuer } from '../server/oidc/issuer.ts';
import { receiver, T0 } from './receiverSetup.ts';

const PATH = '/hook/platform/freeze';
const AUDIENCE = `https://gates.example.com${PATH}`;
const SUB = 'repo:org/app:ref:refs/heads/main';
const REQUESTED = 'close.gate.fluxcd.io/requestedAt';

const issuer = await startIssuer();

type Oidc = NonNullable<NonNullable<Gate['spec']['receiver']>['oidc']>;

function receiving(oidc: Partial<Oidc> = {}, oidcIssuers = [issuer.url], metadata: object = {}) {
  const spec: Gate['spec'] = {
    default: 'closed',
    window: '1h',
    receiver: {
      type: 'oidc',
      oidc: {
        issuer: issuer.url,
        audience: AUDIENCE,
        claims: { repository: 'org/app', ref: 'refs/heads/main' },
        ...oidc,
      },
    },
  };
  const idTokens = createIdTokenVerifier({ clock: () => performance.now(), ca: issuer.ca });
  const stored = { ...gate(spec), status: {} };
  Object.assign(stored.metadata, metadata);
  return receiver(stored, { now: T0 }, { idTokens, oidcIssuers });
}

const tokenWith = (others: object = {}) =>
  issuer.sign({
    iss: issuer.url,
    aud: AUDIENCE,
    sub: SUB,
    repository: 'org/app',
    ref: 'refs/heads/main',
    jti: 'one',
    iat: T0 / 1000,
    exp: T0 / 1000 + 300,
    ...others,
  });

function call(app: Express, token: string | undefined, body: unknown = { action: 'open' }, path = PATH) {
  const sent = request(app).post(path).set('Content-Type', 'application/json');
  if (token !== undefined) sent.set('Authorization', `Bearer ${token}`);
  return sent.send(typeof body === 'string' ? body : JSON.stringify(body));
}

describe('POST /hook/<namespace>/<name>', () => {
  it('opens and closes the Gate, records the pipeline, and answers with an empty body', async () => {
    const { app, clock, opened } = receiving();
    const first = await call(app, await tokenWith(), { action: 'open', reason: 'CHG-1', for: '1.2.0' });
    expect([first.status, first.text]).toEqual([200, '']);
    expect(opened()).toMatchObject({ openFor: '1.2.0', exception: { by: 'hooks', reason: `${SUB}: CHG-1` } });
    clock.now += 1000;
    expect((await call(app, await tokenWith({ jti: 'two' }), { action: 'close' })).status).toBe(200);
    expect(opened()).toMatchObject({ opened: false, message: 'Gate close requested', cause: { reason: SUB } });
  });

  it.each<[string, object]>([
    ['another audience', { aud: 'https://gates.example.com/hook/platform/other' }],
    ['this audience among others', { aud: [AUDIENCE, 'https://elsewhere.example'] }],
    ['no audience', { aud: undefined }],
    ['another repository', { repository: 'org/fork' }],
    ['no such claim', { ref: undefined }],
    ['a claim that is a list', { repository: ['org/app'] }],
    ['another case', { repository: 'Org/App' }],
    ['no subject', { sub: undefined }],
    ['a subject of two lines', { sub: 'a\nopened by admin' }],
    ['a subject that reads backwards', { sub: 'a\u202eb' }],
    ['a long subject', { sub: 'x'.repeat(513) }],
  ])('with %s: 400, nothing said, nothing changed', async (_name, claims) => {
    const { app, state, opened } = receiving();
    const answer = await call(app, await tokenWith(claims));
    expect([answer.status, answer.text]).toEqual([400, '']);
    expect(opened().opened).toBe(false);
    expect(state.gate?.metadata).not.toHaveProperty('annotations');
    expect(state.refusals).toHaveLength(1);
  });

  it('logs which claim is wrong, on one line, and never the token', async () => {
    const { app, state } = receiving();
    const token = await tokenWith({ repository: `or\ng/${'x'.repeat(500)}` });
    await call(app, token);
    const [line] = state.refusals;
    expect(line).toMatch(/^call refused: the token's repository is "or\\ng\/x+, not 'org\/app'$/);
    expect(line!.length).toBeLessThan(200);
    expect(line).not.toContain(token.slice(0, 20));
  });

  it.each([
    ['true', true],
    ['12', 12],
  ])('a claim of %s matches it as JSON has it', async (text, value) => {
    const { app } = receiving({ claims: { sub: SUB, claim: text } });
    expect((await call(app, await tokenWith({ claim: value }))).status).toBe(200);
  });

  it('a claim that every object inherits is missing', async () => {
    const { app, state } = receiving({ claims: { sub: SUB, constructor: 'x' } });
    expect((await call(app, await tokenWith())).status).toBe(400);
    expect(state.refusals.join()).toContain("constructor is missing, not 'x'");
  });

  it.each([
    ['no token', undefined],
    ['a token that is none', 'a.b.c'],
    ['another scheme', 'x y'],
  ])('with %s: 400', async (_name, token) => {
    const { app, opened } = receiving();
    expect((await call(app, token)).status).toBe(400);
    expect(opened().opened).toBe(false);
  });

  it('a token is as large as the limit, before anything is read', async () => {
    const { app, state } = receiving();
    const head = await tokenWith({ pad: '' });
    const pad = 'x'.repeat(Math.floor(((RECEIVER_LIMITS.idTokenBytes - head.length) * 3) / 4));
    const largest = await tokenWith({ pad });
    expect(RECEIVER_LIMITS.idTokenBytes - largest.length).toBeLessThan(4);
    expect((await call(app, `${largest}${'x'.repeat(RECEIVER_LIMITS.idTokenBytes - largest.length + 1)}`)).status).toBe(
      400,
    );
    expect(state.reads).toBe(0);
    expect((await call(app, largest)).status).toBe(200);
  });

  it('413 above 8 kB, 405 for other methods, 404 for a path that no Gate can have, before anything is read', async () => {
    const { app, state } = receiving();
    const token = await tokenWith();
    expect((await call(app, token, 'x'.repeat(8 * 1024 + 1))).status).toBe(413);
    expect((await request(app).get(PATH)).status).toBe(405);
    for (const path of ['/hook/platform/..%2f', '/hook/a.b/freeze', '/hook/platform/-', '/hook/platform/Freeze']) {
      expect((await call(app, token, {}, path)).status, path).toBe(404);
    }
    expect(state.reads).toBe(0);
  });

  it('404 for a Gate that takes no ID tokens, or is not there', async () => {
    const token = await tokenWith();
    expect((await call(receiver().app, token)).status).toBe(404);
    expect((await call(receiving().app, token, {}, '/hook/platform/other')).status).toBe(404);
  });

  it('a path of signed calls takes no Gate of this type, also if it was of the other before', async () => {
    const { app, state } = receiving();
    const path = `/hook/${'0'.repeat(64)}`;
    state.gate!.status = { webhookPath: path };
    expect((await call(app, await tokenWith(), {}, path)).status).toBe(404);
  });

  it.each([
    ['no issuer is allowed', []],
    ['another issuer is allowed', ['https://elsewhere.example']],
  ])('503 where %s, and the issuer is not asked', async (_name, issuers) => {
    const { app, state } = receiving({}, issuers);
    const { length } = issuer.requests;
    expect((await call(app, await tokenWith())).status).toBe(503);
    expect(state.refusals.join()).toContain('OIDC_ISSUERS does not list it');
    expect(issuer.requests).toHaveLength(length);
  });

  it('503 where the audience may be that of another Gate', async () => {
    const { app, state } = receiving({ audience: 'gates' });
    expect((await call(app, await tokenWith({ aud: 'gates' }))).status).toBe(503);
    expect(state.refusals.join()).toContain('does not end with /hook/platform/freeze');
  });

  it('503 while the issuer does not answer, and while the server may not annotate the Gate', async () => {
    issuer.answers.set(KEYS, (_, response) => response.writeHead(500).end());
    expect((await call(receiving().app, await tokenWith())).status).toBe(503);
    issuer.answers.clear();
    const { app, state } = receiving();
    state.isForbidden = true;
    expect((await call(app, await tokenWith())).status).toBe(503);
    expect(state.refusals.join()).toContain("isn't allowed to patch the Gate");
  });
});

it('a Gate that names another issuer by the time it is written takes no token of the first', async () => {
  const { state, ports } = receiving();
  const idTokens: typeof ports.idTokens = {
    async verify(...token) {
      const result = await ports.idTokens.verify(...token);
      state.gate!.spec.receiver!.oidc!.issuer = 'https://elsewhere.example';
      state.version++;
      return result;
    },
  };
  const answer = await call(createReceiver({ ...ports, idTokens }), await tokenWith());
  expect([answer.status, state.gate!.metadata.annotations]).toEqual([400, undefined]);
});

describe('a captured token', () => {
  it.each([
    ['as it was', 1000, { action: 'open' }],
    ['with another order', 1000, { action: 'close' }],
    ['just before it ends', 299_000, { action: 'open' }],
    ['after it has ended', 331_000, { action: 'open' }],
  ])('sent again %s is refused, by a replica that was not there', async (_name, later, body) => {
    const { app, clock, replica, state } = receiving();
    const token = await tokenWith();
    expect((await call(app, token)).status).toBe(200);
    const after = structuredClone(state.gate);
    clock.now += later;
    expect((await call(replica(), token, body)).status).toBe(400);
    expect(state.gate).toEqual(after);
  });

  it('is refused for the lifetime of the longest token', async () => {
    const { app, clock, replica } = receiving();
    const token = await tokenWith({ iat: T0 / 1000 + 30, exp: T0 / 1000 + 9999 });
    expect((await call(app, token)).status).toBe(200);
    for (const later of [480_000, 539_000, 540_000, 600_000, 601_000, 660_000]) {
      clock.now = T0 + later;
      expect((await call(replica(), token)).status, `${later}`).toBe(400);
    }
  });

  it('sent to three replicas at the same time counts once', async () => {
    const { replica } = receiving();
    const token = await tokenWith({ jti: undefined });
    const answers = await Promise.all([call(replica(), token), call(replica(), token), call(replica(), token)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
  });

  it('with its signature written in another way is refused', async () => {
    const { app, replica } = receiving();
    const token = await tokenWith();
    expect((await call(app, token)).status).toBe(200);
    expect((await call(replica(), `${token}=`)).status).toBe(400);
    expect((await call(replica(), `${token}A`)).status).toBe(400);
  });

  it('from before the Gate was made again is refused', async () => {
    const { app } = receiving({}, [issuer.url], { creationTimestamp: new Date(T0).toISOString() });
    expect((await call(app, await tokenWith({ iat: T0 / 1000 - 1 }))).status).toBe(400);
    expect((await call(app, await tokenWith())).status).toBe(200);
  });
});

it('429 after ten calls in a minute; those of strangers with an account at the issuer do not count', async () => {
  const { app, state, clock } = receiving();
  for (let i = 0; i < 70; i++) {
    expect((await call(app, await tokenWith({ repository: 'stranger/app', jti: `${i}` }))).status).toBe(400);
  }
  expect(state.refusals.length).toBeLessThanOrEqual(10);
  for (let i = 0; i < 10; i++) {
    clock.now += 1000;
    expect((await call(app, await tokenWith({ jti: `right ${i}` }), { action: 'close' })).status).toBe(200);
  }
  expect(state.gate?.metadata.annotations).toHaveProperty([REQUESTED]);
  expect((await call(app, await tokenWith({ jti: 'last' }))).status).toBe(429);
});

it('429 after sixty calls of the right caller to one process, which lead to nothing', async () => {
  const { app } = receiving();
  const token = await tokenWith();
  for (let i = 0; i < 60; i++) expect((await call(app, token, { action: 'explode' })).status).toBe(400);
  expect((await call(app, token)).status).toBe(429);
});
