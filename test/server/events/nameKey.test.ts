import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { watchNameKey } from '../../../server/events/nameKey.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';

const errors: unknown[] = [];
const log = { info() {}, error: (...line: unknown[]) => void errors.push(line) };

it('the key of Event names is the same in each replica, another for another secret, and follows a rotation', async () => {
  const folder = temporaryFolder('event-names-');
  const file = (name: string, text: string) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const tls = { cert: 'unused', key: file('tls.key', 'private key') };
  const hooksToken = { current: file('token', 'token') };
  const [one, other] = [watchNameKey({ tls, hooksToken }, log), watchNameKey({ tls }, log)];
  const first = one();
  expect(first.toString('hex')).toBe(other().toString('hex'));
  const [byToken, byNothing] = [watchNameKey({ hooksToken }, log)(), watchNameKey({}, log)()];
  expect(new Set([first, byToken, byNothing].map((key) => key.toString('hex'))).size).toBe(3);
  file('tls.key', 'next private key');
  await expect.poll(() => one().equals(first)).toBe(false);
  const second = one();
  file('tls.key', '');
  // One of `one`, one of `other`.
  await expect.poll(() => errors.length).toBe(2);
  expect(one().equals(second)).toBe(true);
});
