import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { expect, it } from 'vitest';
import { send } from '../../../dev/client/send.ts';
import { createAuthority } from '../../../dev/local/controlPlane/certificates.ts';

it('signs in with a token, or with a client certificate, each user with its own', async () => {
  const authority = await createAuthority(Date.now());
  const serving = await authority.issue('api-server');
  const server = createServer(
    { cert: serving.certificate, key: serving.key, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      const { subject } = (request.socket as TLSSocket).getPeerCertificate();
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ certificate: subject?.CN, authorization: request.headers.authorization }));
    },
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    const cluster = { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, ca: authority.certificate };
    const seen = async (user: object) => (await send({ ...cluster, ...user }, 'GET', '/')).object;
    const [anna, ben] = [await authority.issue('anna'), await authority.issue('ben')];
    expect(await seen({ token: 't' })).toEqual({ authorization: 'Bearer t' });
    expect(await seen({ cert: anna.certificate, key: anna.key })).toEqual({ certificate: 'anna' });
    expect(await seen({ cert: ben.certificate, key: ben.key })).toEqual({ certificate: 'ben' });
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

it('tells each Warning of an answer, and what is refused in the words of the API server', async () => {
  const authority = await createAuthority(Date.now());
  const { certificate: cert, key } = await authority.issue('api-server');
  const server = createServer({ cert, key }, (request, response) => {
    response.setHeader('warning', ['299 - "one", 299 - "two, and a comma"', '299 - "a \\"quoted\\" \\\\ word"']);
    response.setHeader('content-type', request.url === '/plain' ? 'text/plain' : 'application/json');
    response.statusCode = request.url === '/fine' ? 200 : 409;
    response.end(request.url === '/plain' ? 'no' : JSON.stringify({ message: 'taken', reason: 'Conflict' }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    const cluster = { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, ca: authority.certificate };
    const warnings = ['one', 'two, and a comma', 'a "quoted" \\ word'];
    expect((await send(cluster, 'GET', '/fine')).warnings).toEqual(warnings);
    const refused = { name: 'ApiError', code: 409, message: 'taken', reason: 'Conflict', warnings };
    await expect(send(cluster, 'GET', '/refused')).rejects.toMatchObject(refused);
    await expect(send(cluster, 'GET', '/plain')).rejects.toMatchObject({
      message: 'GET /plain: HTTP 409 no',
      warnings,
    });
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
