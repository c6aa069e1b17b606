/** A POST to a sink of the mounted Secret, and the error messages: never with an address or a token. */
import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAuthority } from '../../../dev/local/controlPlane/certificates.ts';
import { createAuditSink } from '../../../server/audit/auditSink.ts';
import { eventually } from '../../support/eventually.ts';
import { startLocalServer } from '../../support/localServer.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';

const TOKEN = 'very-secret-token';

function folderWith(files: Record<string, string>): string {
  const folder = temporaryFolder('sink-');
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

function sinkOf(files: Record<string, string>) {
  const logged: string[] = [];
  const note = (fields: object, message: string) => void logged.push(JSON.stringify([fields, message]));
  const folder = folderWith(files);
  const sink = createAuditSink(folder, { info: note, error: note });
  onTestFinished(() => sink.close());
  return { sink, logged, folder };
}

const answering = (status: number, headers: Record<string, string> = {}) =>
  startLocalServer((_, response) => void response.writeHead(status, headers).end());

describe('an event', () => {
  it('is posted in structured mode', async () => {
    const seen: unknown[] = [];
    const server = await startLocalServer(async (request, response) => {
      const { 'content-type': type, authorization } = request.headers;
      seen.push(request.method, request.url, type, authorization, await text(request));
      response.writeHead(202).end();
    });
    const { sink } = sinkOf({ url: `http://${server.host}/events?x=1\n` });
    expect(await sink.post('{"id":"1"}')).toEqual({ outcome: 'taken' });
    const type = 'application/cloudevents+json; charset=utf-8';
    expect(seen).toEqual(['POST', '/events?x=1', type, undefined, '{"id":"1"}']);
  });

  it.each([
    [200, 'taken'],
    [400, 'refused'],
    [301, 'failed'],
    [408, 'failed'],
    [429, 'failed'],
    [500, 'failed'],
  ])('answered with %i is %s', async (status, outcome) => {
    const server = await answering(status, status === 301 ? { location: '/elsewhere' } : {});
    const { sink } = sinkOf({ url: `http://${server.host}/` });
    expect(await sink.post('{}')).toMatchObject({ outcome });
    expect(server.requests).toEqual(['POST /']);
  });

  it('is kept as long as the sink’s Retry-After', async () => {
    const server = await answering(429, { 'retry-after': '7' });
    const { sink } = sinkOf({ url: `http://${server.host}/` });
    expect(await sink.post('{}')).toEqual({ outcome: 'failed', why: 'status 429', retryAfterMs: 7000 });
  });

  it('is kept until a Retry-After that is a date', async () => {
    const server = await answering(503, { 'retry-after': new Date(Date.now() + 600_000).toUTCString() });
    const { sink } = sinkOf({ url: `http://${server.host}/` });
    const { retryAfterMs } = (await sink.post('{}')) as { retryAfterMs: number };
    expect(Math.round(retryAfterMs / 60_000)).toBe(10);
  });

  it('that no sink accepts fails with a code, without the address', async () => {
    const { sink } = sinkOf({ url: 'http://127.0.0.1:1/?access_token=secret' });
    expect(await sink.post('{}')).toEqual({ outcome: 'failed', why: 'ECONNREFUSED' });
  });
});

it('a sink with an authority of its own gets the token, and no other', async () => {
  const authority = await createAuthority(Date.now());
  const { certificate, key } = await authority.issue('127.0.0.1');
  const seen: unknown[] = [];
  const take = (request: IncomingMessage, response: ServerResponse) => {
    seen.push(request.headers.authorization);
    response.writeHead(200).end();
  };
  const server = await startLocalServer(take, { cert: certificate, key });
  const files = { url: `https://${server.host}/`, token: `${TOKEN}\n` };
  const trusting = sinkOf({ ...files, 'ca.crt': authority.certificate });
  expect(await trusting.sink.post('{}')).toEqual({ outcome: 'taken' });
  expect(seen).toEqual([`Bearer ${TOKEN}`]);
  const doubting = sinkOf(files);
  const answer = await doubting.sink.post('{}');
  expect(answer).toMatchObject({ outcome: 'failed' });
  expect(seen).toHaveLength(1);
  expect(JSON.stringify([answer, trusting.logged, doubting.logged])).not.toContain(TOKEN);
});

it('a changed Secret is used without a restart, and an invalid one is not', async () => {
  const [before, after] = [await answering(200), await answering(200)];
  const { sink, folder, logged } = sinkOf({ url: `http://${before.host}/` });
  await sink.post('{}');
  writeFileSync(join(folder, 'url'), `http://${after.host}/`);
  await eventually(() => expect(logged.join()).toContain('reloaded'));
  await sink.post('{}');
  writeFileSync(join(folder, 'url'), 'nonsense');
  await eventually(() => expect(logged.join()).toContain('the last good content stays in use'));
  await sink.post('{}');
  expect([before.requests.length, after.requests.length]).toEqual([1, 2]);
});

it.each([
  ['without an address', {}, 'the Secret of the sink needs url, an http or https URL'],
  ['with another address', { url: 'ftp://x/' }, 'the Secret of the sink needs url, an http or https URL'],
  ['with a token for http', { url: 'http://x/', token: TOKEN }, 'the sink has a token, and its url is not https'],
  [
    'with a token of two lines',
    { url: 'https://x/', token: `${TOKEN}\nx: y` },
    'token in the Secret of the sink is not a bearer token: write it in one line, without spaces',
  ],
  [
    'with what is no certificate',
    { url: 'https://x/', 'ca.crt': TOKEN },
    "the Secret of the sink can't be used: ca.crt is not a certificate in PEM",
  ],
])('a Secret %s is refused, without its values', (_, files, message) => {
  expect(() => sinkOf(files)).toThrow(new Error(message));
});
