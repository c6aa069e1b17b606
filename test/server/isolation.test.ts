/** No client can use up admission's connections to the API server or its processor time. */
import { createHash } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Agent } from 'node:https';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { objectOf } from '../support/objects.ts';
import { admit, ask, createServerSetup, fluxReview, reviewOf, type ServerSetup } from './program.ts';

const POLL_MS = 10;
// Each test starts processes, possibly on a busy machine.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const TOKEN = 's3cret';
const PATH = `/hook/${createHash('sha256').update(`${TOKEN}freezeplatform`).digest('hex')}`;
const GATE = objectOf('Gate', {
  metadata: { name: 'freeze', namespace: 'platform', uid: 'u', resourceVersion: '1' },
  spec: { default: 'closed', receiver: { type: 'hmac', secretRef: { name: 'hook' } } },
  status: { webhookPath: PATH },
});

let setup: ServerSetup;
let apiServer: RequestListener;
beforeAll(async () => {
  setup = await createServerSetup((request, response) => apiServer(request, response));
});
afterAll(() => setup.dispose());

interface PlainCall {
  port: number;
  path: string;
  body: string;
  headers?: Record<string, string>;
  agent: PlainAgent;
}

/** The status; 0 when the connection was refused or reset. */
function post({ port, path, body, headers, agent }: PlainCall): Promise<number> {
  return new Promise((resolve) => {
    const options = { host: '127.0.0.1', port, path, method: 'POST', agent };
    const call = plainRequest(
      { ...options, headers: { 'content-type': 'application/json', ...headers } },
      (response) => {
        response.resume();
        response.on('close', () => resolve(response.statusCode ?? 0));
      },
    );
    call.on('error', () => resolve(0));
    call.end(body);
  });
}

it('HealthChecks whose reads hang do not use up the connections of admission', async () => {
  let held = 0;
  apiServer = (request, response) => {
    if (request.url?.includes('/kustomizations/slow-')) held++;
    else response.writeHead(request.url?.includes('labelSelector=') ? 200 : 404).end('{"items":[]}');
  };
  const program = await setup.start();
  const agent = new PlainAgent({ keepAlive: true });
  const calls = Array.from({ length: 100 }, (_, i) => {
    const annotations = { 'healthcheck.kuberik.com/kustomization': `slow-${i}` };
    const metadata = { name: `hc-${i}`, namespace: 'demo', uid: `u${i}`, annotations };
    const object = objectOf('HealthCheck', { metadata, spec: { class: 'kustomization' } });
    const body = JSON.stringify({ object, attachments: {}, related: {}, finalizing: false });
    return post({ port: program.hooksPort, path: '/hooks/healthcheck/sync', body, agent });
  });
  // As many as the connection pool of HealthChecks.
  while (held < 16) await wait(POLL_MS);
  const review = JSON.stringify(fluxReview());
  const answers = Array.from({ length: 20 }, () =>
    ask({ port: program.webhookPort, path: '/admission/mutate/flux', ca: program.ca, agent: false }, review),
  );
  for (const { status, text } of await Promise.all(answers)) {
    expect([status, JSON.parse(text).response.allowed]).toEqual([200, true]);
  }
  expect(held).toBe(16);
  program.process.kill('SIGKILL');
  await Promise.all(calls);
  agent.destroy();
}, 60_000);

it('reviews whose reads hang do not use up the connections of reviews that fail open', async () => {
  let held = 0;
  apiServer = (request, response) => {
    if (request.url?.includes('/gates/slow-')) held++;
    else response.writeHead(request.url?.includes('labelSelector=') ? 200 : 404).end('{"items":[]}');
  };
  const program = await setup.start();
  const review = (annotations: Record<string, string>) => {
    const object = objectOf('Kustomization', 'demo/app', { metadata: { annotations }, spec: {} });
    return JSON.stringify(reviewOf(object));
  };
  const to = (path: string) => ({ port: program.webhookPort, path, ca: program.ca, agent: false as const });
  const names = (i: number) => Array.from({ length: 10 }, (_, n) => `slow-${i}-${n}`).join();
  const slow = Array.from({ length: 10 }, (_, i) =>
    ask(to('/admission/mutate/flux'), review({ 'gate.fluxcd.io/gates': names(i) })).catch(() => {}),
  );
  // As many as the connection pool of reviews that fail closed.
  while (held < 64) await wait(POLL_MS);
  const { status, text } = await ask(to('/admission/mutate/flux-fails-open'), review({}));
  expect([status, JSON.parse(text).response.allowed, held]).toEqual([200, true, 64]);
  program.process.kill('SIGKILL');
  await Promise.all(slow);
}, 60_000);

it('admission answers while the receiver is flooded', async () => {
  apiServer = (request, response) => {
    const { url = '' } = request;
    const answer = url.includes('/secrets/')
      ? { data: { token: btoa(TOKEN) } }
      : url.includes('/gates/')
        ? GATE
        : { metadata: {}, items: [GATE] };
    response.end(JSON.stringify(answer));
  };
  const [program, other] = [await setup.start(), await setup.start()];
  const keptAlive = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = {
    'x-signature': `sha256=${'0'.repeat(64)}`,
    'x-timestamp': `${Math.floor(Date.now() / 1000)}`,
    'x-nonce': 'n',
  };
  const body = 'x'.repeat(2_900_000);

  /**
   * The latency of admission at `program` while the receiver at this port is flooded; the load is equal for both
   * programs.
   */
  async function whileFlooded(port: number): Promise<number> {
    const agent = new PlainAgent({ keepAlive: true, maxSockets: 100 });
    let over = false;
    let flooded = 0;
    const flood = Array.from({ length: 4 }, async () => {
      while (!over) {
        await post({ port, path: PATH, body, headers, agent });
        flooded++;
      }
    });
    while (flooded < 10) await wait(POLL_MS);
    const times: number[] = [];
    for (let i = 0; i < 20; i++) {
      const begin = performance.now();
      expect((await admit(program, { agent: keptAlive })).status).toBe(200);
      times.push(performance.now() - begin);
    }
    over = true;
    await Promise.all(flood);
    agent.destroy();
    // The quickest: on a shared event loop each would wait for the flood, and on a busy machine some do anyway.
    return times.sort((a, b) => a - b)[4]!;
  }
  await whileFlooded(other.receiverPort);
  const elsewhere = await whileFlooded(other.receiverPort);
  const here = await whileFlooded(program.receiverPort);
  keptAlive.destroy();
  expect(here / elsewhere).toBeLessThan(20);
});
