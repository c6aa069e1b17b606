/** ID tokens of a real issuer: valid ones, and the cost of bad, slow and large answers of an issuer. */
import { exportSPKI, SignJWT, UnsecuredJWT } from 'jose';
import { beforeEach, describe, expect, it } from 'vitest';
import { SERVER_LIMITS } from '../../../server/http/serverLimits.ts';
import { createIdTokenVerifier, type IssuerOptions } from '../../../server/oidc/verifier.ts';
import { CONFIGURATION, type Handle, type Issuer, KEYS, newKey, startIssuer } from './issuer.ts';

const NOW = Date.parse('2026-01-05T10:00:00Z');
const S = NOW / 1000;
const { idTokenSeconds, idTokenClockSeconds, issuerBytes, issuerKeysSeconds, issuerPauseSeconds } = SERVER_LIMITS;

const issuer = await startIssuer();
const strangers = [await newKey('first'), await newKey('unknown')];
let clock = 0;
let verify: ReturnType<typeof verifying>;

beforeEach(async () => {
  issuer.answers.clear();
  issuer.requests.length = 0;
  await issuer.publish(issuer.key);
  verify = verifying();
});

function verifying(options: Partial<IssuerOptions> = {}) {
  const verifier = createIdTokenVerifier({ clock: () => clock, ca: issuer.ca, ...options });
  return (token: string) => verifier.verify(token, issuer.url, NOW);
}

const claims = (others: object = {}) => ({ iss: issuer.url, sub: 'me', aud: 'you', iat: S, exp: S + 300, ...others });
const reads = (path: string) => issuer.requests.filter((each) => each === `GET ${path}`).length;

describe('a token', () => {
  it.each(['RS256', 'PS256', 'ES256'])('signed with %s by a key of the issuer is valid', async (alg) => {
    const key = await newKey('k', alg);
    await issuer.publish(key);
    expect(await verify(await issuer.sign(claims(), key))).toEqual({ claims: claims() });
  });

  it.each<[string, () => Promise<string> | string, RegExp]>([
    ['that is none', () => 'a.b.c', /not valid/],
    ['of another issuer', () => issuer.sign(claims({ iss: 'https://elsewhere.example' })), /"iss"/],
    ['without an end', () => issuer.sign(claims({ exp: undefined })), /"exp"/],
    ['without a beginning', () => issuer.sign(claims({ iat: undefined })), /"iat"/],
    ['that has expired', () => issuer.sign(claims({ iat: S - 100, exp: S - idTokenClockSeconds })), /"exp"/],
    ['that is not valid yet', () => issuer.sign(claims({ nbf: S + idTokenClockSeconds + 1 })), /"nbf"/],
    ['from the future', () => issuer.sign(claims({ iat: S + idTokenClockSeconds + 1 })), /"iat"/],
    [
      'that is too old, however long it is valid',
      () => issuer.sign(claims({ iat: S - idTokenSeconds - idTokenClockSeconds - 1, exp: S + 9999 })),
      /"iat"/,
    ],
    ['without a signature', () => new UnsecuredJWT(claims()).encode(), /alg/i],
    [
      'signed with the public key as a secret',
      async () => {
        const secret = new TextEncoder().encode(await exportSPKI(issuer.key.publicKey));
        return new SignJWT(claims()).setProtectedHeader({ alg: 'HS256', kid: 'first' }).sign(secret);
      },
      /alg/i,
    ],
    ['signed by a stranger under a known key id', () => issuer.sign(claims(), strangers[0]), /signature/],
    ['signed by a stranger', () => issuer.sign(claims(), strangers[1]), /no applicable key/],
  ])('%s is not valid', async (_name, token, problem) => {
    const verdict = await verify(await token());
    expect(verdict).toMatchObject({ problem: expect.stringMatching(problem), isTemporary: false });
  });

  it('signed with an algorithm that is not listed is not valid', async () => {
    const key = await newKey('k', 'EdDSA');
    await issuer.publish(key);
    expect(await verify(await issuer.sign(claims(), key))).toMatchObject({ problem: expect.stringMatching(/alg/i) });
  });

  it('at each limit of its times is valid', async () => {
    for (const edge of [
      { iat: S + idTokenClockSeconds },
      { nbf: S + idTokenClockSeconds },
      { exp: S - idTokenClockSeconds + 1, iat: S - 100 },
      { iat: S - idTokenSeconds - idTokenClockSeconds },
    ]) {
      expect(await verify(await issuer.sign(claims(edge)))).toHaveProperty('claims');
    }
  });
});

