import { describe, expect, it } from 'vitest';
import { credentialsFor } from '../../../server/registry/dockerConfig.ts';
import { parseImage } from '../../../server/registry/image.ts';
import { costInReadings } from '../../support/cost.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const secret = (config: unknown, key = '.dockerconfigjson') => ({ [key]: base64(JSON.stringify(config)) });
const AUTH = { auth: base64('jo:pass:with:colons') };
const JO = { kind: 'basic', username: 'jo', password: 'pass:with:colons' };

const find = (auths: unknown, image = 'registry.example/acme/web') =>
  credentialsFor(secret({ auths }), parseImage(image));

describe('the key of an entry', () => {
  it.each([
    ['registry.example', 'registry.example/acme/web'],
    ['https://registry.example', 'registry.example/acme/web'],
    ['https://registry.example/', 'registry.example/acme/web'],
    ['https://registry.example/v1/', 'registry.example/acme/web'],
    ['https://registry.example/v2/', 'registry.example/acme/web'],
    ['http://registry.example', 'registry.example/acme/web'],
    ['REGISTRY.example', 'registry.example/acme/web'],
    ['registry.example/acme', 'registry.example/acme/web'],
    ['registry.example/acme/web', 'registry.example/acme/web'],
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
    ['registry.example', 'other.example/acme/web'],
    ['registry.example', 'registry.example.evil.example/acme/web'],
    ['registry.example/ac', 'registry.example/acme/web'],
    ['registry.example/other', 'registry.example/acme/web'],
    ['localhost:5000', 'localhost:5001/web'],
    ['*.example.com', 'example.com/web'],
    ['*.example.com', 'a.b.example.com/web'],
    ['*', 'registry.example/acme/web'],
  ])('%s is not for %s', (key, image) => {
    expect(find({ [key]: AUTH }, image)).toEqual({ problem: expect.stringMatching(/^it has no entry for /) });
  });

  it('of a longer path wins', () => {
    const other = { username: 'other', password: 'x' };
    expect(find({ 'registry.example': other, 'registry.example/acme': AUTH })).toEqual({ credentials: JO });
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
    if (credentials) expect(find({ 'registry.example': value })).toEqual({ credentials });
    else
      expect(find({ 'registry.example': value })).toEqual({
        problem: expect.stringContaining('holds neither username and password'),
      });
  });
});

describe('an invalid config', () => {
  const image = parseImage('registry.example/acme/web');
  it.each([
    ['nothing', undefined, 'it has neither .dockerconfigjson nor .dockercfg'],
    ['another Secret', { password: base64('x') }, 'it has neither .dockerconfigjson nor .dockercfg'],
    ['no JSON', { '.dockerconfigjson': base64('{"auths": s3cret') }, 'its .dockerconfigjson is not a JSON object'],
    ['a list', secret([AUTH]), 'its .dockerconfigjson is not a JSON object'],
    ['auths that are no object', secret({ auths: 'x' }), 'it has no entry for registry.example'],
    [
      'entries that are no object',
      secret({ auths: { 'registry.example': 's3cret' } }),
      'it has no entry for registry.example',
    ],
    [
      'a credential helper',
      secret({ credHelpers: { 'registry.example': 'osxkeychain' } }),
      'it names a credential helper, which cannot run here: put the credentials into "auths"',
    ],
    [
      'a credential store',
      secret({ auths: { 'registry.example': {} }, credsStore: 'desktop' }),
      'its entry for registry.example holds neither username and password, nor auth, nor a token; it names a credential helper, which cannot run here: put the credentials into "auths"',
    ],
  ])('%s', (_, data, problem) => {
    expect(credentialsFor(data, image)).toEqual({ problem });
  });

  it('the older .dockercfg has its entries at the root', () => {
    expect(credentialsFor(secret({ 'registry.example': AUTH }, '.dockercfg'), image)).toEqual({ credentials: JO });
  });
});

it('a password of many NULs costs little', () => {
  const auths = { 'registry.example': { auth: base64(`jo:${'\0'.repeat(20_000)}x`) } };
  expect(costInReadings(auths, () => find(auths))).toBeLessThan(100);
});
