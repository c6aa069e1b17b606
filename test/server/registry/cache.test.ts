import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { startLocalServer } from '../../support/localServer.ts';
import { cacheOn, pullSecret, registryObjects } from './cacheFixture.ts';

const manifest = (version: string) => JSON.stringify({ annotations: { 'org.opencontainers.image.version': version } });
const digestOf = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;
const BASIC = `Basic ${Buffer.from('jo:s3cret').toString('base64')}`;

/** Answers by the current `state`; 401 until the password is sent if `locked`. */
const registry = (state: { body?: string; status?: number; locked?: boolean } = {}) =>
  startLocalServer((request, response) => {
    if (state.locked && request.headers.authorization !== BASIC) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
    } else response.writeHead(state.status ?? 200).end(state.body ?? manifest('1.1.0'));
  });

/** That registry, and a cache on it. */
async function cacheOf(state: Parameters<typeof registry>[0] = {}) {
  const server = await registry(state);
  return { server, cache: cacheOn(registryObjects(server.host)) };
}

describe('a lookup', () => {
  it('answers at once, and fetches in the background', async () => {
    const { server, cache } = await cacheOf();
    expect(cache.lookup()).toBeUndefined();
    await cache.idle();
    expect(cache.lookup()).toEqual({ version: '1.1.0' });
    expect(server.requests).toEqual(['GET /v2/acme/web/manifests/1.1.0']);
  });

  it('runs once for any number of requests', async () => {
    const { server, cache } = await cacheOf();
    for (let i = 0; i < 100; i++) cache.lookup();
    await cache.idle();
    expect(server.requests).toHaveLength(1);
  });

  it('of two Rollouts for the same image is one request', async () => {
    const server = await registry();
    const cache = cacheOn(registryObjects(server.host, { accessFrom: { namespaceSelectors: [{}] } }));
    cache.lookup();
    cache.lookup('1.1.0', { namespace: 'other' });
    await cache.idle();
    expect(cache.lookup('1.1.0', { namespace: 'other' })).toEqual({ version: '1.1.0' });
    expect(server.requests).toHaveLength(1);
  });

  it('is by digest if known, and then once only', async () => {
    const body = manifest('1.1.0');
    const { server, cache } = await cacheOf({ body });
    const digest = digestOf(body);
    expect(await cache.settled('1.1.0', { digest })).toEqual({ version: '1.1.0' });
    cache.pass(86_400 * 30);
    await cache.settled('1.1.0', { digest });
    expect(await cache.settled('latest', { digest })).toEqual({ version: '1.1.0' });
    expect(server.requests).toEqual([`GET /v2/acme/web/manifests/${digest}`]);
  });

  it('Q12: is repeated after an hour if the tag could have moved, with the known answer meanwhile', async () => {
    const state = { body: manifest('1.1.0') };
    const { cache } = await cacheOf(state);
    await cache.settled();
    state.body = manifest('1.1.0-rebuilt');
    cache.pass(3599);
    expect(await cache.settled()).toEqual({ version: '1.1.0' });
    cache.pass(1);
    expect(cache.lookup()).toEqual({ version: '1.1.0' });
    await cache.idle();
    expect(cache.lookup()).toEqual({ version: '1.1.0-rebuilt' });
  });

  it('reads older Flux objects too', async () => {
    const server = await registry();
    const older = { ...registryObjects(server.host), served: ['image.toolkit.fluxcd.io/v1beta2'] };
    expect(await cacheOn(older).settled()).toEqual({ version: '1.1.0' });
  });

  it('of an invalid tag does nothing', async () => {
    const of = registryObjects('127.0.0.1:1');
    const cache = cacheOn(of);
    for (const tag of ['', 'x'.repeat(1_000_000), '../../secrets', 'a b']) await cache.settled(tag);
    expect(of.reads).toEqual([]);
  });

  it('of one namespace does not wait for a registry of another that hangs', async () => {
    const hanging = await startLocalServer(() => {});
    const server = await registry();
    const of = registryObjects(hanging.host);
    of.objects['imagerepositories other/web'] = { spec: { image: `${server.host}/acme/web`, insecure: true } };
    const cache = cacheOn(of);
    for (let i = 0; i < 600; i++) cache.lookup(`1.0.${i}`);
    cache.repository({ namespace: 'other', name: 'web' });
    const lookup = () => cache.lookup('1.1.0', { namespace: 'other' });
    lookup();
    await expect.poll(lookup).toEqual({ version: '1.1.0' });
    expect(hanging.requests).toHaveLength(2);
  });

  it.each([
    [200, false],
    [404, false],
    [403, false],
    [429, true],
    [503, true],
  ])('of a registry that answers %s is awaited afterwards: %s', async (status, awaited) => {
    const { cache } = await cacheOf({ status });
    expect(cache.isAwaited()).toBe(true);
    await cache.settled();
    expect(cache.isAwaited()).toBe(awaited);
  });

  it('drops excess requests, and repeats them later', async () => {
    const { cache } = await cacheOf();
    for (let i = 0; i < 600; i++) cache.lookup(`1.0.${i}`);
    expect(cache.drops).toHaveLength(98);
    await cache.idle();
    expect(await cache.settled('1.0.599')).toEqual({ version: '1.1.0' });
  });
});

