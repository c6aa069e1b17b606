/**
 * Attacks on the page in a cluster: requests of a browser, an issuer or a neighbour, and the resulting requests to the
 * API server.
 */
import { describe, expect, it } from 'vitest';
import { startIssuer } from '../../../dev/page/localIssuer.ts';
import { atEnd } from '../../support/atEnd.ts';
import { eventually } from '../../support/eventually.ts';
import { type Lie, lyingIssuer } from './lyingIssuer.ts';
import {
  type Answer,
  atIssuer,
  cookieOf,
  FROM_PAGE,
  NARROW,
  ORIGIN,
  openPage,
  type PageSetup,
  signedIn,
} from './pageSetup.ts';

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
let setup: PageSetup;
const issuer = await startIssuer(ACCOUNTS, `${ORIGIN}/signed-in`);
atEnd(issuer.close);

const opened = async (env: Record<string, string> = {}) => {
  now = Date.now();
  setup = await openPage({ UI_OIDC_ISSUER: issuer.url, ...env }, () => now);
  return setup;
};
const stream = (cookie: string, headers = {}) =>
  setup.ask('/api/stream', { headers: { ...FROM_PAGE, cookie, ...headers } });
/** Until its end. */
const wholeStream = (cookie: string) =>
  setup.ask('/api/stream', { headers: { ...FROM_PAGE, cookie }, until: () => false });