describe('the keys', () => {
  it('are read once, by however many tokens at a time, and again when they are old', async () => {
    const token = await issuer.sign(claims());
    await Promise.all([verify(token), verify(token), verify(token)]);
    clock += issuerKeysSeconds * 1000 - 1;
    await verify(token);
    expect([reads(CONFIGURATION), reads(KEYS)]).toEqual([1, 1]);
    clock += 1;
    await verify(token);
    expect([reads(CONFIGURATION), reads(KEYS)]).toEqual([2, 2]);
  });

  it('are read again for a new key, after a pause, and a key that is gone counts no longer', async () => {
    const [old, next] = [await issuer.sign(claims()), strangers[1]!];
    await verify(old);
    await issuer.publish(next);
    const token = await issuer.sign(claims(), next);
    clock += issuerPauseSeconds * 1000 - 1;
    for (let i = 0; i < 20; i++) expect(await verify(token)).toHaveProperty('problem');
    expect(reads(KEYS)).toBe(1);
    clock += 1;
    expect(await verify(token)).toHaveProperty('claims');
    for (let i = 0; i < 20; i++) expect(await verify(old)).toHaveProperty('problem');
    expect(reads(KEYS)).toBe(2);
  });

  it.each<[string, (issuer: Issuer) => void, RegExp]>([
    ['are too many', ({ answers }) => answers.set(KEYS, (_, to) => to.end('x'.repeat(issuerBytes + 1))), /65536 bytes/],
    [
      'are too many, and their length is not told before',
      ({ answers }) => {
        answers.set(KEYS, (_, to) => {
          to.write('x'.repeat(issuerBytes));
          to.end('x');
        });
      },
      /65536 bytes/,
    ],
    ['are no JSON', ({ answers }) => answers.set(KEYS, (_, to) => to.end('<html>')), /not JSON/],
    ['are none', ({ answers }) => answers.set(KEYS, (_, to) => to.end('{"keys":"no"}')), /ERR_JWKS_INVALID/],
    [
      'are elsewhere',
      ({ answers, url }) =>
        answers.set(KEYS, (_, to) => to.writeHead(302, { location: `${url}${CONFIGURATION}` }).end()),
      /answers 302/,
    ],
    [
      'are said to be on another host',
      ({ answers, url }) => {
        const elsewhere = { issuer: url, jwks_uri: 'https://127.0.0.1:1/keys' };
        answers.set(CONFIGURATION, (_, to) => to.end(JSON.stringify(elsewhere)));
      },
      /own host/,
    ],
    [
      'are said to be there without TLS',
      ({ answers, url }) => {
        const plain = { issuer: url, jwks_uri: `${url.replace('https', 'http')}${KEYS}` };
        answers.set(CONFIGURATION, (_, to) => to.end(JSON.stringify(plain)));
      },
      /own host/,
    ],
    [
      'are of an issuer with another name',
      ({ answers, url }) => {
        const other = { issuer: 'https://elsewhere.example', jwks_uri: `${url}${KEYS}` };
        answers.set(CONFIGURATION, (_, to) => to.end(JSON.stringify(other)));
      },
      /another issuer/,
    ],
  ])('that %s lead nowhere, and are asked for once in a while', async (_name, misbehave, problem) => {
    misbehave(issuer);
    const token = await issuer.sign(claims());
    const verdict = { problem: expect.stringMatching(problem), isTemporary: true };
    expect(await verify(token)).toMatchObject(verdict);
    const { length } = issuer.requests;
    clock += issuerPauseSeconds * 1000 - 1;
    expect(await verify(token)).toMatchObject({ isTemporary: true });
    expect(issuer.requests).toHaveLength(length);
    issuer.answers.clear();
    clock += 1;
    expect(await verify(token)).toHaveProperty('claims');
  });

  it.each<[string, Handle]>([
    ['do not come', () => {}],
    [
      'come one byte at a time',
      (_, to) => {
        const drip = setInterval(() => to.write(' '), 50);
        to.on('close', () => clearInterval(drip));
      },
    ],
  ])('that %s are not waited for', async (_name, answer) => {
    issuer.answers.set(KEYS, answer);
    const verdict = await verifying({ timeoutMs: 200 })(await issuer.sign(claims()));
    expect(verdict).toMatchObject({ problem: expect.stringContaining('no answer in time'), isTemporary: true });
  });

  it('of an issuer that Node does not trust are not read', async () => {
    const trusting = createIdTokenVerifier({ clock: () => clock });
    const verdict = await trusting.verify(await issuer.sign(claims()), issuer.url, NOW);
    expect(verdict).toMatchObject({ problem: expect.stringContaining('cannot be read'), isTemporary: true });
    expect(issuer.requests).toEqual([]);
  });

  it('of one issuer do not vouch for another', async () => {
    const other = await startIssuer();
    expect(await verify(await other.sign(claims()))).toMatchObject({ isTemporary: false });
  });
});