describe('Q12: a failure', () => {
  it('is tried again, ever more rarely', async () => {
    const state = { status: 500 };
    const { server, cache } = await cacheOf(state);
    const attempts: number[] = [];
    for (let second = 0; second <= 160; second += 5) {
      const before = server.requests.length;
      await cache.settled();
      if (server.requests.length > before) attempts.push(second);
      cache.pass(5);
    }
    expect(attempts).toEqual([0, 10, 30, 70, 150]);
    expect(cache.warnings).toEqual([`${server.host} answers 500 for ${server.host}/acme/web`]);
    state.status = 200;
    cache.pass(600);
    expect(await cache.settled()).toEqual({ version: '1.1.0' });
  });

  it('delays an urgent lookup only for ten seconds, however many came before', async () => {
    const { server, cache } = await cacheOf({ status: 500 });
    for (const pause of [10, 20, 40, 80]) {
      await cache.settled();
      cache.pass(pause);
    }
    await cache.settled();
    expect(server.requests).toHaveLength(5);
    cache.pass(9);
    await cache.settled('1.1.0', { isUrgent: true });
    expect(server.requests).toHaveLength(5);
    cache.pass(1);
    await cache.settled('1.1.0', { isUrgent: true });
    expect(server.requests).toHaveLength(6);
  });

  it('of the registry keep the known metadata', async () => {
    const state: { status?: number } = {};
    const { cache } = await cacheOf(state);
    await cache.settled();
    state.status = 500;
    cache.pass(3600);
    expect(await cache.settled()).toEqual({ version: '1.1.0' });
  });

  it('without an ImageRepository is one read a minute, for any number of tags', async () => {
    const of = registryObjects('127.0.0.1:1');
    of.objects = {};
    const cache = cacheOn(of);
    for (const tag of ['1.0.0', '1.1.0', '1.2.0']) expect(await cache.settled(tag)).toBeUndefined();
    expect(new Set(cache.warnings)).toEqual(new Set(['there is no ImageRepository demo/web']));
    expect(of.reads).toHaveLength(1);
    cache.pass(60);
    await cache.settled('1.3.0');
    expect(of.reads).toHaveLength(2);
  });

  it('of a slow registry ends by itself', async () => {
    const server = await startLocalServer(() => {});
    const cache = cacheOn(registryObjects(server.host), 100);
    expect(await cache.settled()).toBeUndefined();
    expect(cache.warnings).toEqual([`${server.host} did not answer in time`]);
  });
});

describe('credentials', () => {
  async function locked(repository: object = {}) {
    const server = await registry({ locked: true });
    const of = registryObjects(server.host, { secretRef: { name: 'pull' }, ...repository });
    of.objects['secrets demo/pull'] = { data: pullSecret(server.host, 'jo', 's3cret') };
    return of;
  }

  it('are those of the ImageRepository', async () => {
    expect(await cacheOn(await locked()).settled()).toEqual({ version: '1.1.0' });
  });

  it('that are missing are named', async () => {
    const of = await locked();
    delete of.objects['secrets demo/pull'];
    const cache = cacheOn(of);
    await cache.settled();
    expect(cache.warnings).toEqual(['there is no Secret demo/pull']);
  });

  it('that don’t fit are named, without secrets', async () => {
    const of = await locked();
    of.objects['secrets demo/pull'] = { data: pullSecret('registry.example', 'jo', 's3cret') };
    const cache = cacheOn(of);
    await cache.settled();
    expect(cache.warnings[0]).toMatch(
      /requires username and password: .*; Secret demo\/pull: it has no entry for 127\.0\.0\.1/,
    );
    expect(cache.warnings[0]).not.toContain('s3cret');
  });

  it('of a cloud provider are not to be had here', async () => {
    const cache = cacheOn(await locked({ secretRef: undefined, provider: 'aws' }));
    await cache.settled();
    expect(cache.warnings[0]).toMatch(/; logging in with provider aws is not supported here$/);
  });

  describe('of another namespace', () => {
    const rows: [string, object | undefined, Record<string, string>, boolean][] = [
      ['not granted', undefined, {}, false],
      ['granted to no one', { namespaceSelectors: [] }, {}, false],
      ['granted to everybody', { namespaceSelectors: [{}] }, {}, true],
      [
        'granted to it',
        { namespaceSelectors: [{ matchLabels: { team: 'b' } }, { matchLabels: { team: 'a' } }] },
        { team: 'a' },
        true,
      ],
      ['granted to others', { namespaceSelectors: [{ matchLabels: { team: 'b' } }] }, { team: 'a' }, false],
    ];
    it.each(rows)('%s', async (_, accessFrom, labels, known) => {
      const of = await locked({ accessFrom });
      of.objects['namespaces other'] = { metadata: { labels } };
      const cache = cacheOn(of);
      expect(await cache.settled('1.1.0', { namespace: 'other' })).toEqual(known ? { version: '1.1.0' } : undefined);
      if (known) return;
      expect(of.reads.join()).not.toContain('secrets');
      expect(cache.warnings[0]).toMatch(/; ImageRepository demo\/web grants no access to other$/);
    });

    it('metadata in memory is not shown to a namespace without rights', async () => {
      const of = await locked();
      const cache = cacheOn(of);
      const digest = digestOf(manifest('1.1.0'));
      expect(await cache.settled('1.1.0', { digest })).toEqual({ version: '1.1.0' });
      expect(await cache.settled('1.1.0', { digest, namespace: 'other' })).toBeUndefined();
    });

    it('of the policy counts as well', async () => {
      const of = await locked();
      of.objects['imagerepositories images/web'] = of.objects['imagerepositories demo/web']!;
      of.objects['secrets images/pull'] = of.objects['secrets demo/pull']!;
      for (const rest of [{}, { namespace: 'images' }]) {
        const cache = cacheOn(of);
        cache.repository({ namespace: 'images', name: 'web' });
        expect(await cache.settled('1.1.0', rest)).toBeUndefined();
      }
    });
  });
});
