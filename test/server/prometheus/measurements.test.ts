/**
 * With a small real server: the requests of a MetricProvider, their credentials and frequency, and the kept part of its
 * answer.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { MeasurementQuery } from '../../../api/ports.ts';
import { readingOf } from '../../../core/health/prometheus/reading.ts';
import { fakeCluster } from '../../../dev/fakes/ports.ts';
import { createAuthority } from '../../../dev/local/controlPlane/certificates.ts';
import { createMeasurements } from '../../../server/prometheus/measurements.ts';
import { eventually } from '../../support/eventually.ts';
import { startLocalServer } from '../../support/localServer.ts';
import { namespaceOf, objectOf } from '../../support/objects.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const answer = (value: string) =>
  JSON.stringify({ status: 'success', data: { resultType: 'scalar', result: [1, value] } });
const answering =
  (value: string): Handler =>
  (_, response) =>
    void response.end(answer(value));

const base64 = (data: Record<string, string>) =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));
const secret = (data: Record<string, string>, namespace = 'rollout-hooks', name = 'prometheus') =>
  ({ apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name }, data: base64(data) }) as KubeObject<any, any>;
const SHOP = namespaceOf('shop', { labels: { team: 'a' } });
const provider = (address: string, spec: object = {}) =>
  objectOf('MetricProvider', {
    metadata: { name: 'prometheus' },
    spec: { address, namespaceSelector: {}, ...spec },
  }) as KubeObject<any, any>;

/** Limits that a busy machine doesn't reach. */
const PATIENT = { timeoutMs: 30_000, waitMs: 30_000 };

function measurementsOn(objects: KubeObject<any, any>[], limits: Partial<typeof PATIENT> = {}) {
  let now = 1_000_000;
  const cluster = fakeCluster(() => [SHOP, ...objects]);
  const measurements = createMeasurements({ cluster, now: () => now, readingOf, limit: 101, ...PATIENT, ...limits });
  const take = (wanted: Partial<MeasurementQuery> & { uid?: string; namespace?: string; name?: string } = {}) => {
    const { uid = 'u1', namespace = 'shop', name = uid, ...rest } = wanted;
    const check = { namespace, name, uid };
    return measurements.measure({ check, provider: 'prometheus', query: 'up', since: 0, ...rest });
  };
  return {
    cluster,
    take,
    idle: measurements.idle,
    /** The final result of a measurement. */
    async reading(wanted: Parameters<typeof take>[0] = {}) {
      await take(wanted);
      await measurements.idle();
      return (await take(wanted))?.reading;
    },
    pass: (seconds: number) => {
      now += seconds * 1000;
    },
    now: () => now,
  };
}

/** With a provider whose server answers so. */
async function measurementsFrom(handle: Handler, limits?: Partial<typeof PATIENT>) {
  const server = await startLocalServer(handle);
  return { ...measurementsOn([provider(`http://${server.host}`)], limits), server };
}

