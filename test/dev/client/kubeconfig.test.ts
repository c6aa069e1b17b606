import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { readKubeconfig } from '../../../dev/client/kubeconfig.ts';

const dir = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
afterAll(() => rmSync(dir, { recursive: true }));

const base64 = (text: string) => Buffer.from(text).toString('base64');

const ca = { 'certificate-authority-data': base64('CA') };

function file(user: object, cluster: object = {}): string {
  const path = join(dir, 'kubeconfig');
  const config = {
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:6443/', ...ca, ...cluster } }],
    users: [{ name: 'u', user }],
  };
  writeFileSync(path, stringify(config));
  return path;
}

describe('kubeconfig', () => {
  it('gives server, CA and token', () => {
    const access = readKubeconfig(file({ token: 't' }));
    expect(access).toEqual({ url: 'https://127.0.0.1:6443', ca: 'CA', token: 't' });
  });

  it('reads files beside it', () => {
    writeFileSync(join(dir, 'client.crt'), 'CERT');
    writeFileSync(join(dir, 'token'), 'from-file\n');
    const access = readKubeconfig(
      file({ 'client-certificate': 'client.crt', 'client-key-data': base64('KEY'), tokenFile: 'token' }),
    );
    expect(access).toMatchObject({ cert: 'CERT', key: 'KEY', token: 'from-file' });
  });

  it('says what it does not understand, and in which file', () => {
    const path = file({ exec: { command: 'login' } });
    expect(() => readKubeconfig(path)).toThrow(`${path}: only tokens and client certificates are understood here`);
    const unsigned = file({}, { 'certificate-authority-data': undefined });
    expect(() => readKubeconfig(unsigned)).toThrow(`${path}: the current context names no certificate authority`);
    writeFileSync(path, 'clusters: []');
    expect(() => readKubeconfig(path)).toThrow(`${path}: the current context names no cluster with a server`);
  });
});