describe('a reader', () => {
  it('signs in, continues where they were, and every request has their rights only', async () => {
    await opened();
    const { back, cookie } = await atIssuer(setup, 'alice', '/rollout/shop/app?release=1.0.0');
    const answer = await setup.ask(back, { headers: { cookie } });
    expect(answer.text).toContain('<meta http-equiv="refresh" content="0; url=/rollout/shop/app?release=1.0.0" />');
    const session = cookieOf(answer, 'session');
    expect(await stream(session)).toMatchObject(AUTHORIZED);
    await setup.ask('/api/act', { ...POST, headers: json(session) });
    await signedIn(setup, 'bob').then(stream);
    const written = setup.asked.filter(({ path }) => path.includes('dryRun'));
    expect(written.map(({ user }) => user)).toEqual(['alice@example.com']);
    const whom = () => [...new Set(setup.asked.map(({ user, groups }) => `${user}: ${groups}`))].sort();
    await eventually(() => expect(whom()).toHaveLength(2));
    expect(whom()).toEqual(['alice@example.com: shop, on-call', 'bob@example.com: search']);
  });

  it('in other groups than before does not get objects read with those', async () => {
    await opened();
    for (const account of ['alice', 'moved'])
      expect(await stream(await signedIn(setup, account))).toMatchObject(AUTHORIZED);
    const whom = () => [...new Set(setup.asked.map(({ user, groups }) => `${user}: ${groups}`))].sort();
    await eventually(() => expect(whom()).toEqual(['alice@example.com: search', 'alice@example.com: shop, on-call']));
  });

  it('who may not read the whole cluster sees the namespaces that are configured for that', async () => {
    await opened({ UI_NAMESPACES: 'shop,search' });
    expect(await stream(await signedIn(setup, 'narrow'))).toMatchObject(AUTHORIZED);
    const read = () => setup.asked.filter(({ path }) => /\/(rollouts|gates)\?limit/.test(path)).map(({ path }) => path);
    await eventually(() => expect(read()).toHaveLength(4));
    expect(read().every((path) => /\/namespaces\/(shop|search)\//.test(path))).toBe(true);
  });

  it('signs out, and the browser deletes the session', async () => {
    await opened();
    const session = await signedIn(setup, 'alice');
    const elsewhere = { ...FROM_PAGE, origin: 'https://elsewhere.example', cookie: session };
    expect(await setup.ask('/sign-out', { method: 'POST', headers: elsewhere })).toMatchObject({
      status: 403,
      cookies: [],
    });
    const answer = await setup.ask('/sign-out', { method: 'POST', headers: { ...FROM_PAGE, cookie: session } });
    expect(answer.cookies.every((each) => each.includes('Max-Age=0'))).toBe(true);
    // The header would clear cookies of all hosts of the domain, including the issuer's.
    expect(answer.headers).not.toHaveProperty('clear-site-data');
    // Sessions aren't stored: a copy of the cookie is valid until its end, as docs/security.md describes.
    expect(await stream(session)).toMatchObject(AUTHORIZED);
  });

  it('whose session has ended gets no answer, whatever the request, and their stream has ended with it', async () => {
    await opened({ UI_SESSION_MINUTES: '5' });
    const session = await signedIn(setup, 'alice');
    now += 5 * 60_000 - 1500;
    const used = await setup.ask('/api/act', { ...POST, headers: json(session) });
    expect(used).toMatchObject({ ...AUTHORIZED, cookies: [] });
    expect(await wholeStream(session)).toMatchObject({ ...AUTHORIZED, cookies: [] });
    now += 2000;
    const { status, text } = await stream(session);
    expect([status, JSON.parse(text).signIn]).toEqual([401, '/sign-in']);
    expect(await setup.ask('/api/act', { ...POST, headers: json(session) })).toMatchObject({ status: 401 });
    expect(setup.asked.filter(({ path }) => path.includes('dryRun'))).toHaveLength(1);
  });

  it('loses the session with the key of the cookies, and an open stream at once', async () => {
    await opened();
    const session = await signedIn(setup, 'alice');
    const whole = wholeStream(session);
    await eventually(() => expect(setup.asked.length).toBeGreaterThan(10));
    setup.replaceKey('another key of the cookies, long enough');
    expect(await whole).toMatchObject(AUTHORIZED);
    expect(await stream(session)).toMatchObject({ status: 401 });
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
    const { back, cookie } = await atIssuer(setup, account);
    expect(await failed(setup.ask(back, { headers: { cookie } }))).toEqual({ status: 403, session: false });
    expect(setup.asked).toEqual([]);
  });

  describe('is kept from no reader by other pages', () => {
    const cross = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' };
    it.each([
      ['/signed-in', 400],
      ['/sign-in', 403],
    ])('that embed %s', async (path, status) => {
      await opened();
      for (let i = 0; i < 100; i++) expect(await setup.ask(path, { headers: cross })).toMatchObject({ status });
      const window = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
      expect(await setup.ask('/sign-in', { headers: window })).toMatchObject({ status: 302 });
      expect(await signedIn(setup, 'alice')).toMatch(/session=./);
    });
  });

  it('that has started ends, however many others start', async () => {
    await opened();
    const { back, cookie } = await atIssuer(setup, 'alice');
    const others = await Promise.all(Array.from({ length: 100 }, () => setup.ask('/sign-in')));
    expect(others.some(({ status }) => status === 429)).toBe(true);
    expect(await setup.ask(back, { headers: { cookie } })).toMatchObject({ status: 200 });
  });

  it('counts once, in the browser that has begun it, in ten minutes', async () => {
    await opened();
    const { back, cookie } = await atIssuer(setup, 'alice');
    const other = await atIssuer(setup, 'alice');
    const refused = async (path: string, cookies: string, status: number) =>
      expect(await failed(setup.ask(path, { headers: { cookie: cookies } }))).toEqual({ status, session: false });
    await refused(back, '', 400);
    // Another state, nonce and verifier.
    await refused(back, other.cookie, 502);
    await refused(back.replace(/state=[^&]+/, 'state=guessed'), cookie, 502);
    await refused(back.replace(/code=[^&]+/, 'code=guessed'), cookie, 502);
    await refused('/signed-in?error=access_denied', cookie, 502);
    now += 601_000;
    await refused(back, cookie, 400);
    now -= 601_000;
    const again = await atIssuer(setup, 'alice');
    cookieOf(await setup.ask(again.back, { headers: { cookie: again.cookie } }), 'session');
    await refused(again.back, again.cookie, 502);
  });

  it('leads nowhere but to the page', async () => {
    await opened();
    const { back, cookie } = await atIssuer(setup, 'alice', 'https://elsewhere.example');
    const { text } = await setup.ask(back, { headers: { cookie } });
    expect(text).toContain('content="0; url=/"');
    expect(text).not.toContain('elsewhere');
  });

  it('writes no code, token or secret into log or answer', async () => {
    await opened();
    const { back, cookie } = await atIssuer(setup, 'alice');
    const answer = await setup.ask(back, { headers: { cookie } });
    const again = await setup.ask(back, { headers: { cookie } });
    const written = [...setup.logged, answer.text, again.text].join('\n');
    expect(setup.logged.join()).toContain('signed in {"user":"alice@example.com"');
    expect(written).not.toMatch(/eyJ|the-secret|code=|state=/);
    expect(written).not.toContain(new URLSearchParams(back.split('?')[1]).get('code'));
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
    atEnd(liar.close);
    await opened({ UI_OIDC_ISSUER: liar.url });
    const begun = await setup.ask('/sign-in');
    const { searchParams } = new URL(begun.headers.location!);
    expect(searchParams.get('code_challenge_method')).toBe('S256');
    liar.nonceIs(searchParams.get('nonce')!);
    const back = `/signed-in?code=1&state=${searchParams.get('state')}`;
    return failed(setup.ask(back, { headers: { cookie: cookieOf(begun, 'sign-in') } }));
  }
});

describe('a request with a session', () => {
  const asAlice = async () => signedIn(await opened(), 'alice');
  const get = (path: string, cookie: string) => setup.ask(path, { headers: { ...FROM_PAGE, cookie } });

  it.each([
    ['another host', { host: 'rebound.example' }, 421],
    ['another origin', { origin: 'https://elsewhere.example' }, 403],
    ['the type of a form', { 'content-type': 'text/plain' }, 415],
  ])('from %s writes nothing', async (_, headers, status) => {
    const session = await asAlice();
    expect(await setup.ask('/api/act', { ...POST, headers: { ...json(session), ...headers } })).toMatchObject({
      status,
    });
    expect(setup.asked).toEqual([]);
  });

  it('can’t choose the user whom the API server sees', async () => {
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
    await eventually(() => expect(setup.asked.length).toBeGreaterThan(10));
    expect(new Set(setup.asked.map(({ user }) => user))).toEqual(new Set(['alice@example.com']));
    expect(setup.asked.flatMap(({ others }) => others)).toEqual([]);
  });

  it('that is none, or too long, is not answered', async () => {
    const session = await asAlice();
    for (const each of ['', `${session.slice(0, -4)}AAAA`, `${session}${'A'.repeat(8000)}`])
      expect(await stream(each), each).toMatchObject({ status: 401 });
    expect((await stream(`${session}${'A'.repeat(20_000)}`)).status).toBe(431);
  });

  it('that sends too many requests gets an error, and others do not', async () => {
    const session = await asAlice();
    const bob = await signedIn(setup, 'bob');
    const many = await Promise.all(Array.from({ length: 130 }, () => get('/api/applications/shop/none', session)));
    expect(new Set(many.map(({ status }) => status))).toEqual(new Set([404, 429]));
    expect(await get('/api/applications/shop/none', bob)).toMatchObject({ status: 404 });
  });
});

it('the page may run only its own scripts, in no frame; its files need no session, and have no data', async () => {
  await opened();
  for (const path of ['/', '/rollout/shop/app', '/sign-in', '/signed-in']) {
    const { headers, text } = await setup.ask(path);
    expect(headers['content-security-policy']).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
    expect(headers['content-security-policy']).not.toContain('unsafe');
    expect(headers).toMatchObject({ 'x-frame-options': 'DENY', 'strict-transport-security': 'max-age=31536000' });
    expect(text).not.toContain('<script>');
  }
  for (const path of ['/api/stream', '/api/adopt', '/api/applications/shop/app'])
    expect(await setup.ask(path, { headers: FROM_PAGE })).toMatchObject({ status: 401 });
  expect(setup.asked).toEqual([]);
});
