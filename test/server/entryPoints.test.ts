/** Authentication at the ports of hooks and webhook: certificates and tokens. */
import { once } from 'node:events';
import { copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { createAuthority, type KeyPair } from '../../dev/local/controlPlane/certificates.ts';
import { waitFor } from '../../dev/local/process/waitFor.ts';
import { requireToken } from '../../server/http/callers.ts';
import { objectOf } from '../support/objects.ts';
import { admit, ask, createServerSetup } from './program.ts';

const HOUR = 3_600_000;
const setup = await createServerSetup();
const clients = await createAuthority(Date.now(), { name: 'clients' });
const foreign = await createAuthority(Date.now(), { name: 'clients' });
const file = (name: string) => join(setup.dir, name);
writeFileSync(file('clients.crt'), clients.certificate);
copyFileSync(file('tls.crt'), file('own.crt'));
copyFileSync(file('tls.key'), file('own.key'));
writeFileSync(file('token'), 'one\n');
/** For all tests: the certificate is replaced after those of admission, which trust the first. */
const program = await setup.start({
  WEBHOOK_CLIENT_CA: file('clients.crt'),
  WEBHOOK_CLIENT_NAMES: 'kube-apiserver, other.example',
  WEBHOOK_TLS_CERT: file('own.crt'),
  WEBHOOK_TLS_KEY: file('own.key'),
  HOOKS_TOKEN_FILE: file('token'),
  HOOKS_PREVIOUS_TOKEN_FILE: file('previous'),
});

const shown = ({ certificate, key }: KeyPair) => ({ cert: certificate, key });

/** Sends these bytes on a connection without a certificate. */
function call(text: string, session?: Buffer): TLSSocket {
  const socket = connect({ host: '127.0.0.1', port: program.webhookPort, ca: program.ca, ...(session && { session }) });
  socket.write(text);
  return socket;
}

describe('an admission request', () => {
  it('of the API server is answered', async () => {
    const own = shown(await clients.issue('kube-apiserver', { use: 'client' }));
    const { status, text } = await admit(program, { agent: false, ...own });
    expect([status, JSON.parse(text).response.allowed]).toEqual([200, true]);
  });

  it.each<[string, () => Promise<ConnectionOptions>, number, RegExp]>([
    ['without a certificate', async () => ({}), 401, /none was sent/],
    [
      'with a certificate of an authority with the same name',
      async () => shown(await foreign.issue('kube-apiserver', { use: 'client' })),
      401,
      /does not accept this one/,
    ],
    [
      'with a certificate of its own making',
      async () => ({ cert: foreign.certificate, key: foreign.key }),
      401,
      /does not accept this one/,
    ],
    [
      'with a certificate that has ended',
      async () => shown(await clients.issue('kube-apiserver', { use: 'client', notAfterMs: Date.now() - 1000 })),
      401,
      /CERT_HAS_EXPIRED/,
    ],
    ["with a server's certificate", async () => shown(await clients.issue('kube-apiserver')), 401, /does not accept/],
    [
      "with somebody else's certificate of the same authority",
      async () => shown(await clients.issue('kubelet', { use: 'client' })),
      403,
      /'kubelet' is not in WEBHOOK_CLIENT_NAMES/,
    ],
  ])('%s is refused, with a sentence', async (_what, options, status, sentence) => {
    const answer = await admit(program, { agent: false, ...(await options()) });
    expect(answer.status).toBe(status);
    expect(answer.text).toMatch(sentence);
  });

  it('on a resumed session that never showed a certificate is refused too', async () => {
    const first = call('GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n');
    // TLS sessions are sent after the handshake, before the first answer.
    let session: Buffer | undefined;
    first.on('session', (bytes) => {
      session = bytes;
    });
    await once(first, 'data');
    first.end();
    const again = call('POST /admission/mutate/gate HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}', session);
    expect(String((await once(again, 'data'))[0])).toContain('401 Unauthorized');
    again.destroy();
  });

  it('is refused before its body is read', async () => {
    const socket = call('POST /admission/mutate/gate HTTP/1.1\r\nHost: x\r\nContent-Length: 7000000\r\n\r\n');
    const [answer] = await once(socket, 'data');
    socket.destroy();
    expect(String(answer)).toContain('401 Unauthorized');
  });
});

it('probes need no certificate', async () => {
  for (const path of ['/healthz', '/readyz']) {
    const options = { port: program.webhookPort, path, ca: program.ca, agent: false } as const;
    expect(await ask(options)).toEqual({ status: 200, text: 'ok\n' });
  }
});

it('a replica whose clock differs from the API server’s is not ready, and decides nothing', async () => {
  const isAhead = await createServerSetup((_request, response) => {
    response.writeHead(503, { date: new Date(Date.now() - HOUR).toUTCString() }).end('{}');
  });
  const started = await isAhead.start();
  const { webhookPort: port, ca, hooksPort } = started;
  const reason = expect.stringMatching(/^the clock is 3[56]\d\d s ahead of the API server's\n?$/);
  const { status, text } = await ask({ port, path: '/readyz', ca, agent: false });
  expect([status, text]).toEqual([503, reason]);
  const review = await admit(started, { agent: false });
  expect([review.status, review.text]).toEqual([500, reason]);
  // An error of this webhook would admit the write, also behind Gates that don't depend on the time.
  const decided = await admit(started, { agent: false, path: '/admission/mutate/flux-fails-open' });
  expect(JSON.parse(decided.text)).toMatchObject({ response: { allowed: false } });
  const metadata = { name: 'freeze', namespace: 'platform', uid: 'u' };
  const parent = objectOf('Gate', { metadata, spec: { default: 'closed' } });
  const body = JSON.stringify({ parent, children: {}, related: {}, finalizing: false });
  const sync = await fetch(`http://127.0.0.1:${hooksPort}/hooks/gate/sync`, { method: 'POST', body });
  expect([sync.status, await sync.text()]).toEqual([429, reason]);
  const metrics = await fetch(`http://127.0.0.1:${hooksPort}/metrics`);
  expect(await metrics.text()).toMatch(/^rollout_hooks_clock_ahead_seconds 3[56]\d\d/m);
});

describe('a certificate that is replaced', () => {
  /** Whether the port presents a certificate of this authority. */
  const shows = (ca: string) =>
    ask({ port: program.webhookPort, path: '/healthz', ca, agent: false }).then(
      ({ status }) => status === 200,
      () => false,
    );

  it('an incomplete, expired or missing certificate does not replace the current one; the log reports it once, and a metric has the end of the one in use', async () => {
    const files = { cert: file('own.crt'), key: file('own.key') };
    const later = await createAuthority(Date.now(), { name: 'later' });
    const end = Math.floor(Date.now() / 1000) + 3600;
    const whole = await later.issue('rollout-hooks', { notAfterMs: end * 1000 });
    const ended = await later.issue('rollout-hooks', { notAfterMs: Date.now() - HOUR / 60 });

    const problems: [() => void, RegExp][] = [
      [() => writeFileSync(files.key, ''), /has no PEM key/],
      [
        () => {
          writeFileSync(files.cert, whole.certificate);
          copyFileSync(file('tls.key'), files.key);
        },
        /do not match/,
      ],
      [() => writeFileSync(files.cert, whole.certificate.slice(0, 100)), /has no PEM certificate/],
      [
        () => {
          writeFileSync(files.key, ended.key);
          writeFileSync(files.cert, ended.certificate);
        },
        /is not valid now/,
      ],
    ];
    for (const [write, problem] of problems) {
      write();
      await waitFor(() => problem.test(program.log()), `the log of ${problem}`);
      expect(await shows(program.ca)).toBe(true);
    }
    for (const [, problem] of problems) {
      expect(
        program
          .log()
          .split('\n')
          .filter((line) => problem.test(line)).length,
      ).toBeLessThanOrEqual(2);
    }
    // Only the key's file changes: the certificate is already there.
    writeFileSync(files.cert, whole.certificate);
    await waitFor(() => program.log().split('do not match').length > 2, 'another line of the log');
    writeFileSync(files.key, whole.key);
    await waitFor(() => shows(later.certificate), 'the later certificate');
    expect(await shows(program.ca)).toBe(false);
    const served = await fetch(`http://127.0.0.1:${program.hooksPort}/metrics`);
    expect(await served.text()).toContain(`\nrollout_hooks_certificate_expiry_timestamp_seconds ${end}\n`);
  });

  it('and a certificate with another one’s key fails the start with a sentence', async () => {
    const other = await clients.issue('rollout-hooks');
    writeFileSync(file('wrong.key'), other.key);
    await expect(setup.start({ WEBHOOK_TLS_KEY: file('wrong.key') })).rejects.toThrow(
      /tls\.crt and .*wrong\.key do not match/,
    );
  });
});

describe('the hooks', () => {
  const sync = (authorization?: string) =>
    fetch(`http://127.0.0.1:${program.hooksPort}/hooks/gate/sync`, {
      method: 'POST',
      body: '{}',
      headers: authorization === undefined ? {} : { authorization },
    }).then(async (response) => ({
      status: response.status,
      error: await response.text(),
    }));

  it('answer with the token; probes and metrics need none', async () => {
    // With the token the body is read, and isn't one of a hook.
    expect((await sync('Bearer one')).status).toBe(400);
    expect((await sync('bearer one')).status).toBe(400);
    for (const wrong of ['Bearer on', 'Bearer one2', 'Bearer ', 'Basic one', 'one']) {
      expect((await sync(wrong)).status, wrong).toBe(401);
    }
    expect(await sync()).toMatchObject({ status: 401, error: expect.stringContaining('none was sent') });
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      expect((await fetch(`http://127.0.0.1:${program.hooksPort}${path}`)).status).toBe(200);
    }
  });

  it('take the new token and the one before while both are there', async () => {
    const statuses = async () => [(await sync('Bearer one')).status, (await sync('Bearer two')).status];
    expect(await statuses()).toEqual([400, 401]);
    writeFileSync(file('previous'), 'one');
    writeFileSync(file('token'), 'two');
    await waitFor(async () => (await statuses())[1] !== 401, 'the new token counts');
    expect(await statuses()).toEqual([400, 400]);
    rmSync(file('previous'));
    await waitFor(async () => (await statuses())[0] !== 400, 'the token before counts no more');
    expect(await statuses()).toEqual([401, 400]);
  });

  it('an empty token does not replace the current one, and is none at the start', async () => {
    writeFileSync(file('token'), '\n');
    await waitFor(() => program.log().includes('an empty token'), 'the log');
    expect((await sync('Bearer two')).status).toBe(400);
    expect((await sync('Bearer ')).status).toBe(401);
    expect(() => requireToken({ current: file('token') }, { error() {}, info() {} })).toThrow(
      /token is empty: an empty token/,
    );
  });
});
