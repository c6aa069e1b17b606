/**
 * Every endpoint answers JSON of the wrong shape with 400 and a sentence; it neither applies it nor crashes.
 * Bodies that are no JSON, or too large: http/app.test.ts, http/body.test.ts.
 */
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import type { HookCall, WebhookCall } from '../../api/ports.ts';
import { hookRoutes } from '../../hooks/index.ts';
import { createApp } from '../../server/http/app.ts';
import { createLog } from '../../server/log.ts';
import { createMetrics } from '../../server/servedMetrics.ts';
import { webhookRoutes } from '../../webhooks/index.ts';

/** No request gets far enough to use a port other than the clock. */
const nothing = (): never => {
  throw new Error('a bad request must not reach the cluster');
};
const clockOnly = () => ({ now: 0 }) as HookCall;
const routes = [...hookRoutes(clockOnly), ...webhookRoutes(nothing as () => WebhookCall)];
const app = createApp({ routes, log: createLog('silent'), metrics: createMetrics(), notReady: () => undefined });
const paths = routes.map(({ path }) => path);

const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'n', uid: 'u' } };

const post = (path: string, body: string) => request(app).post(path).set('Content-Type', 'application/json').send(body);

describe.each(paths)('%s', (path) => {
  it.each([
    ['an empty object', '{}'],
    ['a list', '[]'],
    ['an object of the wrong kind', JSON.stringify({ parent: pod, object: pod, kind: 'Pod' })],
  ])('refuses %s', async (_, body) => {
    const answer = await post(path, body);
    expect(answer.status).toBe(400);
    expect(answer.text).toMatch(/\w+ \w+/);
    expect(answer.text.length).toBeLessThan(500);
  });
});

it('the hook that suspends answers a request of any size', async () => {
  const answer = await post('/hooks/hold/sync', JSON.stringify({ filler: 'x'.repeat(20_000_000) }));
  expect(answer.status).toBe(200);
});
