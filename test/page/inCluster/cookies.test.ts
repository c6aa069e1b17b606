/** Encrypted cookies: keys, purpose and expiry. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type CookieKind, clearCookie, createCookieJar, watchKeys } from '../../../page/inCluster/cookies.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';

const [OLD, NEW] = [randomBytes(32), randomBytes(32)];
const SECONDS = { session: 3600, signIn: 600 };
let now = Date.parse('2026-03-01T12:00:00Z');
const jarOf = (...keys: Uint8Array[]) => createCookieJar({ keys: () => keys, seconds: SECONDS, now: () => now });
const content = { user: 'alice', groups: ['shop'] };
const sealed = async (kind: CookieKind, ...keys: Uint8Array[]) =>
  (await jarOf(...keys).seal(kind, content))!.split(';', 1)[0]!;

it('a cookie is sent to this host only, by TLS, and to no script', async () => {
  const session = await jarOf(NEW).seal('session', content);
  expect(session).toMatch(
    /^__Host-rollouts-session=[\w.-]+; Path=\/; Max-Age=3600; Secure; HttpOnly; SameSite=Strict$/,
  );
  expect(session).not.toContain('alice');
  expect(await jarOf(NEW).seal('signIn', {})).toMatch(/^__Host-rollouts-sign-in=.*; Max-Age=600; .*SameSite=Lax$/);
  expect(clearCookie('session')).toContain('=; Path=/; Max-Age=0;');
});

it('it is opened with its key, and with the previous one during a rotation', async () => {
  const cookie = await sealed('session', OLD);
  const opened = { content, expires: now / 1000 + 3600 };
  expect(await jarOf(OLD).open('session', cookie)).toEqual(opened);
  expect(await jarOf(NEW, OLD).open('session', `a=b; ${cookie}`)).toEqual(opened);
  expect(await jarOf(NEW).open('session', cookie)).toBeUndefined();
});

it('it counts for its purpose and its time', async () => {
  const cookie = await sealed('session', NEW);
  const renamed = cookie.replace('-session=', '-sign-in=');
  expect(await jarOf(NEW).open('signIn', renamed)).toBeUndefined();
  now += 3601 * 1000;
  expect(await jarOf(NEW).open('session', cookie)).toBeUndefined();
});

it('a shorter session ends open ones too', async () => {
  const cookie = await sealed('session', NEW);
  now += 1800 * 1000;
  const shorter = createCookieJar({ keys: () => [NEW], seconds: { ...SECONDS, session: 900 }, now: () => now });
  expect(await jarOf(NEW).open('session', cookie)).toBeDefined();
  expect(await shorter.open('session', cookie)).toBeUndefined();
});

it('a changed, long or repeated one is invalid', async () => {
  const cookie = await sealed('session', NEW);
  const changed = cookie.slice(0, -3) + (cookie.endsWith('AAA') ? 'BBB' : 'AAA');
  for (const header of [
    changed,
    `${cookie}; ${cookie}`,
    `${cookie}${'A'.repeat(4000)}`,
    '__Host-rollouts-session=',
    '',
  ])
    expect(await jarOf(NEW).open('session', header)).toBeUndefined();
  const groups = Array.from({ length: 100 }, () => 'a group with a long name that is in a directory');
  expect(await jarOf(NEW).seal('session', { user: 'alice', groups })).toBeUndefined();
});

it('keys are long, and the previous one may be missing', () => {
  const folder = temporaryFolder('keys-');
  const [current, previous] = [join(folder, 'key'), join(folder, 'previous')];
  const log = { info: () => {}, error: () => {} };
  writeFileSync(current, 'too short');
  expect(() => watchKeys({ current }, log)).toThrow('fewer than 32 characters');
  writeFileSync(current, 'a'.repeat(32));
  const alone = watchKeys({ current, previous }, log);
  expect(alone.current()).toHaveLength(1);
  writeFileSync(previous, 'b'.repeat(32));
  const both = watchKeys({ current, previous }, log);
  expect(both.current().map(({ length }) => length)).toEqual([32, 32]);
  for (const { stop } of [alone, both]) stop();
});
