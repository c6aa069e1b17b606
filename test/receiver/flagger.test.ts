import express, { type Request } from 'express';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import type { Gate } from '../../api/types.ts';
import { fakeCluster } from '../../dev/fakes/ports.ts';
import { createReceiver } from '../../receiver/index.ts';
import { gate } from '../core/gate/gate.ts';
import { OPEN, receiver } from './receiverSetup.ts';

describe('Flagger', () => {
  const ask = (spec: Gate['spec'], body: unknown, path = '/flagger/confirm') =>
    request(receiver({ ...gate(spec) }).app)
      .post(path)
      .send(body as object);

  it.each([
    ['the Gate with the canary’s name', 'opened', { name: 'freeze', namespace: 'platform', phase: 'Progressing' }, 200],
    ['while it is closed', 'closed', { name: 'freeze', namespace: 'platform' }, 403],
    [
      'the Gate that is named',
      'opened',
      { name: 'web', namespace: 'apps', metadata: { gate: 'platform/freeze' } },
      200,
    ],
    [
      'a name in its own namespace',
      'opened',
      { name: 'web', namespace: 'platform', metadata: { gate: 'freeze' } },
      200,
    ],
    ['no such Gate', 'opened', { name: 'web', namespace: 'apps' }, 403],
    ['no canary', 'opened', { namespace: 'apps' }, 400],
    ['two Gates', 'opened', { name: 'web', namespace: 'apps', metadata: { gate: 'a,b' } }, 400],
  ] as const)('confirm: %s', async (_name, state, body, status) => {
    expect((await ask({ default: state }, body)).status).toBe(status);
  });

  it('is explained', async () => {
    expect((await ask({ default: 'closed' }, { name: 'freeze', namespace: 'platform' })).text).toBe(
      "Gate 'platform/freeze': Gate closed by default.\n",
    );
  });

  it('rolls back while the Gate is open, as with the load tester', async () => {
    const canary = { name: 'web', namespace: 'apps', metadata: { gate: 'platform/freeze' } };
    expect((await ask({ default: 'opened' }, canary, '/flagger/rollback')).status).toBe(200);
    expect((await ask({ default: 'closed' }, canary, '/flagger/rollback')).status).toBe(403);
  });

  it('a body takes no memory while its Gate is read', async () => {
    const kept: unknown[] = [];
    let seen: Request | undefined;
    const get = async () => void kept.push(seen?.body);
    const app = createReceiver({ ...receiver().ports, cluster: { ...fakeCluster([]), get } });
    const watched = express().use((incoming, _response, next) => {
      seen = incoming;
      next();
    }, app);
    await request(watched).post('/flagger/confirm').send({ name: 'freeze', namespace: 'platform' });
    expect(kept).toEqual([undefined]);
  });

  it('callers can’t fill the log while the API server fails', async () => {
    const { app, ports, state } = receiver();
    ports.cluster.get = () => Promise.reject(new Error('no answer'));
    for (let i = 0; i < 20; i++) {
      const path = i % 2 === 0 ? '/flagger/confirm' : '/FLAGGER/confirm';
      expect((await request(app).post(path).send({ name: 'a', namespace: 'b' })).status).toBe(500);
    }
    expect(state.refusals).toHaveLength(10);
  });

  it('a body that is not JSON is a bad request', async () => {
    const answer = await request(receiver().app)
      .post('/flagger/confirm')
      .set('Content-Type', 'application/json')
      .send('{');
    expect(answer.status).toBe(400);
  });

  it(`${OPEN} opens it for Flagger too, and its window closes it`, async () => {
    const { app, clock, state } = receiver();
    state.gate = gate({ default: 'closed', window: '1h' }, { [OPEN]: '2026-01-05T10:00:00Z' });
    const canary = { name: 'freeze', namespace: 'platform' };
    expect((await request(app).post('/flagger/confirm').send(canary)).status).toBe(200);
    clock.now += 3_600_000;
    expect((await request(app).post('/flagger/confirm').send(canary)).status).toBe(403);
  });
});