describe('a query', () => {
  it('is answered in the requesting sync if the provider is quick', async () => {
    const server = await startLocalServer(answering('3'));
    const on = measurementsOn([provider(`http://${server.host}/prom/`)]);
    expect(await on.take({ query: 'vector(3) > "ä&b"' })).toEqual({ at: on.now(), reading: { values: [3] } });
    const [method, path = ''] = server.requests[0]!.split(' ');
    const url = new URL(path, 'http://x');
    expect([method, url.pathname]).toEqual(['GET', '/prom/api/v1/query']);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      query: 'vector(3) > "ä&b"',
      timeout: '30000ms',
      limit: '101',
    });
  });

  it('continues next to the sync if it is slow', async () => {
    let finish = () => {};
    const server = await startLocalServer((_, response) => {
      finish = () => void response.end(answer('3'));
    });
    const on = measurementsOn([provider(`http://${server.host}`)], { waitMs: 50 });
    expect(await on.take()).toBeUndefined();
    expect(await on.take()).toBeUndefined();
    await eventually(() => expect(server.requests).toHaveLength(1));
    finish();
    await on.idle();
    expect((await on.take())?.reading).toEqual({ values: [3] });
    expect(server.requests).toHaveLength(1);
  });

  it('is sent once in ten seconds for one check, however many syncs need it, and whatever the query', async () => {
    const on = await measurementsFrom(answering('3'));
    for (let i = 0; i < 20; i++) await on.take({ query: `vector(${i})`, since: on.now() + 1 });
    expect(on.server.requests).toHaveLength(1);
    on.pass(10);
    expect((await on.take({ query: 'vector(1)' }))?.reading).toEqual({ values: [3] });
    expect(on.server.requests).toHaveLength(2);
  });

  it('is not answered by a measurement for another deployment, even if the clock was ahead then', async () => {
    const on = await measurementsFrom(answering('3'));
    const at = on.now();
    expect(await on.take({ cutoff: 1 })).toMatchObject({ at });
    on.pass(10);
    expect(await on.take({ cutoff: 1 })).toMatchObject({ at });
    expect(await on.take({ cutoff: 2 })).toMatchObject({ at: at + 10_000 });
  });

  it('of before does not count', async () => {
    const on = await measurementsFrom(answering('3'));
    const { at } = (await on.take())!;
    expect(await on.take({ since: at })).toBeDefined();
    expect(await on.take({ since: at + 1 })).toBeUndefined();
    expect(await on.take({ query: 'other' })).toBeUndefined();
    on.pass(10);
    expect(await on.take({ since: at + 1 })).toEqual({ at: at + 10_000, reading: { values: [3] } });
  });

  it('of a forged request with the uid of another check does not count', async () => {
    const server = await startLocalServer(answering('3'));
    const on = measurementsOn([
      provider(`http://${server.host}`, { namespaceSelector: { matchLabels: { team: 'a' } } }),
      namespaceOf('evil'),
    ]);
    expect((await on.take({ namespace: 'evil', name: 'u1' }))?.reading).toHaveProperty('problem');
    expect((await on.take({ name: 'forged' }))?.reading).toEqual({ values: [3] });
    expect((await on.take())?.reading).toEqual({ values: [3] });
    expect(server.requests).toHaveLength(2);
  });

  it('from before the clock was set back does not count, and does not delay the next one', async () => {
    const on = await measurementsFrom(answering('3'));
    await on.take();
    on.pass(-300);
    expect(await on.take({ since: on.now() - 60_000 })).toEqual({ at: on.now(), reading: { values: [3] } });
    expect(on.server.requests).toHaveLength(2);
  });

  it('of one namespace does not wait for hanging ones of another', async () => {
    const hanging = await startLocalServer(() => {});
    const server = await startLocalServer(answering('3'));
    const other = { ...provider(`http://${server.host}`), metadata: { name: 'other' } };
    const on = measurementsOn([provider(`http://${hanging.host}`), other, namespaceOf('api')], { waitMs: 50 });
    const all = Array.from({ length: 600 }, (_, i) => on.take({ uid: `h${i}` }));
    const quick = { uid: 'quick', namespace: 'api', provider: 'other' };
    await eventually(async () => expect((await on.take(quick))?.reading).toEqual({ values: [3] }));
    expect(hanging.requests).toHaveLength(2);
    await Promise.all(all);
  });
});

describe('namespaces that may use a provider', () => {
  const rows: [string, object | undefined, boolean][] = [
    ['all', {}, true],
    ['those of a label', { matchLabels: { team: 'a' } }, true],
    ['those of an expression', { matchExpressions: [{ key: 'team', operator: 'Exists' }] }, true],
    ['others', { matchLabels: { team: 'b' } }, false],
    ['nobody, where it says nothing', undefined, false],
    ['nobody, where it makes no sense', { matchExpressions: [{ key: 'team', operator: 'Maybe' }] }, false],
  ];
  it.each(rows)('%s', async (_, namespaceSelector, may) => {
    const server = await startLocalServer(answering('3'));
    const on = measurementsOn([
      provider(`http://${server.host}`, { namespaceSelector, secretRef: { name: 'prometheus' } }),
      secret({ token: 't' }),
    ]);
    const refused = `MetricProvider 'prometheus' does not exist, or its spec.namespaceSelector does not select namespace 'shop': ask the platform team`;
    expect(await on.reading()).toEqual(may ? { values: [3] } : { problem: refused });
    expect(server.requests).toHaveLength(may ? 1 : 0);
    if (!may) expect(on.cluster.requests.map(({ resource }) => resource)).not.toContain('secrets');
  });

  it('get the same message as for a missing one', async () => {
    const on = measurementsOn([]);
    expect(await on.reading()).toEqual({
      problem: expect.stringContaining('does not exist, or its spec.namespaceSelector'),
    });
  });

  it('are read for each query: a withdrawal takes effect at once', async () => {
    const server = await startLocalServer(answering('3'));
    const objects = [provider(`http://${server.host}`)];
    const on = measurementsOn(objects);
    expect(await on.reading()).toEqual({ values: [3] });
    objects[0] = provider(`http://${server.host}`, { namespaceSelector: { matchLabels: { team: 'b' } } });
    on.pass(10);
    expect(await on.reading({ since: on.now() })).toHaveProperty('problem');
  });
});

