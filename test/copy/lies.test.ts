/** The copy command and registries that give false answers, change during the copy, or never end. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import { copyHere, type Here } from './command.ts';
import { image, OCI_INDEX, OCI_MANIFEST, sha256, startFakeRegistry } from './fakeRegistry.ts';

const MIB = 1_048_576;
const TAG = '1.0.0';

const source = await startFakeRegistry();
const target = await startFakeRegistry();
beforeEach(() => {
  for (const registry of [source, target]) registry.reset();
});

const copy = (rest: Partial<Here> = {}) =>
  copyHere({ source: `${source.host}/dev`, target: `${target.host}/prod`, tag: TAG, ...rest });
const release = () => image(source, 'dev', ['one', 'two'], TAG);
const isTagged = () => target.manifests.has(`prod ${TAG}`);

/** Answers some requests instead of the registry. */
const instead =
  (method: string, path: RegExp, answer: (response: ServerResponse, request: IncomingMessage) => void) =>
  (request: IncomingMessage, response: ServerResponse) => {
    if (request.method !== method || !path.test(request.url!)) return false;
    request.resume();
    request.on('end', () => answer(response, request));
    return true;
  };

describe('a target that lies is found out, and the tag is not written', () => {
  it.each([
    {
      title: 'that it took a blob',
      meddle: instead('PUT', /uploads/, (response) => response.writeHead(201).end()),
      ends: 'Invalid',
      message: /accepted sha256:\w+, but does not have it$/,
    },
    {
      title: 'that a blob of another size is there',
      meddle: instead('HEAD', /blobs/, (response) => response.writeHead(200, { 'content-length': '999' }).end()),
      ends: 'Invalid',
      message: /with 999 bytes instead of \d: delete it there/,
    },
    {
      title: 'that all blobs are there, and then does not know them',
      meddle: (request: IncomingMessage, response: ServerResponse) =>
        instead('HEAD', /blobs/, (answer) => answer.writeHead(200).end())(request, response) ||
        instead('PUT', /manifests/, (answer) =>
          answer.writeHead(400).end('{"errors":[{"code":"MANIFEST_BLOB_UNKNOWN"}]}'),
        )(request, response),
      ends: 'Unavailable',
      message: /has lost a part of the manifest sha256:\w+ since it was sent.*: start again$/,
    },
    {
      title: 'that the manifest has another digest',
      meddle: instead('PUT', /manifests/, (response) =>
        response.writeHead(201, { 'docker-content-digest': sha256('other') }).end(),
      ),
      ends: 'Invalid',
      message: /was sent sha256:\w+, but reports it as sha256:/,
    },
    {
      title: 'that it took a manifest',
      meddle: instead('PUT', /manifests/, (response) => response.writeHead(201).end()),
      ends: 'Invalid',
      message: /accepted sha256:\w+, but does not have it$/,
    },
    {
      title: 'of a digest that it is another manifest',
      meddle: instead('GET', /manifests\/sha256:/, (response) =>
        response.writeHead(200, { 'content-type': OCI_MANIFEST }).end('{"other":true}'),
      ),
      ends: 'Invalid',
      message: /the target .* answers sha256:\w+ with another manifest, sha256:\w+, 2 times$/,
    },
    {
      title: 'that there is no such repository',
      meddle: instead('POST', /uploads/, (response) =>
        response.writeHead(404).end('{"errors":[{"code":"NAME_UNKNOWN"}]}'),
      ),
      ends: 'NotFound',
      message: /answers 404 NAME_UNKNOWN to the blob .*: create .*\/prod there, if the registry requires it$/,
    },
  ])('$title', async ({ meddle, ends, message }) => {
    release();
    target.meddle = meddle;
    const { result } = await copy({ more: ['--attempts', '2'] });
    expect(result).toMatchObject({ outcome: ends, message: expect.stringMatching(message) });
    expect(isTagged()).toBe(false);
  });

  it('that the tag has the content that was sent', async () => {
    release();
    const other = '{"other":true}';
    target.meddle = instead('GET', /manifests\/1\.0\.0$/, (response) =>
      response.writeHead(200, { 'content-type': OCI_MANIFEST }).end(other),
    );
    const { result } = await copy();
    expect(result).toMatchObject({
      outcome: 'Invalid',
      message: expect.stringContaining(`as ${TAG}, but has ${sha256(other)} there`),
    });
  });
});

