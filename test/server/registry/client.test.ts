import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createAuthority } from '../../../dev/local/controlPlane/certificates.ts';
import { freePort } from '../../../dev/local/process/ports.ts';
import { fetchManifest, type ManifestRequest } from '../../../server/registry/fetchManifest.ts';
import { registrySockets } from '../../../server/registry/sockets.ts';
import { type LocalServer, startLocalServer } from '../../support/localServer.ts';

const MANIFEST = JSON.stringify({ annotations: { 'org.opencontainers.image.version': '1.1.0' } });
const DIGEST = `sha256:${createHash('sha256').update(MANIFEST).digest('hex')}`;

function fetchFrom({ host }: LocalServer, rest: Partial<ManifestRequest> = {}) {
  return fetchManifest({
    image: { host, repository: 'acme/web' },
    reference: '1.1.0',
    insecure: true,
    sockets: registrySockets({ allowLocal: true }),
    timeoutMs: 30_000,
    ...rest,
  });
}

const JO = { kind: 'basic', username: 'jo', password: 's3cret' } as const;
const BASIC = `Basic ${Buffer.from('jo:s3cret').toString('base64')}`;

describe('a manifest', () => {
  it('is requested by tag, in all its media types', async () => {
    let accept: string | undefined;
    const server = await startLocalServer((request, response) => {
      accept = request.headers.accept;
      response.end(MANIFEST);
    });
    expect(await fetchFrom(server)).toEqual({ digest: DIGEST, content: JSON.parse(MANIFEST) });
    expect(server.requests).toEqual(['GET /v2/acme/web/manifests/1.1.0']);
    expect(accept).toContain('application/vnd.oci.image.index.v1+json');
  });

  it('of a digest has to be that one', async () => {
    const server = await startLocalServer((_, response) => response.end(MANIFEST));
    expect((await fetchFrom(server, { reference: DIGEST })).digest).toBe(DIGEST);
    const other = `sha256:${'0'.repeat(64)}`;
    await expect(fetchFrom(server, { reference: other })).rejects.toThrow(`answers ${other} with another manifest`);
  });
});

