import { describe, expect, it } from 'vitest';
import { isLegalTag } from '../../../core/kube/tag.ts';
import { Lru } from '../../../server/lru.ts';
import { parseChallenge, tokenServer } from '../../../server/registry/authorize.ts';
import { isSha256Digest, parseImage } from '../../../server/registry/image.ts';
import { releaseMetadataOf } from '../../../server/registry/releaseMetadata.ts';
import { costInReadings } from '../../support/cost.ts';

describe('image names', () => {
  it.each([
    ['nginx', 'registry-1.docker.io', 'library/nginx'],
    ['acme/web', 'registry-1.docker.io', 'acme/web'],
    ['docker.io/nginx', 'registry-1.docker.io', 'library/nginx'],
    ['registry.example/acme/web', 'registry.example', 'acme/web'],
    ['localhost/web', 'localhost', 'web'],
    ['localhost:5000/a/b/c', 'localhost:5000', 'a/b/c'],
    ['registry.demo.svc:5000/web__x', 'registry.demo.svc:5000', 'web__x'],
  ])('%s', (name, host, repository) => {
    expect(parseImage(name)).toEqual({ host, repository });
  });

  it.each([
    '',
    '/',
    'registry.example/',
    'registry.example/UPPER',
    'user:pw@registry.example/web',
    'registry.example/web?x=1',
    'registry.example/../etc',
    'registry.example/web#f',
    'a'.repeat(600),
  ])('%j is none', (name) => {
    expect(() => parseImage(name)).toThrow('is not the name of an image repository');
  });

  it('accepts tags and digests', () => {
    expect(['1.0.0', 'v1', 'a_b', '-x', '', 'a b', 'x'.repeat(129), '../x'].map(isLegalTag)).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
      false,
      false,
    ]);
    expect(
      [`sha256:${'a'.repeat(64)}`, 'sha256:abc', undefined, `sha512:${'a'.repeat(128)}`].map(isSha256Digest),
    ).toEqual([true, false, false, false]);
  });
});

describe('metadata', () => {
  const key = (name: string) => `org.opencontainers.image.${name}`;

  it('takes each key from the manifest, else from the config descriptor', () => {
    const manifest = {
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      annotations: { [key('version')]: '1.1.0', [key('created')]: '2026-01-02T13:00:00.5+01:00', [key('title')]: '' },
      config: {
        mediaType: 'application/vnd.cncf.flux.config.v1+json',
        annotations: {
          [key('version')]: 'shadowed',
          [key('revision')]: 'main@sha1:abc',
          [key('title')]: 'Web',
          [key('source')]: 'https://git',
        },
      },
    };
    expect(releaseMetadataOf(manifest)).toEqual({
      version: '1.1.0',
      revision: 'main@sha1:abc',
      source: 'https://git',
      title: 'Web',
      created: '2026-01-02T12:00:00Z',
      artifactType: 'application/vnd.cncf.flux.config.v1+json',
    });
  });

  it.each([
    [{ artifactType: 'a', config: { mediaType: 'b' }, mediaType: 'c' }, 'a'],
    [{ config: { mediaType: 'b' }, mediaType: 'c' }, 'b'],
    [{ mediaType: 'c' }, 'c'],
    [{}, undefined],
  ])('artifactType of %j', (manifest, expected) => {
    expect(releaseMetadataOf(manifest).artifactType).toBe(expected);
  });

  const barrier = { 'rollout.kuberik.com/rollback-barrier': 'true' };
  it.each([
    [{ annotations: barrier }, true],
    [{ config: { annotations: barrier } }, true],
    [{ annotations: { 'rollout.kuberik.com/rollback-barrier': 'false' } }, undefined],
    [{}, undefined],
  ])('rollbackBarrier of %j', (manifest, expected) => {
    expect(releaseMetadataOf(manifest).rollbackBarrier).toBe(expected);
  });

  it("uses an index's own annotations", () => {
    const index = {
      mediaType: 'application/vnd.oci.image.index.v1+json',
      manifests: [{}],
      annotations: { [key('version')]: '2' },
    };
    expect(releaseMetadataOf(index)).toEqual({ version: '2', artifactType: index.mediaType });
  });

  it.each([
    null,
    7,
    'x',
    [],
    { annotations: 'x', config: 7 },
    { annotations: { [key('version')]: 7, [key('created')]: 'yesterday' } },
  ])('makes nothing of %j', (manifest) => {
    expect(releaseMetadataOf(manifest)).toEqual({});
  });

  it('cuts texts that are too long for a status', () => {
    expect(releaseMetadataOf({ annotations: { [key('description')]: 'x'.repeat(1e6) } }).description).toHaveLength(
      4096,
    );
  });
});

describe('challenges', () => {
  it.each([
    ['Basic realm="x"', { scheme: 'basic' }],
    [
      'Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:a/b:pull"',
      { scheme: 'bearer', realm: 'https://auth.docker.io/token', service: 'registry.docker.io' },
    ],
    ['bearer service=x, realm=https://a.b/c', { scheme: 'bearer', realm: 'https://a.b/c', service: 'x' }],
    ['Bearer service="x"', undefined],
    ['Negotiate abc', undefined],
    ['', undefined],
    [null, undefined],
  ])('%s', (header, expected) => {
    expect(parseChallenge(header)).toEqual(expected);
  });

  it.each([
    ['one word', 'a'.repeat(16_000)],
    ['one word before blanks', `${'a'.repeat(8000)}${' '.repeat(8000)}`],
  ])('a header that is as long as it can be costs little: %s', (_, words) => {
    expect(costInReadings(words, () => parseChallenge(`Bearer ${words}`))).toBeLessThan(100);
  });

  it.each([
    ['registry-1.docker.io', 'https://auth.docker.io/token', true],
    ['registry.forge.example', 'https://forge.example/jwt/auth', true],
    ['registry.example', 'https://registry.example/token', true],
    ['reg.example.com:5000', 'https://reg.example.com:5000/token', true],
    ['registry.example', 'http://registry.example/token', false],
    ['registry.example', 'https://other.example/token', false],
    ['registry.example', 'https://evil.registry.example.example/token', false],
    ['registry.example', 'https://user:pw@registry.example/token', false],
    ['reg.example.com', 'https://169.254.169.254/latest', false],
    ['10.0.0.5:5000', 'https://10.0.0.6/token', false],
    ['registry.demo.svc', 'https://kubernetes.demo.svc/token', false],
    ['registry.demo.svc.cluster.local', 'https://admin.demo.svc.cluster.local/token', false],
    ['reg.example.com', 'https://auth.example.com:8443/token', false],
    ['example.com', 'https://other.com/token', false],
    ['registry.example', 'file:///etc/passwd', false],
    ['registry.example', 'nonsense', false],
  ])('%s may send to %s: %s', (host, realm, allowed) => {
    expect(tokenServer(realm, { host, insecure: false })?.href).toBe(allowed ? realm : undefined);
  });
});

it('an Lru drops the least recently used entry', () => {
  const lru = new Lru<number>(2);
  lru.set('a', 1);
  lru.set('b', 2);
  lru.get('a');
  lru.set('c', 3);
  expect(['a', 'b', 'c'].map((key) => lru.get(key))).toEqual([1, undefined, 3]);
});