describe('a source that is deleted half-way', () => {
  const layers = Array.from({ length: 30 }, (_, i) => `layer ${i}`);

  it('completely: nothing is left under the tag, and the missing part is named', async () => {
    image(source, 'dev', layers, TAG);
    const watch = (line: string) => {
      if (!line.startsWith('blob 1 of')) return;
      source.manifests.clear();
      source.blobs.clear();
    };
    const { result } = await copy({ watch });
    expect(result).toMatchObject({
      outcome: 'NotFound',
      message: expect.stringMatching(/no longer has the blob sha256:/),
    });
    expect(isTagged()).toBe(false);
  });

  it.each([
    {
      what: 'a platform of its index',
      lose: () => {
        const gone = image(source, 'dev', ['platform']);
        source.manifest('dev', { schemaVersion: 2, mediaType: OCI_INDEX, manifests: [gone] }, TAG);
        source.manifests.delete(`dev ${gone.digest}`);
      },
    },
    {
      what: 'its signature, which is still listed',
      lose: () => {
        const { digest } = release();
        const gone = { mediaType: OCI_MANIFEST, digest: sha256('gone'), size: 4 };
        source.manifest('dev', { schemaVersion: 2, mediaType: OCI_INDEX, manifests: [gone] }, digest.replace(':', '-'));
      },
    },
  ])('$what: a release is copied with all that belongs to it, or not', async ({ lose }) => {
    lose();
    const { result } = await copy();
    expect(result).toMatchObject({
      outcome: 'NotFound',
      message: expect.stringMatching(/lists sha256:\w+, but does not have it/),
    });
    expect(target.manifests.size).toBe(0);
  });

  it('its tag only: the release is identified by its digest during the copy', async () => {
    const { digest } = image(source, 'dev', layers, TAG);
    const watch = (line: string) => line.startsWith('blob 1 of') && source.manifests.delete(`dev ${TAG}`);
    expect((await copy({ watch })).result).toMatchObject({ outcome: 'Copied', digest });
  });

  it('in its storage, elsewhere', async () => {
    release();
    source.meddle = instead('GET', /blobs/, (response, request) =>
      response.writeHead(307, { location: `http://${target.host}/storage${request.url}?signature=s3cret` }).end(),
    );
    const { result } = await copy({ more: ['--attempts', '2'] });
    expect(result).toMatchObject({
      outcome: 'Unavailable',
      message: expect.stringMatching(/^the source's storage .* answers 404 for sha256:\w+, 2 times$/),
    });
  });
});

describe('more than a copy takes is not read to its end', () => {
  it.each([
    { title: 'before', headers: { 'content-length': `${100 * MIB}` } },
    { title: 'does not say', headers: {} },
  ])('a manifest of 100 MB of a source that $title how long it is', async ({ headers }) => {
    let sent = 0;
    source.meddle = instead('GET', /manifests/, (response) => {
      response.writeHead(200, { 'content-type': OCI_MANIFEST, ...headers });
      const more = () => {
        while (sent < 100 * MIB && !response.destroyed) {
          sent += 65_536;
          if (!response.write(Buffer.alloc(65_536, ' '))) return;
        }
        response.end();
      };
      response.on('drain', more);
      more();
    });
    const { result } = await copy();
    expect(result).toMatchObject({ outcome: 'Invalid', message: expect.stringContaining('more than 4194304 bytes') });
    expect(sent).toBeLessThan(50 * MIB);
  });

  it('an endless list of referrers', async () => {
    release();
    source.meddle = instead('GET', /referrers/, (response, { url }) => {
      const page = Number(new URL(url!, 'http://source').searchParams.get('page') ?? 0);
      const link = `<${url!.split('?')[0]}?page=${page + 1}>; rel="next"`;
      response.writeHead(200, { 'content-type': OCI_INDEX, link }).end('{"manifests":[]}');
    });
    expect((await copy()).result).toMatchObject({
      outcome: 'Invalid',
      message: expect.stringContaining('on more than 20 pages'),
    });
  });

  it('a blob that continues after its end', async () => {
    release();
    source.meddle = instead('GET', /blobs/, (response) => {
      response.writeHead(200);
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    });
    expect((await copy({ more: ['--attempts', '1'] })).result).toMatchObject({
      outcome: 'Invalid',
      message: expect.stringMatching(/sent more than \d bytes for sha256:/),
    });
    expect(target.blobs.size).toBe(0);
  });
});

describe('an installation', () => {
  it('copies from no registry on the machine that copies', async () => {
    await release();
    const { result, code } = await copy({ guarded: true });
    expect([code, result]).toEqual([
      4,
      {
        outcome: 'Denied',
        message: expect.stringMatching(/^the \w+: 127\.0\.0\.1 has a loopback, .* set ALLOW_LOCAL_REGISTRIES=true$/),
      },
    ]);
    expect([...source.requests, ...target.requests]).toEqual([]);
  });
});

it('a text of a registry has no terminal controls in the output', async () => {
  release();
  const manifest = source.manifests.get(`dev ${TAG}`)!;
  source.manifests.set(`dev ${TAG}`, { ...manifest, bytes: Buffer.from(JSON.stringify({ mediaType: '\u009b2J' })) });
  const { result, stderr } = await copy();
  expect(result.message).toContain('has the unknown media type " 2J"');
  expect(stderr).toContain('has the unknown media type " 2J"');
});
