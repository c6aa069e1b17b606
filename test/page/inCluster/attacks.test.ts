/** The page in a cluster, attacked: everything that a browser, an issuer or a neighbour may send, and what the API server is asked then. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Issuer, startIssuer } from '../../../dev/page/localIssuer.ts';
import { createCookieJar } from '../../../page/inCluster/cookies.ts';
import { type Lie, lyingIssuer } from './lyingIssuer.ts';
import {
  type Answer,
  atIssuer,
  cookieOf,
  FROM_PAGE,
  NARROW,
  ORIGIN,
  pageWorld,
  signedIn,
  type World,
} from './world.ts';

const ACCOUNTS = {
  alice: { email: 'alice@example.com', email_verified: true, groups: ['shop', 'on-call'] },
  bob: { email: 'bob@example.com', email_verified: true, groups: ['search'] },
  master: { email: 'master@example.com', email_verified: true, groups: ['shop', 'system:masters'] },
  /** The same user after a change of groups. */
  moved: { email: 'alice@example.com', email_verified: true, groups: ['search'] },
  admin: { email: 'system:admin', email_verified: true },
  narrow: { email: NARROW, email_verified: true },
  unverified: { email: 'alice@example.com', email_verified: false, groups: ['shop'] },
};
const AUTHORIZED = { status: 200 };
const act = { action: { type: 'pin', object: { kind: 'Rollout', namespace: 'shop', name: 'app' }, version: '1.0.0' } };
const POST = { method: 'POST', body: JSON.stringify({ ...act, dryRun: true }) };

let now = Date.now();
let issuer: Issuer;
let world: World;
beforeAll(async () => {
  issuer = await startIssuer(ACCOUNTS, `${ORIGIN}/signed-in`);
});
afterAll(() => issuer.close());

/** The world ends with its test. */
const opened = async (env: Record<string, string> = {}) => {
  now = Date.now();
  world = await pageWorld({ UI_OIDC_ISSUER: issuer.url, ...env }, () => now);
  return world;
};
const stream = (cookie: string, headers = {}) =>
  world.ask('/api/stream', { headers: { ...FROM_PAGE, cookie, ...headers } });
/** Until its end. */
const wholeStream = (cookie: string) =>
  world.ask('/api/stream', { headers: { ...FROM_PAGE, cookie }, until: () => false });

