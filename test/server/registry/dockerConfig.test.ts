import { describe, expect, it } from 'vitest';
import { credentialsFor } from '../../../server/registry/dockerConfig.ts';
import { parseImage } from '../../../server/registry/image.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const secret = (config: unknown, key = '.dockerconfigjson') => ({ [key]: base64(JSON.stringify(config)) });
const AUTH = { auth: base64('jo:pass:with:colons') };
const JO = { kind: 'basic', username: 'jo', password: 'pass:with:colons' };

const find = (auths: unknown, image = 'ghcr.io/acme/web') => credentialsFor(secret({ auths }), parseImage(image));

describe('the key of an entry', () => {
  it.each([
    ['ghcr.io', 'ghcr.io/acme/web'],
    ['https://ghcr.io', 'ghcr.io/acme/web'],
    ['https://ghcr.io/', 'ghcr.io/acme/web'],
    ['https://ghcr.io/v1/', 'ghcr.io/acme/web'],
    ['https://ghcr.io/v2/', 'ghcr.io/acme/web'],
    ['http://ghcr.io', 'ghcr.io/acme/web'],
    ['GHCR.io', 'ghcr.io/acme/web'],
    ['ghcr.io/acme', 'ghcr.io/acme/web'],
    ['ghcr.io/acme/web', 'ghcr.io/acme/web'],
    ['localhost:5000', 'localhost:5000/web'],
    ['*.example.com', 'eu.example.com/web'],
    ['reg-*.example.com', 'reg-1.example.com/web'],
    ['https://index.docker.io/v1/', 'acme/web'],
    ['index.docker.io', 'acme/web'],
    ['docker.io', 'docker.io/acme/web'],
    ['registry-1.docker.io', 'index.docker.io/acme/web'],
    ['registry.hub.docker.com', 'nginx'],
  ])('%s is for %s', (key, image) => {
    expect(find({ [key]: AUTH }, image)).toEqual({ credentials: JO });
  });

  it.each([
    ['ghcr.io', 'quay.io/acme/web'],
    ['ghcr.io', 'ghcr.io.evil.example/acme/web'],
    ['ghcr.io/ac', 'ghcr.io/acme/web'],
    ['ghcr.io/other', 'ghcr.io/acme/web'],
    ['localhost:5000', 'localhost:5001/web'],
    ['*.example.com', 'example.com/web'],
    ['*.example.com', 'a.b.example.com/web'],
    ['*', 'ghcr.io/acme/web'],
  ])('%s is not for %s', (key, image) => {
    expect(find({ [key]: AUTH }, image)).toEqual({ problem: expect.stringMatching(/^it has no entry for /) });
  });

  it('of a longer path wins', () => {
    const other = { username: 'other', password: 'x' };
    expect(find({ 'ghcr.io': other, 'ghcr.io/acme': AUTH })).toEqual({ credentials: JO });
  });
});

describe('the value of an entry', () => {
  it.each([
    ['auth', AUTH, JO],
    ['auth padded with NUL', { auth: base64('jo:pass:with:colons\0\0') }, JO],
    ['username and password', { username: 'jo', password: 'pass:with:colons' }, JO],
    ['auth beats the other two', { ...AUTH, username: 'x', password: 'y' }, JO],
    ['an empty password', { username: 'jo', password: '' }, undefined],
    [
      'an identity token',
      { auth: base64('00000000-0000-0000-0000-000000000000:'), identitytoken: 'T' },
      { kind: 'identityToken', token: 'T' },
    ],
    ['a registry token', { registrytoken: 'T' }, { kind: 'registryToken', token: 'T' }],
    ['an auth that is no pair', { auth: base64('jo') }, undefined],
    ['nothing', {}, undefined],
  ])('%s', (_, value, credentials) => {
    if (credentials) expect(find({ 'ghcr.io': value })).toEqual({ credentials });
    else
      expect(find({ 'ghcr.io': value })).toEqual({
        problem: expect.stringContaining('holds neither username and password'),
      });
  });
});

describe('what is no config', () => {
  const image = parseImage('ghcr.io/acme/web');
  it.each([
    ['nothing', undefined, 'it has neither .dockerconfigjson nor .dockercfg'],
    ['another Secret', { password: base64('x') }, 'it has neither .dockerconfigjson nor .dockercfg'],
    ['no JSON', { '.dockerconfigjson': base64('{"auths": s3cret') }, 'its .dockerconfigjson is not a JSON object'],
    ['a list', secret([AUTH]), 'its .dockerconfigjson is not a JSON object'],
    ['auths that are no object', secret({ auths: 'x' }), 'it has no entry for ghcr.io'],
    ['entries that are no object', secret({ auths: { 'ghcr.io': 's3cret' } }), 'it has no entry for ghcr.io'],
    [
      'a credential helper',
      secret({ credHelpers: { 'ghcr.io': 'osxkeychain' } }),
      'it names a credential helper, which cannot run here: put the credentials into "auths"',
    ],
    [
      'a credential store',
      secret({ auths: { 'ghcr.io': {} }, credsStore: 'desktop' }),
      'its entry for ghcr.io holds neither username and password, nor auth, nor a token; it names a credential helper, which cannot run here: put the credentials into "auths"',
    ],
  ])('%s', (_, data, problem) => {
    expect(credentialsFor(data, image)).toEqual({ problem });
  });

  it('the older .dockercfg has its entries at the root', () => {
    expect(credentialsFor(secret({ 'ghcr.io': AUTH }, '.dockercfg'), image)).toEqual({ credentials: JO });
  });
});
