import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { identityIn } from '../../../../dev/local/controlPlane/identity.ts';

const YEAR_MS = 365 * 24 * 3_600_000;
let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'identity-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const file = () => join(dir, 'identity.json');

describe('a control plane that starts again', () => {
  it('has the authority, the key, the tokens and the port of its last start', async () => {
    const first = await identityIn(dir, 0, Date.now());
    const again = await identityIn(dir, 0, Date.now());
    expect(again.authority.certificate).toBe(first.authority.certificate);
    expect([again.signing, again.tokens, again.port]).toEqual([first.signing, first.tokens, first.port]);
  });

  it('keeps them where only its owner can read them', async () => {
    await identityIn(dir, 0, Date.now());
    expect(statSync(file()).mode & 0o777).toBe(0o600);
  });

  it('takes the port that it is told, and another one where the last is taken', async () => {
    expect((await identityIn(dir, 12_345, Date.now())).port).toBe(12_345);
    const other = createServer();
    const { port } = await identityIn(dir, 0, Date.now());
    await new Promise<void>((done) => other.listen(port, '127.0.0.1', done));
    expect((await identityIn(dir, 0, Date.now())).port).not.toBe(port);
    await new Promise((done) => other.close(done));
  });

  it('gets another authority when the last one is about to end', async () => {
    const first = await identityIn(dir, 0, Date.now());
    const later = await identityIn(dir, 0, Date.now() + YEAR_MS - 1000);
    expect(later.authority.certificate).not.toBe(first.authority.certificate);
    expect(later.tokens).toEqual(first.tokens);
  });

  it('is another one after its file was cut off', async () => {
    const first = await identityIn(dir, 0, Date.now());
    writeFileSync(file(), readFileSync(file(), 'utf8').slice(0, 200));
    expect((await identityIn(dir, 0, Date.now())).tokens).not.toEqual(first.tokens);
  });
});
