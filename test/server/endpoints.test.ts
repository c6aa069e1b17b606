/** Every endpoint answers bad input with an HTTP error and a sentence; it neither applies it nor crashes. */
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import type { HookCall, WebhookCall } from '../../api/ports.ts';
import { hookRoutes } from '../../hooks/index.ts';
import { createApp } from '../../server/http/app.ts';
import { createLog } from '../../server/log.ts';
import { createMetrics } from '../../server/servedMetrics.ts';
import { webhookRoutes } from '../../webhooks/index.ts';

/** No request gets far enough to use a port. */
const nothing = (): never => {
  throw new Error('a bad request must not reach the cluster');
};
const routes = [...hookRoutes(nothing as () => HookCall), ...webhookRoutes(nothing as () => WebhookCall)];
const app = createApp({ routes, log: createLog('silent'), metrics: createMetrics(), notReady: () => undefined });
const paths = routes.map(({ path }) => path);
const tooLarge = JSON.stringify({ filler: 'x'.repeat(20_000_000) });

const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'n', uid: 'u' } };

describe.each(paths)('%s', (path) => {
  const post = (body: string) => request(app).post(path).set('Content-Type', 'application/json').send(body);

  it.each([
    { what: 'what is not JSON', body: '{"parent":', status: 400 },
    { what: 'nothing', body: '', status: 400 },
    { what: 'an empty object', body: '{}', status: 400 },
    { what: 'a list', body: '[]', status: 400 },
    {
      what: 'an object of the wrong kind',
      body: JSON.stringify({ parent: pod, object: pod, kind: 'Pod' }),
      status: 400,
    },
    { what: '20 MB', body: tooLarge, status: 413 },
  ])('refuses $what with $status', async ({ body, status }) => {
    const answer = await post(body);
    // A write that suspends is allowed at any size.
    if (path === '/hooks/hold/sync' && status === 413) return expect(answer.status).toBe(200);
    expect(answer.status).toBe(status);
    expect(answer.body.error).toMatch(/\w+ \w+/);
    expect(answer.text.length).toBeLessThan(500);
  });
});
