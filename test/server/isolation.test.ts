/** No client can use up admission's connections to the API server. */
import { request as plainRequest } from 'node:http';
import { expect, it } from 'vitest';
import { waitFor } from '../../dev/local/process/waitFor.ts';
import { objectOf } from '../support/objects.ts';
import { answersNothing, ask, createServerSetup, fluxReview, reviewOf } from './program.ts';

let apiServer = answersNothing;
const setup = await createServerSetup((request, response) => apiServer(request, response));
const program = await setup.start();

/** The API server leaves reads of paths with `part` unanswered. Returns the most that it had at once. */
function hangAt(part: string): () => number {
  let held = 0;
  let most = 0;
  apiServer = (request, response) => {
    if (!request.url?.includes(part)) {
      return void response.writeHead(request.url?.includes('labelSelector=') ? 200 : 404).end('{"items":[]}');
    }
    most = Math.max(most, ++held);
    response.once('close', () => held--);
  };
  return () => most;
}

it('HealthChecks whose reads hang do not use up the connections of admission', async () => {
  const held = hangAt('/kustomizations/slow-');
  const calls = Array.from({ length: 100 }, (_, i) => {
    const annotations = { 'healthcheck.kuberik.com/kustomization': `slow-${i}` };
    const metadata = { name: `hc-${i}`, namespace: 'demo', uid: `u${i}`, annotations };
    const object = objectOf('HealthCheck', { metadata, spec: { class: 'kustomization' } });
    const body = JSON.stringify({ object, attachments: {}, related: {}, finalizing: false });
    const headers = { 'content-type': 'application/json' };
    const call = plainRequest({
      host: '127.0.0.1',
      port: program.hooksPort,
      path: '/hooks/healthcheck/sync',
      method: 'POST',
      headers,
    });
    call.on('error', () => {});
    call.end(body);
    return call;
  });
  // As many as the connection pool of HealthChecks.
  await waitFor(() => held() >= 16, '16 reads');
  const review = JSON.stringify(fluxReview());
  const answers = Array.from({ length: 20 }, () =>
    ask({ port: program.webhookPort, path: '/admission/mutate/flux', ca: program.ca, agent: false }, review),
  );
  for (const { status, text } of await Promise.all(answers)) {
    expect([status, JSON.parse(text).response.allowed]).toEqual([200, true]);
  }
  expect(held()).toBe(16);
  for (const call of calls) call.destroy();
});

it('reviews whose reads hang do not use up the connections of those that fail open, and of Metacontroller’s', async () => {
  const held = hangAt('/gates/slow-');
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
  await waitFor(() => held() >= 64, '64 reads');
  const apart = ['flux-fails-open', 'flux-metacontroller'];
  const answers = apart.map((name) => ask(to(`/admission/mutate/${name}`), review({})));
  for (const { status, text } of await Promise.all(answers)) {
    expect([status, JSON.parse(text).response.allowed, held()]).toEqual([200, true, 64]);
  }
  program.process.kill('SIGKILL');
  await Promise.all(slow);
});