describe('credentials', () => {
  const seen: (string | undefined)[] = [];
  const noting: Handler = (request, response) => {
    seen.push(request.headers.authorization);
    response.end(answer('3'));
  };
  const SECRET_REF = { secretRef: { name: 'prometheus' } };

  it.each([
    ['none', {}, [], undefined],
    ['a token', SECRET_REF, [secret({ token: 's3cret\n' })], 'Bearer s3cret'],
    ['a password', SECRET_REF, [secret({ username: 'jo', password: 's3cret' })], `Basic ${btoa('jo:s3cret')}`],
  ])('are sent: %s', async (_, spec, secrets, header) => {
    const server = await startLocalServer(noting);
    seen.length = 0;
    expect(await measurementsOn([provider(`http://${server.host}`, spec), ...secrets]).reading()).toEqual({
      values: [3],
    });
    expect(seen).toEqual([header]);
  });

  it.each([
    ['that are not there', []],
    ['of another namespace', [secret({ token: 's3cret' }, 'shop')]],
    ['without a key that is known', [secret({ tokens: 's3cret' })]],
    ['with a line break', [secret({ token: 's3\r\ncret: x' })]],
  ])('%s: nothing is sent', async (_, secrets) => {
    const server = await startLocalServer(noting);
    const reading = await measurementsOn([provider(`http://${server.host}`, SECRET_REF), ...secrets]).reading();
    expect(reading).toEqual({ problem: expect.stringMatching(/Secret rollout-hooks\/prometheus|spec\.secretRef/) });
    expect(JSON.stringify(reading)).not.toContain('cret:');
    expect(server.requests).toEqual([]);
  });

  it('an authority of its own is trusted, and without it none is', async () => {
    const authority = await createAuthority(Date.now());
    const { certificate: cert, key } = await authority.issue('prometheus');
    const server = await startLocalServer(noting, { cert, key });
    const address = `https://${server.host}`;
    expect(await measurementsOn([provider(address)]).reading()).toEqual({
      problem: "MetricProvider 'prometheus' cannot be reached (UNABLE_TO_VERIFY_LEAF_SIGNATURE)",
    });
    const trusting = [
      provider(address, { certSecretRef: { name: 'prometheus' } }),
      secret({ 'ca.crt': authority.certificate }),
    ];
    expect(await measurementsOn(trusting).reading()).toEqual({ values: [3] });
  });
});

describe('a failure', () => {
  const rows: [string, Handler, string, timeoutMs?: number][] = [
    [
      'a redirect, which is not followed',
      (_, r) => void r.writeHead(302, { location: '/elsewhere' }).end(),
      'redirects are not followed',
    ],
    ['a query that does not parse', (_, r) => void r.writeHead(400).end('secret'), 'cannot parse the query'],
    ['refused credentials', (_, r) => void r.writeHead(401).end('secret'), 'refuses the credentials'],
    ['another API', (_, r) => void r.writeHead(404).end('secret'), 'has no Prometheus API'],
    ['an error', (_, r) => void r.writeHead(500).end('secret'), 'does not answer the query (status 500)'],
    ['no JSON', (_, r) => void r.end('secret'), 'other than JSON'],
    ['a page that never ends', (_, r) => void endless(r), 'more than 1048576 bytes'],
    ['no answer', () => {}, 'did not answer in time', 300],
    ['half an answer', (_, r) => void r.write('{"secret"'), 'did not answer in time', 300],
    ['a connection that breaks', (q) => void q.socket.destroy(), 'cannot be reached ('],
  ];
  it.each(rows)('%s', async (_, handle, text, timeoutMs) => {
    const { server, reading: take } = await measurementsFrom(handle, timeoutMs ? { timeoutMs } : {});
    const reading = await take();
    expect(reading).toEqual({ problem: expect.stringMatching(/^MetricProvider 'prometheus' /) });
    expect(reading).toEqual({ problem: expect.stringContaining(text) });
    expect(JSON.stringify(reading)).not.toContain('secret"');
    expect(JSON.stringify(reading)).not.toContain(server.host);
    expect(server.requests).toHaveLength(1);
  });

  it('of the API server', async () => {
    const on = measurementsOn([]);
    on.cluster.get = async () => {
      throw new Error('metricproviders.kuberik.com "prometheus" is forbidden\nmore');
    };
    expect(await on.reading()).toEqual({
      problem: `MetricProvider 'prometheus' could not be read: metricproviders.kuberik.com "prometheus" is forbidden`,
    });
  });
});

function endless(response: ServerResponse): void {
  const chunk = 'x'.repeat(65_536);
  const more = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', more);
  more();
}
