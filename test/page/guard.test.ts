import { describe, expect, it } from 'vitest';
import { refuseCaller, refuseHost, SECURITY_HEADERS } from '../../page/guard.ts';

const HOSTS = ['127.0.0.1:40123', 'localhost:40123'];
const TOKEN = 'the-key-of-this-server-1234';
const good = { host: '127.0.0.1:40123', authorization: `Bearer ${TOKEN}` };

describe('the server of the page', () => {
  it('answers to its own two names', () => {
    for (const host of HOSTS) expect(refuseHost({ host }, HOSTS)).toBeUndefined();
  });

  it.each(['evil.example:40123', '127.0.0.1:40124', '127.0.0.1', 'localhost', '[::1]:40123', ''])(
    'answers not to %j',
    (host) => {
      expect(refuseHost({ host }, HOSTS)).toMatchObject({ status: 421 });
    },
  );

  it('answers requests with the key, from its own page or from no page', () => {
    expect(refuseCaller(good, TOKEN)).toBeUndefined();
    expect(
      refuseCaller({ ...good, origin: 'http://127.0.0.1:40123', 'sec-fetch-site': 'same-origin' }, TOKEN),
    ).toBeUndefined();
  });

  it.each([
    ['another origin', { origin: 'http://evil.example' }],
    ['its own name on another port', { origin: 'http://127.0.0.1:40124' }],
    ['no origin that has a name', { origin: 'null' }],
    ['another site, by a browser that says so', { 'sec-fetch-site': 'cross-site' }],
    ['a neighbour of the same site', { 'sec-fetch-site': 'same-site' }],
    ['a link', { 'sec-fetch-site': 'none' }],
  ])('refuses %s, with the key too', (_, headers) => {
    expect(refuseCaller({ ...good, ...headers }, TOKEN)).toMatchObject({ status: 403 });
  });

  it.each([
    ['no key', undefined],
    ['another', 'Bearer another-key-another-key-1'],
    ['a longer one', `Bearer ${TOKEN}x`],
    ['a shorter one', `Bearer ${TOKEN.slice(0, -1)}`],
    ['one in another scheme', `Basic ${TOKEN}`],
    ['one of the wrong case', `Bearer ${TOKEN.toUpperCase()}`],
  ])('refuses %s, and says what to do', (_, authorization) => {
    const refusal = refuseCaller({ host: good.host, ...(authorization && { authorization }) }, TOKEN);
    expect(refusal).toMatchObject({ status: 401, message: expect.stringContaining('kubectl rollouts ui') });
  });

  it('allows a page no external resources, no inline scripts, and no frames', () => {
    const policy = SECURITY_HEADERS['content-security-policy'];
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
  });
});