describe('authentication', () => {
  const BEARER = (host: string) => `Bearer realm="http://${host}/token",service="reg"`;

  function tokenRegistry(grant: (request: IncomingMessage, body: string) => string | undefined) {
    return startLocalServer((request, response, server) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        if (request.url?.startsWith('/token')) {
          const token = grant(request, body);
          response.writeHead(token ? 200 : 401).end(JSON.stringify({ token }));
        } else if (request.headers.authorization === 'Bearer T') response.end(MANIFEST);
        else response.writeHead(401, { 'www-authenticate': BEARER(server.host) }).end();
      });
    });
  }

  it('anonymous, with a token', async () => {
    const server = await tokenRegistry((request) => (request.headers.authorization ? undefined : 'T'));
    expect((await fetchFrom(server)).digest).toBe(DIGEST);
    expect(server.requests[1]).toBe('GET /token?scope=repository%3Aacme%2Fweb%3Apull&service=reg');
  });

  it('a token for username and password', async () => {
    const server = await tokenRegistry((request) => (request.headers.authorization === BASIC ? 'T' : undefined));
    expect((await fetchFrom(server, { credentials: JO })).digest).toBe(DIGEST);
  });

  it('a token for an identity token', async () => {
    const server = await tokenRegistry((_, body) =>
      new URLSearchParams(body).get('refresh_token') === 'I' ? 'T' : undefined,
    );
    expect((await fetchFrom(server, { credentials: { kind: 'identityToken', token: 'I' } })).digest).toBe(DIGEST);
    expect(server.requests[1]).toBe('POST /token');
  });

  it('an identity token is not sent on by a redirect', async () => {
    const server = await startLocalServer((request, response, { host }) => {
      if (request.method === 'POST') response.writeHead(307, { location: '/elsewhere' }).end();
      else response.writeHead(401, { 'www-authenticate': BEARER(host) }).end();
    });
    const credentials = { kind: 'identityToken', token: 'I' } as const;
    await expect(fetchFrom(server, { credentials })).rejects.toThrow('redirects elsewhere');
    expect(server.requests).toHaveLength(2);
  });

  it('an identity token does not wait for a slow token server', async () => {
    const server = await startLocalServer((request, response, { host }) => {
      if (request.method !== 'POST') response.writeHead(401, { 'www-authenticate': BEARER(host) }).end();
    });
    const credentials = { kind: 'identityToken', token: 'I' } as const;
    await expect(fetchFrom(server, { credentials, timeoutMs: 300 })).rejects.toThrow('did not answer in time');
  });

  it.each([
    [401, 'Denied'],
    [429, 'Unavailable'],
    [500, 'Unavailable'],
  ])('a token server that answers %i is %s', async (status, failure) => {
    const server = await startLocalServer((request, response, { host }) => {
      if (request.url?.startsWith('/token')) response.writeHead(status).end();
      else response.writeHead(401, { 'www-authenticate': BEARER(host) }).end();
    });
    await expect(fetchFrom(server)).rejects.toMatchObject({ failure });
  });

  it('a registry token as it is', async () => {
    const server = await tokenRegistry(() => undefined);
    expect((await fetchFrom(server, { credentials: { kind: 'registryToken', token: 'T' } })).digest).toBe(DIGEST);
    expect(server.requests).toHaveLength(1);
  });

  it('Basic', async () => {
    const server = await startLocalServer((request, response) => {
      if (request.headers.authorization === BASIC) response.end(MANIFEST);
      else response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
    });
    expect((await fetchFrom(server, { credentials: JO })).digest).toBe(DIGEST);
    await expect(fetchFrom(server)).rejects.toThrow('requires username and password');
    await expect(fetchFrom(server, { credentials: { ...JO, password: 'wrong' } })).rejects.toThrow(
      `refuses to show ${server.host}/acme/web (401)`,
    );
  });

  it.each([
    ['Bearer realm="http://other.example/token"', 'names a token server that is not its own'],
    ['Negotiate', 'requires an unknown kind of authentication'],
    ['', 'requires an unknown kind of authentication'],
  ])('%j is not followed', async (challenge, message) => {
    const server = await startLocalServer((_, response) =>
      response.writeHead(401, { 'www-authenticate': challenge }).end(),
    );
    await expect(fetchFrom(server, { credentials: JO })).rejects.toThrow(message);
    expect(server.requests).toHaveLength(1);
  });

  it.each(['{}', '{"token": 7}', '{"token": "a b"}', 'null', 'T'])('the token answer %s gives none', async (answer) => {
    const server = await startLocalServer((request, response, { host }) => {
      if (request.url?.startsWith('/token')) response.end(answer);
      else response.writeHead(401, { 'www-authenticate': BEARER(host) }).end();
    });
    await expect(fetchFrom(server)).rejects.toThrow(/returns no token|something other than a JSON object/);
  });
});

