/** Against distribution v3 with a password. Built with Go once, a minute or two. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cacheOn, pullSecret, world } from './cacheFixture.ts';
import { PASSWORD, type RealRegistry, startRealRegistry, USER } from './realRegistry.ts';

const key = (name: string) => `org.opencontainers.image.${name}`;
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
const INDEX = 'application/vnd.oci.image.index.v1+json';
const FLUX = 'application/vnd.cncf.flux.config.v1+json';

let registry: RealRegistry;
const digests: Record<string, string> = {};

beforeAll(async () => {
  registry = await startRealRegistry();
  const blob = await registry.pushBlob('acme/web', '{}');
  const config = { mediaType: FLUX, ...blob, annotations: { [key('revision')]: 'main@sha1:abc' } };
  const image = { schemaVersion: 2, mediaType: MANIFEST, config, layers: [] };
  const annotations = {
    [key('version')]: '1.1.0',
    [key('created')]: '2026-01-02T12:00:00Z',
    [key('source')]: 'https://git.example/acme/web',
    [key('title')]: 'Web',
    [key('description')]: 'The shop window',
  };
  digests['1.1.0'] = await registry.push('acme/web', '1.1.0', { ...image, annotations });
  const platform = {
    mediaType: MANIFEST,
    digest: digests['1.1.0'],
    size: 1,
    platform: { os: 'linux', architecture: 'amd64' },
  };
  platform.size = Buffer.byteLength(JSON.stringify({ ...image, annotations }));
  const index = {
    schemaVersion: 2,
    mediaType: INDEX,
    manifests: [platform],
    annotations: { [key('version')]: 'index' },
  };
  digests.index = await registry.push('acme/web', 'index', index);
}, 600_000);

afterAll(() => registry?.stop());

/** The world of an ImageRepository with that password. */
function withPassword(password: string) {
  const of = world(registry.host, { secretRef: { name: 'pull' } });
  of.objects['secrets demo/pull'] = { data: pullSecret(registry.host, USER, password) };
  return of;
}

describe('distribution v3 with htpasswd', () => {
  const release = {
    version: '1.1.0',
    revision: 'main@sha1:abc',
    created: '2026-01-02T12:00:00Z',
    source: 'https://git.example/acme/web',
    title: 'Web',
    description: 'The shop window',
    artifactType: FLUX,
  };

  it('tells all of a release, by tag and by digest', async () => {
    const cache = cacheOn(withPassword(PASSWORD));
    expect(await cache.settled('1.1.0')).toEqual(release);
    const fresh = cacheOn(withPassword(PASSWORD));
    expect(await fresh.settled('1.1.0', { digest: digests['1.1.0']! })).toEqual(release);
    expect(cache.warnings).toEqual([]);
  });

  it('tells what an index says of itself', async () => {
    expect(await cacheOn(withPassword(PASSWORD)).settled('index')).toEqual({ version: 'index', artifactType: INDEX });
  });

  it('refuses a wrong password and none, and nothing of it is told', async () => {
    const wrong = cacheOn(withPassword('guess'));
    expect(await wrong.settled('1.1.0')).toBeUndefined();
    expect(wrong.warnings).toEqual([
      `${registry.host} refuses to show ${registry.host}/acme/web (401): its credentials need the right to pull from it`,
    ]);
    const none = cacheOn(world(registry.host));
    expect(await none.settled('1.1.0')).toBeUndefined();
    expect(none.warnings).toEqual([
      `${registry.host} asks for username and password: the Secret with its credentials needs an entry with both`,
    ]);
  });

  it('has no such tag', async () => {
    const cache = cacheOn(withPassword(PASSWORD));
    await cache.settled('9.9.9');
    expect(cache.warnings).toEqual([`${registry.host}/acme/web has no 9.9.9`]);
  });

  it('is asked by HTTPS unless the ImageRepository says insecure', async () => {
    const of = world(registry.host, { insecure: undefined, secretRef: { name: 'pull' } });
    of.objects['secrets demo/pull'] = { data: pullSecret(registry.host, USER, PASSWORD) };
    const cache = cacheOn(of);
    expect(await cache.settled('1.1.0')).toBeUndefined();
    expect(cache.warnings[0]).toMatch(/cannot be reached/);
  });
});
