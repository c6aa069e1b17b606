/** The copy command with misbehaving registries, and its messages. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import { copyHere, type Here, mountedLogin } from './command.ts';
import { answering, image, OCI_INDEX, OCI_MANIFEST, sha256, startFakeRegistry } from './fakeRegistry.ts';

const source = await startFakeRegistry();
const target = await startFakeRegistry();
const storage = await startFakeRegistry();
beforeEach(() => {
  for (const registry of [source, target, storage]) registry.reset();
});

const copy = (rest: Partial<Here> = {}) =>
  copyHere({ source: `${source.host}/dev/app`, target: `${target.host}/prod/app`, tag: '1.0.0', ...rest });

const taggedInTarget = () => target.manifests.get('prod/app 1.0.0');
const release = () => image(source, 'dev/app', ['one', 'two'], '1.0.0');

describe('a release is not copied, with the cause, if', () => {
  it.each([
    [
      'the source has no such tag',
      () => source.manifests.delete('dev/app 1.0.0'),
      'NotFound',
      /source .*dev\/app has no 1\.0\.0/,
    ],
    [
      'the target wants the bytes sent elsewhere',
      () => {
        target.meddle = answering('POST', /uploads/, 202, { location: 'http://localhost:1/v2/upload' });
      },
      'Invalid',
      /wants its blobs sent to another host/,
    ],
  ])('%s', async (_, spoil, outcome, message) => {
    release();
    spoil();
    const { code, result, stderr, terminationLog } = await copy();
    expect(result).toMatchObject({ outcome, message: expect.stringMatching(message) });
    expect(code).toBeGreaterThan(2);
    expect(JSON.parse(terminationLog)).toEqual(result);
    expect(stderr).not.toContain('s3cret');
    expect(taggedInTarget()).toBeUndefined();
  });

  it.each([
    [
      'of a media type that nobody knows',
      () => ({ mediaType: 'application/x.new+json', parts: [] }),
      /"application\/x\.new\+json", so what it refers to is unknown/,
    ],
    [
      'of Docker before 1.10',
      () => ({ mediaType: 'application/vnd.docker.distribution.manifest.v1+json', fsLayers: [] }),
      /what it refers to is unknown/,
    ],
    [
      'that refers to what is no digest',
      () => ({ mediaType: OCI_INDEX, manifests: [{ mediaType: OCI_MANIFEST, digest: '../../../etc', size: 1 }] }),
      /the digest "\.\.\/\.\.\/\.\.\/etc", which is not/,
    ],
    [
      'with a negative size',
      () => ({ mediaType: OCI_INDEX, manifests: [{ mediaType: OCI_MANIFEST, digest: sha256(''), size: -1 }] }),
      /with the size -1/,
    ],
    ['lists inside lists', () => nested(7), /more than 5 steps from 1\.0\.0: lists nested this deep/],
    [
      'an index of 501',
      () => ({
        mediaType: OCI_INDEX,
        manifests: Array.from({ length: 501 }, (_, i) =>
          image(source, 'dev/app', [], undefined, { annotations: { i: String(i) } }),
        ),
      }),
      /more than 500 manifests/,
    ],
  ])('%s', async (_, make, message) => {
    source.manifest('dev/app', make(), '1.0.0');
    const { result } = await copy();
    expect(result).toMatchObject({ outcome: 'Invalid', message: expect.stringMatching(message) });
    expect(target.manifests.size).toBe(0);
  });

  function nested(levels: number): object {
    const child = levels === 0 ? image(source, 'dev/app', []) : source.manifest('dev/app', nested(levels - 1));
    return { schemaVersion: 2, mediaType: OCI_INDEX, manifests: [child] };
  }
});

describe('a tag of the target with another digest', () => {
  it('stays, and is reported, before anything is sent', async () => {
    const { digest } = release();
    const other = image(target, 'prod/app', ['other'], '1.0.0');
    const { code, result } = await copy();
    expect({ code, ...result }).toMatchObject({ code: 3, outcome: 'Conflict' });
    expect(result.message).toContain(`already has 1.0.0 as ${other.digest}, not ${digest}`);
    expect(target.requests.filter((line) => !/^(GET|HEAD)/.test(line))).toEqual([]);
  });

  it('stays even if another client pushes it during the copy', async () => {
    release();
    target.meddle = (request) => {
      if (request.method === 'PUT' && /manifests/.test(request.url!)) image(target, 'prod/app', ['other'], '1.0.0');
      return false;
    };
    expect((await copy()).result).toMatchObject({ outcome: 'Conflict' });
  });

  it('is moved if requested', async () => {
    const { digest } = release();
    image(target, 'prod/app', ['other'], '1.0.0');
    expect((await copy({ more: ['--overwrite'] })).result).toMatchObject({ outcome: 'Copied', digest });
    expect(sha256(taggedInTarget()!.bytes)).toBe(digest);
  });

  it('with the same digest is a copy that is done', async () => {
    release();
    await copy();
    target.requests.length = 0;
    expect((await copy()).result).toMatchObject({ outcome: 'Copied', uploadedBytes: 0 });
    expect(target.requests.filter((line) => !/^(GET|HEAD)/.test(line))).toEqual([]);
  });
});

describe('digests', () => {
  it('in a source are found during the transfer: the target never gets the whole content', async () => {
    image(source, 'dev/app', ['x'.repeat(300_000)], '1.0.0');
    const layer = sha256('x'.repeat(300_000));
    source.blobs.set(`dev/app ${layer}`, Buffer.from('y'.repeat(300_000)));
    const { result } = await copy({ more: ['--attempts', '2'] });
    expect(result).toMatchObject({ outcome: 'Invalid', message: expect.stringContaining(`for ${layer}, 2 times`) });
    expect(target.blobs.has(`prod/app ${layer}`)).toBe(false);
  });

  it('of a manifest of the source that lies', async () => {
    const { digest } = release();
    source.manifests.get(`dev/app ${digest}`)!.bytes = Buffer.from('{}');
    const { result } = await copy({ more: ['--digest', digest, '--attempts', '2'] });
    expect(result).toMatchObject({
      outcome: 'Invalid',
      message: expect.stringMatching(/the source .* with another manifest/),
    });
  });

  it('in a transferred blob make the copy send it again', async () => {
    release();
    let corrupted = 0;
    target.meddle = (request, response) => {
      if (request.method !== 'PUT' || !/uploads/.test(request.url!) || corrupted++ > 0) return false;
      request.resume();
      request.on('end', () => response.writeHead(400).end('{"errors":[{"code":"DIGEST_INVALID"}]}'));
      return true;
    };
    const { result, stderr } = await copy();
    expect(result.outcome).toBe('Copied');
    expect(stderr).toMatch(/received other bytes for sha256:.*attempt 1 of 6/);
  });

  it('is copied by the requested digest, even if the tag has moved', async () => {
    const { digest } = release();
    image(source, 'dev/app', ['newer'], '1.0.0');
    expect((await copy({ more: ['--digest', digest] })).result).toMatchObject({ outcome: 'Copied', digest });
  });
});

describe('a registry that has trouble', () => {
  it('gets another request after its Retry-After', async () => {
    release();
    source.meddle = answering('GET', /manifests/, 429, { 'retry-after': '1' }, 2);
    target.meddle = answering('PUT', /uploads/, 500, {}, 1);
    const { result, stderr } = await copy();
    expect(result.outcome).toBe('Copied');
    expect(stderr).toMatch(/answers 429 OF_A_TEST to GET .*: attempt 1 of 6, the next in 1000 ms/);
    expect(stderr).toMatch(/answers 500 OF_A_TEST to the blob .*: attempt 1 of 6/);
  });

  it('that stops in a stream is given up', async () => {
    release();
    let stalled = 0;
    source.meddle = (request, response) => {
      if (!request.url!.endsWith(sha256('two')) || stalled++ > 0) return false;
      response.writeHead(200, { 'content-length': '3' }).write('t');
      return true;
    };
    const { result, stderr } = await copy({ more: ['--idle-timeout', '1'] });
    expect(result.outcome).toBe('Copied');
    expect(stderr).toMatch(/broke off sha256:.* after 1 of 3 bytes: attempt 1/);
  });

  it('and takes longer than the copy may', async () => {
    release();
    source.meddle = (request) => /manifests/.test(request.url!);
    const { code, result } = await copy({ more: ['--timeout', '1'] });
    expect({ code, ...result }).toMatchObject({
      code: 8,
      message: expect.stringContaining('did not finish within 1 s'),
    });
  });
});

describe('credentials', () => {
  const loggedIn = (request: IncomingMessage, response: ServerResponse) => {
    if (request.headers.authorization) return false;
    request.resume();
    response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
    return true;
  };
  const basic = (user: string) => `Basic ${Buffer.from(`${user}:pw`).toString('base64')}`;
  const logins = () => [
    ...['--source-secret', mountedLogin(source.host, 'reader', 'pw')],
    ...['--target-secret', mountedLogin(target.host, 'writer', 'pw')],
  ];

  it('go to their own registry only, and none to where a blob is stored', async () => {
    release();
    source.meddle = (request, response) => {
      if (loggedIn(request, response)) return true;
      if (!request.url!.includes('/blobs/')) return false;
      response.writeHead(307, { location: `http://${storage.host}${request.url}?signature=s3cret` }).end();
      return true;
    };
    storage.blobs = source.blobs;
    target.meddle = loggedIn;
    const { result, stderr } = await copy({ more: logins() });
    expect(result.outcome).toBe('Copied');
    expect(new Set(source.authorizations)).toEqual(new Set([undefined, basic('reader')]));
    expect(new Set(target.authorizations)).toEqual(new Set([undefined, basic('writer')]));
    expect(storage.requests.length).toBe(3);
    expect(new Set(storage.authorizations)).toEqual(new Set([undefined]));
    expect(stderr).not.toMatch(/s3cret|pw|cHc/);
  });

  it('for another host don’t count, and that is reported', async () => {
    release();
    target.meddle = loggedIn;
    const { result } = await copy({ more: ['--target-secret', mountedLogin('registry.example', 'writer', 'pw')] });
    expect(result).toMatchObject({
      outcome: 'Denied',
      message: expect.stringContaining(`its Secret: it has no entry for ${target.host}`),
    });
  });
});

it('a list may name layers itself, as build caches do', async () => {
  const layers = ['a', 'b'].map((content) => source.blob('dev/app', content));
  const { digest } = source.manifest('dev/app', { schemaVersion: 2, mediaType: OCI_INDEX, manifests: layers }, '1.0.0');
  expect((await copy()).result).toMatchObject({ outcome: 'Copied', digest, blobs: 2 });
});

it.each([
  ['no tag', { tag: '-' }, /--tag "-" is not a tag/],
  ['another option', { more: ['--force'] }, /Unknown option '--force'/],
  ['one repository', { target: 'registry.example/app', source: 'REGISTRY.example/app' }, /are the same repository/],
])('a command line with %s is refused', async (_, options, message) => {
  const { code, result } = await copy(options);
  expect({ code, ...result }).toMatchObject({ code: 2, outcome: 'Usage', message: expect.stringMatching(message) });
});