describe('a reader', () => {
  it('signs in, goes on where they were, and everything is asked with their rights alone', async () => {
    await opened();
    const { back, cookie } = await atIssuer(world, 'alice', '/rollout/shop/app?release=1.0.0');
    const answer = await world.ask(back, { headers: { cookie } });
    expect(answer.text).toContain('<meta http-equiv="refresh" content="0; url=/rollout/shop/app?release=1.0.0" />');
    const session = cookieOf(answer, 'session');
    expect(await stream(session)).toMatchObject(AUTHORIZED);
    await world.ask('/api/act', { ...POST, headers: json(session) });
    await signedIn(world, 'bob').then(stream);
    const written = world.asked.filter(({ path }) => path.includes('dryRun'));
    expect(written.map(({ user }) => user)).toEqual(['alice@example.com']);
    const whom = () => [...new Set(world.asked.map(({ user, groups }) => `${user}: ${groups}`))].sort();
    await vi.waitFor(() => expect(whom()).toHaveLength(2));
    expect(whom()).toEqual(['alice@example.com: shop, on-call', 'bob@example.com: search']);
    await world.close();
  });

  it('in other groups than before does not get what was read with those', async () => {
    await opened();
    for (const account of ['alice', 'moved'])
      expect(await stream(await signedIn(world, account))).toMatchObject(AUTHORIZED);
    const whom = () => [...new Set(world.asked.map(({ user, groups }) => `${user}: ${groups}`))].sort();
    await vi.waitFor(() => expect(whom()).toEqual(['alice@example.com: search', 'alice@example.com: shop, on-call']));
    await world.close();
  });

  it('who may not read the whole cluster is shown the namespaces that are named for that', async () => {
    await opened({ UI_NAMESPACES: 'shop,search' });
    expect(await stream(await signedIn(world, 'narrow'))).toMatchObject(AUTHORIZED);
    const read = () => world.asked.filter(({ path }) => /\/(rollouts|gates)\?limit/.test(path)).map(({ path }) => path);
    await vi.waitFor(() => expect(read()).toHaveLength(4));
    expect(read().every((path) => /\/namespaces\/(shop|search)\//.test(path))).toBe(true);
    await world.close();
  });

  it('signs out, and the browser forgets the session', async () => {
    await opened();
    const session = await signedIn(world, 'alice');
    const answer = await world.ask('/sign-out', { method: 'POST', headers: { ...FROM_PAGE, cookie: session } });
    expect(answer.cookies.every((each) => each.includes('Max-Age=0'))).toBe(true);
    // It would clear those of all hosts of the domain, the issuer's too.
    expect(answer.headers).not.toHaveProperty('clear-site-data');
    // There is no store of sessions: a copy of the cookie counts until its end, as docs/security.md says.
    expect(await stream(session)).toMatchObject(AUTHORIZED);
    await world.close();
  });

  it('whose session has ended is not answered, however they used it, and their stream has ended with it', async () => {
    await opened({ UI_SESSION_MINUTES: '5' });
    const session = await signedIn(world, 'alice');
    now += 5 * 60_000 - 1500;
    const used = await world.ask('/api/act', { ...POST, headers: json(session) });
    expect(used).toMatchObject({ ...AUTHORIZED, cookies: [] });
    expect(await wholeStream(session)).toMatchObject({ ...AUTHORIZED, cookies: [] });
    now += 2000;
    const { status, text } = await stream(session);
    expect([status, JSON.parse(text).signIn]).toEqual([401, '/sign-in']);
    expect(await world.ask('/api/act', { ...POST, headers: json(session) })).toMatchObject({ status: 401 });
    expect(world.asked.filter(({ path }) => path.includes('dryRun'))).toHaveLength(1);
    await world.close();
  });

  it('loses the session with the key of the cookies, and an open stream at once', async () => {
    await opened();
    const session = await signedIn(world, 'alice');
    const whole = wholeStream(session);
    await vi.waitFor(() => expect(world.asked.length).toBeGreaterThan(10));
    world.replaceKey('another key of the cookies, long enough');
    expect(await whole).toMatchObject(AUTHORIZED);
    expect(await stream(session)).toMatchObject({ status: 401 });
    await world.close();
  });
});

const json = (cookie: string) => ({ ...FROM_PAGE, cookie, 'content-type': 'application/json' });

describe('a sign-in', () => {
  const failed = async (answer: Promise<Answer>) => {
    const { status, cookies } = await answer;
    return { status, session: cookies.some((each) => /session=./.test(each) && !each.includes('Max-Age=0')) };
  };

  it.each(['master', 'admin', 'unverified'])('of %s is refused', async (account) => {
    await opened();
    const { back, cookie } = await atIssuer(world, account);
    expect(await failed(world.ask(back, { headers: { cookie } }))).toEqual({ status: 403, session: false });
    expect(world.asked).toEqual([]);
    await world.close();
  });

  it('counts once, in the browser that has begun it, in ten minutes', async () => {
    await opened();
    const { back, cookie } = await atIssuer(world, 'alice');
    const other = await atIssuer(world, 'alice');
    const refused = async (path: string, cookies: string, status: number) =>
      expect(await failed(world.ask(path, { headers: { cookie: cookies } }))).toEqual({ status, session: false });
    await refused(back, '', 400);
    // Another state, nonce and verifier.
    await refused(back, other.cookie, 502);
    await refused(back.replace(/state=[^&]+/, 'state=guessed'), cookie, 502);
    await refused(back.replace(/code=[^&]+/, 'code=guessed'), cookie, 502);
    await refused('/signed-in?error=access_denied', cookie, 502);
    now += 601_000;
    await refused(back, cookie, 400);
    now -= 601_000;
    const again = await atIssuer(world, 'alice');
    cookieOf(await world.ask(again.back, { headers: { cookie: again.cookie } }), 'session');
    await refused(again.back, again.cookie, 502);
    await world.close();
  });

  it('leads nowhere but to the page', async () => {
    await opened();
    for (const to of [
      'https://elsewhere.example',
      '//elsewhere.example',
      '/\\elsewhere.example',
      'javascript:alert(1)',
    ]) {
      const { back, cookie } = await atIssuer(world, 'alice', to);
      const { text } = await world.ask(back, { headers: { cookie } });
      expect(text).toContain('content="0; url=/"');
      expect(text).not.toContain('elsewhere');
    }
    await world.close();
  });

  it('writes no code, token or secret into log or answer', async () => {
    await opened();
    const { back, cookie } = await atIssuer(world, 'alice');
    const answer = await world.ask(back, { headers: { cookie } });
    const again = await world.ask(back, { headers: { cookie } });
    const written = [...world.logged, answer.text, again.text].join('\n');
    expect(world.logged.join()).toContain('signed in {"user":"alice@example.com"');
    expect(written).not.toMatch(/eyJ|the-secret|code=|state=/);
    expect(written).not.toContain(new URLSearchParams(back.split('?')[1]).get('code'));
    await world.close();
  });

  const claims = { email: 'alice@example.com' };
  const past = Math.floor(Date.now() / 1000) - 3600;
  it.each<[string, Lie]>([
    ['for another audience', { claims: { ...claims, aud: 'another-client' } }],
    ['for several audiences, and another party', { claims: { ...claims, aud: ['rollouts', 'b'], azp: 'b' } }],
    ['of another issuer', { claims: { ...claims, iss: 'https://elsewhere.example' } }],
    ['that has expired', { claims: { ...claims, iat: past, exp: past + 60 } }],
    ['without an end', { claims: { ...claims, exp: undefined } }],
    ['of another sign-in', { claims, nonce: 'of-another-sign-in' }],
    ['without a nonce', { claims: { ...claims, nonce: undefined } }],
    ['with another key', { claims, otherKey: true }],
    ['with the client’s secret', { claims, alg: 'HS256' }],
    ['without a signature', { claims, alg: 'none' }],
  ])('with a token %s is refused', async (_, lie) => {
    expect(await lied(lie)).toEqual({ status: 502, session: false });
  });

  it('with an honest token of the same issuer is not', async () => {
    expect(await lied({ claims })).toEqual({ status: 200, session: true });
    expect(await lied({ claims: { ...claims, groups: ['system:masters'] } })).toEqual({ status: 403, session: false });
  });

  async function lied(lie: Lie) {
    const liar = await lyingIssuer(() => lie);
    await opened({ UI_OIDC_ISSUER: liar.url });
    const begun = await world.ask('/sign-in');
    const { searchParams } = new URL(begun.headers.location!);
    expect(searchParams.get('code_challenge_method')).toBe('S256');
    liar.nonceIs(searchParams.get('nonce')!);
    const back = `/signed-in?code=1&state=${searchParams.get('state')}`;
    const outcome = await failed(world.ask(back, { headers: { cookie: cookieOf(begun, 'sign-in') } }));
    await world.close();
    liar.close();
    return outcome;
  }
});

describe('a request with a session', () => {
  const asAlice = async () => signedIn(await opened(), 'alice');
  const get = (path: string, cookie: string) => world.ask(path, { headers: { ...FROM_PAGE, cookie } });

  it.each([
    ['another host', { host: 'rebound.example' }, 421],
    ['another port', { host: 'rollouts.example.com:8080' }, 421],
    ['another origin', { origin: 'https://elsewhere.example' }, 403],
    ['no origin', { origin: undefined }, 403],
    ['the origin null', { origin: 'null' }, 403],
    ['another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['a sister site', { 'sec-fetch-site': 'same-site' }, 403],
    ['no header of the page, as a form would', { 'x-rollouts-page': undefined }, 403],
    ['the type of a form', { 'content-type': 'text/plain' }, 415],
  ])('from %s writes nothing', async (_, headers, status) => {
    const session = await asAlice();
    const sent = Object.entries({ ...json(session), ...headers }).filter(([, value]) => value !== undefined);
    expect(await world.ask('/api/act', { ...POST, headers: Object.fromEntries(sent) })).toMatchObject({ status });
    expect(world.asked).toEqual([]);
    await world.close();
  });

  it('cannot choose whom the API server sees', async () => {
    const session = await asAlice();
    await stream(session, {
      'impersonate-user': 'system:admin',
      'impersonate-group': 'system:masters',
      'impersonate-extra-scopes': 'all',
      'x-forwarded-user': 'bob@example.com',
      'x-forwarded-groups': 'system:masters',
      'x-remote-user': 'bob',
      authorization: 'Bearer a-token',
    });
    await vi.waitFor(() => expect(world.asked.length).toBeGreaterThan(10));
    expect(new Set(world.asked.map(({ user }) => user))).toEqual(new Set(['alice@example.com']));
    expect(world.asked.flatMap(({ others }) => others)).toEqual([]);
    await world.close();
  });

  it('of another key, of another purpose, changed or oversized is none', async () => {
    const session = await asAlice();
    const forged = createCookieJar({
      keys: () => [new Uint8Array(32)],
      seconds: { session: 3600, signIn: 600 },
      now: () => now,
    });
    const other = (await forged.seal('session', { user: 'bob', groups: [] }))!.split(';', 1)[0]!;
    const { cookie } = await atIssuer(world, 'alice');
    const renamed = cookie.replace('-sign-in=', '-session=');
    for (const each of ['', other, renamed, `${session.slice(0, -4)}AAAA`, `${session}; ${other}`])
      expect(await stream(each), each).toMatchObject({ status: 401 });
    expect(await stream(`${session}${'A'.repeat(8000)}`)).toMatchObject({ status: 401 });
    expect((await stream(`${session}${'A'.repeat(20_000)}`)).status).toBe(431);
    await world.close();
  });

  it('that comes too often is told so, and others are not', async () => {
    const session = await asAlice();
    const bob = await signedIn(world, 'bob');
    const many = await Promise.all(Array.from({ length: 130 }, () => get('/api/applications/shop/none', session)));
    expect(new Set(many.map(({ status }) => status))).toEqual(new Set([404, 429]));
    expect(await get('/api/applications/shop/none', bob)).toMatchObject({ status: 404 });
    await world.close();
  });
});

it('the page may run nothing but its own, in no frame; its files need no session, and tell nothing', async () => {
  await opened();
  for (const path of ['/', '/rollout/shop/app', '/sign-in', '/signed-in']) {
    const { headers, text } = await world.ask(path);
    expect(headers['content-security-policy']).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
    expect(headers['content-security-policy']).not.toContain('unsafe');
    expect(headers).toMatchObject({ 'x-frame-options': 'DENY', 'strict-transport-security': 'max-age=31536000' });
    expect(text).not.toContain('<script>');
  }
  for (const path of ['/api/stream', '/api/adopt', '/api/applications/shop/app'])
    expect(await world.ask(path, { headers: FROM_PAGE })).toMatchObject({ status: 401 });
  expect(world.asked).toEqual([]);
  await world.close();
});