describe('a bad registry', () => {
  it('that is slow is aborted', async () => {
    const server = await startLocalServer(() => {});
    await expect(fetchFrom(server, { timeoutMs: 100 })).rejects.toThrow(`${server.host} did not answer in time`);
  });

  it('that is slow in the middle of its answer is aborted', async () => {
    const server = await startLocalServer((_, response) => response.write('{'));
    await expect(fetchFrom(server, { timeoutMs: 100 })).rejects.toThrow('did not answer in time');
  });

  it.each([500, 503])('that answers %i is reported', async (status) => {
    const server = await startLocalServer((_, response) => response.writeHead(status).end('s3cret'));
    await expect(fetchFrom(server)).rejects.toThrow(`${server.host} answers ${status} for ${server.host}/acme/web`);
  });

  it('without the tag', async () => {
    const server = await startLocalServer((_, response) => response.writeHead(404).end());
    await expect(fetchFrom(server)).rejects.toThrow(`${server.host}/acme/web has no 1.1.0`);
  });

  it.each([true, false])('with a manifest of 100 MB is not read to its end (length given: %s)', async (hasLength) => {
    let sent = 0;
    const server = await startLocalServer((_, response) => {
      response.writeHead(200, hasLength ? { 'content-length': 100e6 } : {});
      const chunk = Buffer.alloc(1e6, ' ');
      const more = () => {
        while (sent < 100 && !response.destroyed) {
          sent += 1;
          if (!response.write(chunk)) return response.once('drain', more);
        }
        return response.end();
      };
      more();
    });
    await expect(fetchFrom(server)).rejects.toThrow('answers with more than 4194304 bytes');
    expect(sent).toBeLessThan(50);
  });

  it('with so many lists that parsing it would hold up the process is refused', async () => {
    const body = `{"a":${'['.repeat(500_000)}${']'.repeat(500_000)}}`;
    const server = await startLocalServer((_, response) => response.end(body));
    await expect(fetchFrom(server)).rejects.toThrow('answers with too many fields');
  });

  it('that redirects for ever', async () => {
    const server = await startLocalServer((request, response) =>
      response.writeHead(307, { location: request.url }).end(),
    );
    await expect(fetchFrom(server)).rejects.toThrow('redirects more than 3 times');
    expect(server.requests).toHaveLength(4);
  });

  it('that redirects to another host is not followed there', async () => {
    const other = await startLocalServer((_, response) => response.end(MANIFEST));
    const server = await startLocalServer((_, response) =>
      response.writeHead(302, { location: `http://${other.host}/` }).end(),
    );
    await expect(fetchFrom(server, { credentials: JO })).rejects.toThrow('redirects elsewhere');
    expect(other.requests).toEqual([]);
  });

  it('that redirects to itself without TLS is not followed there', async () => {
    const plain = await startLocalServer((_, response) => response.end(MANIFEST));
    const authority = await createAuthority(Date.now());
    const { certificate: cert, key } = await authority.issue('127.0.0.1');
    const redirect = (_: IncomingMessage, response: ServerResponse) =>
      response.writeHead(302, { location: `http://${plain.host}/` }).end();
    const server = await startLocalServer(redirect, { cert, key });
    const trust = { ca: [authority.certificate] };
    await expect(fetchFrom(server, { credentials: JO, insecure: false, trust })).rejects.toThrow('redirects elsewhere');
    expect(plain.requests).toEqual([]);
  });

  it('that redirects on itself is followed', async () => {
    const server = await startLocalServer((request, response) => {
      if (request.url?.startsWith('/v2/')) response.writeHead(307, { location: '/elsewhere' }).end();
      else response.end(MANIFEST);
    });
    expect((await fetchFrom(server)).digest).toBe(DIGEST);
  });

  it.each(['not json', '7', ''])('that answers %j', async (body) => {
    const server = await startLocalServer((_, response) => response.end(body));
    await expect(fetchFrom(server)).rejects.toThrow('something other than a JSON object');
  });

  it('that is missing, or speaks HTTP instead of HTTPS', async () => {
    const server = await startLocalServer((_, response) => response.end(MANIFEST));
    await expect(fetchFrom(server, { insecure: false })).rejects.toThrow(`${server.host} cannot be reached`);
    await expect(fetchFrom({ ...server, host: `127.0.0.1:${await freePort()}` })).rejects.toThrow(
      /cannot be reached \(ECONNREFUSED\)/,
    );
  });

  it('never gets a secret into the error', async () => {
    const token = 's3cret\nheader';
    const server = await startLocalServer((_, response) => response.writeHead(401).end());
    const error = await fetchFrom(server, { credentials: { kind: 'registryToken', token } }).catch((e: Error) => e);
    expect(String((error as Error).stack)).not.toContain('s3cret');
  });
});
