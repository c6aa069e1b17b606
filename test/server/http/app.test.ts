import request from 'supertest';
import { describe, expect, it } from 'vitest';
import type { Route } from '../../../api/ports.ts';
import { createApp } from '../../../server/http/app.ts';
import { SERVER_LIMITS } from '../../../server/http/serverLimits.ts';
import { createLog } from '../../../server/log.ts';
import { createMetrics } from '../../../server/servedMetrics.ts';

class Refusal extends Error {
  readonly status = 422;
  readonly retryAfterSeconds = 1.2;
}

const routes: Route[] = [
  { path: '/echo', answer: async (body) => body },
  { path: '/refuses', answer: () => Promise.reject(new Refusal('spec.x is wrong')) },
  { path: '/breaks', answer: () => Promise.reject(new TypeError('undefined is not a function')) },
];

function app(notReady?: string) {
  return createApp({
    routes,
    log: createLog('silent'),
    metrics: createMetrics(),
    notReady: () => notReady,
    showsMetrics: true,
  });
}

describe('HTTP endpoints', () => {
  it('answer JSON with JSON, also without a content type', async () => {
    const answer = await request(app()).post('/echo').set('Content-Type', 'text/plain').send('{"a":1}');
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ a: 1 });
  });

  it.each([
    { what: 'a body that is not JSON', body: '{"a":', status: 400, error: 'the body is not JSON' },
    { what: 'a JSON value that is no object', body: '7', status: 400, error: 'the body is not JSON' },
    {
      what: 'a body of 20 MB',
      body: JSON.stringify({ a: 'x'.repeat(20_000_000) }),
      status: 413,
      error: `the body is larger than ${SERVER_LIMITS.bodyBytes} bytes`,
    },
  ])('refuse $what with $status and a sentence', async ({ body, status, error }) => {
    const answer = await request(app()).post('/echo').set('Content-Type', 'application/json').send(body);
    expect(answer.status).toBe(status);
    expect(answer.text).toBe(error);
    // The API server quotes a text in the error of the write; of JSON it says 'unknown'.
    expect(answer.headers['content-type']).toContain('text/plain');
  });

  it.each([
    { what: 'a body that is not JSON', path: '/echo', lines: { warn: 61, error: 0 } },
    { what: 'a request that breaks the hook', path: '/breaks', body: '{}', lines: { warn: 1, error: 60 } },
  ])('log sixty lines a minute of $what, and one that says so', async ({ path, body = '{', lines }) => {
    const clock = { now: 0 };
    const written = { warn: 0, error: 0 };
    const log = createLog('silent');
    for (const level of ['warn', 'error'] as const) log[level] = () => void written[level]++;
    const options = { routes, log, metrics: createMetrics(), notReady: () => undefined, clock: () => clock.now };
    const limited = createApp(options);
    for (let i = 0; i < 100; i++) await request(limited).post(path).send(body);
    expect(written).toEqual(lines);
    clock.now += 60_000;
    await request(limited).post(path).send(body);
    expect(written.warn + written.error).toBe(62);
  });

  it('return a hook’s refusal, with Retry-After in whole seconds', async () => {
    const answer = await request(app()).post('/refuses').send({});
    expect(answer.status).toBe(422);
    expect(answer.text).toBe('spec.x is wrong');
    expect(answer.headers['retry-after']).toBe('2');
  });

  it('show no stack when something breaks', async () => {
    const answer = await request(app()).post('/breaks').send({});
    expect(answer.status).toBe(500);
    expect(answer.text).not.toContain('at ');
  });

  it.each([
    { method: 'get' as const, path: '/echo', status: 405 },
    { method: 'post' as const, path: '/nothing', status: 404 },
  ])('answer $status to $method $path', async ({ method, path, status }) => {
    const answer = await request(app())[method](path);
    expect(answer.status).toBe(status);
    expect(answer.text).toContain(path);
  });

  it('distinguish readiness from liveness', async () => {
    expect((await request(app('shutting down')).get('/readyz')).status).toBe(503);
    expect((await request(app('shutting down')).get('/healthz')).status).toBe(200);
    expect((await request(app()).get('/readyz')).status).toBe(200);
  });

  it('end each connection while the replica is not ready, so that its client moves on', async () => {
    const connectionOf = async (reason?: string) => {
      const answer = await request(app(reason)).post('/echo').set('Connection', 'keep-alive').send({});
      return [answer.status, answer.headers.connection];
    };
    expect(await connectionOf()).toEqual([200, 'keep-alive']);
    expect(await connectionOf('the clock is wrong')).toEqual([200, 'close']);
  });

  it('count requests by route and outcome', async () => {
    const metered = app();
    await request(metered).post('/echo').send({});
    const { text } = await request(metered).get('/metrics');
    expect(text).toContain('rollout_hooks_request_duration_seconds_count{route="/echo",outcome="answered"} 1');
  });
});
