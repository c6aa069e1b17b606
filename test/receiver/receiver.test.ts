import { createHash } from 'node:crypto';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import type { Gate } from '../../api/types.ts';
import { webhookPath } from '../../core/receiver/signedCall.ts';
import { createReceiver } from '../../receiver/index.ts';
import { mutateGate } from '../../webhooks/gate/gateAdmission.ts';
import { gate } from '../core/gate/gate.ts';
import { write } from '../webhooks/gate/call.ts';
import { type Call, headers, PATH, receiver, send, T0, TOKEN } from './receiverSetup.ts';

describe('POST /hook/<digest>', () => {
  it('opens and closes the Gate, with reason and version, and answers nothing', async () => {
    const { app, clock, opened } = receiver();
    const first = await send(app, { body: { action: 'open', reason: 'CHG-1', for: '1.2.0' } });
    expect([first.status, first.text]).toEqual([200, '']);
    expect(opened()).toMatchObject({ openFor: '1.2.0', exception: { by: 'hooks', reason: 'CHG-1' } });
    clock.now += 1000;
    expect((await send(app, { body: { action: 'close' }, nonce: 'n-2' })).status).toBe(200);
    expect(opened()).toMatchObject({ opened: false, message: 'Gate close requested' });
    clock.now += 1000;
    expect((await send(app, { body: { action: 'open' }, nonce: 'n-3' })).status).toBe(200);
    expect(opened()).toMatchObject({ opened: true });
    expect(opened().openFor).toBeUndefined();
  });

  it('opens no Gate with approvals, except to end a closure, and closes it', async () => {
    const { app, state, clock, opened } = receiver();
    state.gate!.spec = { ...state.gate!.spec, default: 'opened', approvals: { required: 2 } };
    expect((await send(app)).status).toBe(400);
    expect(state.refusals).toHaveLength(1);
    clock.now += 1000;
    expect((await send(app, { body: { action: 'close' }, nonce: 'n-2' })).status).toBe(200);
    expect(opened().opened).toBe(false);
    clock.now += 1000;
    expect((await send(app, { nonce: 'n-3' })).status).toBe(200);
    expect(opened().opened).toBe(true);
  });

  it('is counted by its answer, as are calls without effect', async () => {
    const { app, counts } = receiver();
    await send(app);
    await send(app, { signature: 'none', nonce: 'n-2' });
    await request(app).post('/flagger/confirm').send({ name: 'freeze', namespace: 'platform' });
    await request(app).post('/elsewhere');
    const codes = ['hook 200', 'hook 400', 'flagger 200'];
    expect(counts.map(({ labels }) => Object.values(labels).join(' '))).toEqual(codes);
  });

  it('counts each of several calls in one second', async () => {
    const { app, opened } = receiver();
    for (const [i, [action, reason]] of [
      ['open', 'a'],
      ['close', 'b'],
      ['open', 'c'],
      ['close', 'd'],
    ].entries()) {
      expect((await send(app, { body: { action, reason }, nonce: `n-${i}` })).status).toBe(200);
      expect(opened().opened).toBe(action === 'open');
    }
  });

  it('takes a timestamp in RFC 3339 too', async () => {
    expect((await send(receiver().app, { timestamp: '2026-01-05T10:00:00Z' })).status).toBe(200);
  });

  it.each([-300, 300])('takes a timestamp that is %i s off', async (off) => {
    expect((await send(receiver().app, { timestamp: `${T0 / 1000 + off}` })).status).toBe(200);
  });

  it.each<[string, Call]>([
    ['no signature', { signature: '' }],
    ['a signature of another kind', { signature: `sha1=${'0'.repeat(40)}` }],
    ['a wrong signature', { signature: `sha256=${'0'.repeat(64)}` }],
    ['another token', { token: 'guess' }],
    ['no nonce', { nonce: '' }],
    ['a nonce of 1 kB', { nonce: 'x'.repeat(1024) }],
    ['no timestamp', { timestamp: '' }],
    ['a timestamp that is none', { timestamp: 'now' }],
    ['a timestamp more than five minutes old', { timestamp: `${T0 / 1000 - 301}` }],
    ['a timestamp more than five minutes ahead', { timestamp: `${T0 / 1000 + 301}` }],
    ['right signature, no JSON', { body: 'open please' }],
    ['right signature, no object', { body: ['open'] }],
    ['right signature, another action', { body: { action: 'explode' } }],
    ['right signature, a misspelt field', { body: { action: 'open', fro: '1.2.0' } }],
    ['right signature, a version with close', { body: { action: 'close', for: '1.2.0' } }],
    ['right signature, a version that is no tag', { body: { action: 'open', for: 'a b' } }],
    ['right signature, a reason that is no text', { body: { action: 'open', reason: 7 } }],
    ['right signature, a reason of 1,025 characters', { body: { action: 'open', reason: 'x'.repeat(1025) } }],
  ])('%s: 400, nothing said, nothing changed', async (_name, call) => {
    const { app, state, opened } = receiver();
    const answer = await send(app, call);
    expect([answer.status, answer.text]).toEqual([400, '']);
    expect(opened().opened).toBe(false);
    expect(state.gate?.metadata).not.toHaveProperty('annotations');
    expect(state.refusals).toHaveLength(1);
  });

  it('the signature covers the timestamp', async () => {
    const { app } = receiver();
    const { text, set } = headers({ timestamp: `${T0 / 1000 - 400}` });
    const answer = await request(app)
      .post(PATH)
      .set({ ...set, 'X-Timestamp': `${T0 / 1000}` })
      .send(text);
    expect(answer.status).toBe(400);
  });

  describe('a captured call', () => {
    it.each([
      ['as it was', 'n-1', 30_000],
      ['under a new nonce', 'n-2', 30_000],
      ['just before its time is over', 'n-1', 299_000],
      ['after its time', 'n-2', 301_000],
    ])('sent again %s is refused, by a replica that was not there', async (_name, nonce, later) => {
      const { app, clock, replica, state } = receiver();
      expect((await send(app)).status).toBe(200);
      const after = structuredClone(state.gate);
      clock.now += later;
      expect((await send(replica(), { nonce })).status).toBe(400);
      expect(state.gate).toEqual(after);
    });

    it('is refused when a Git sync has stripped the record', async () => {
      const { app, replica, state } = receiver();
      await send(app);
      const { annotations: _, ...metadata } = state.gate!.metadata;
      const synced = await write(mutateGate, {
        object: { ...state.gate!, metadata },
        old: state.gate,
        at: '2026-01-05T10:00:05Z',
      });
      state.gate = synced.object as Gate;
      expect((await send(replica())).status).toBe(400);
    });

    it('sent to two replicas at the same time counts once', async () => {
      const { replica } = receiver();
      const answers = await Promise.all([send(replica()), send(replica()), send(replica())]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
    });

    it('and another body under a used nonce is refused', async () => {
      const { app } = receiver();
      await send(app);
      expect((await send(app, { body: { action: 'close' } })).status).toBe(400);
    });
  });

  it('404 for an unknown path, without a list for each', async () => {
    const { app, state } = receiver();
    for (let i = 0; i < 20; i++) {
      const answer = await send(app, {}, `/hook/${String(i).padStart(64, '0')}`);
      expect([answer.status, answer.text]).toEqual([404, '']);
    }
    expect(state.lists).toBe(1);
    expect((await send(app, {}, '/hook/short')).status).toBe(404);
  });

  it('404 for the path of an earlier token, and of a Gate that no longer takes calls', async () => {
    const rotated = receiver();
    rotated.state.token = 'new';
    expect((await send(rotated.app, { token: 'new' })).status).toBe(404);
    expect((await send(receiver({ spec: { default: 'closed' } }).app)).status).toBe(404);
  });

  it('finds a Gate whose path is new', async () => {
    const { app, clock, state } = receiver({ status: {} });
    expect((await send(app)).status).toBe(404);
    state.gate!.status = { webhookPath: PATH };
    clock.now += 2000;
    expect((await send(app)).status).toBe(200);
  });

  it('503 while the Secret is missing, or the Gate is going', async () => {
    const { app, state } = receiver();
    state.token = undefined;
    expect((await send(app)).status).toBe(503);
    const going = receiver();
    going.state.gate!.metadata.deletionTimestamp = '2026-01-05T09:59:59Z';
    expect((await send(going.app)).status).toBe(503);
  });

  it('413 above 8 kB, before anything is read from the cluster', async () => {
    const { app, state } = receiver();
    const answer = await send(app, { body: 'x'.repeat(8 * 1024 + 1) });
    expect([answer.status, answer.text, state.lists]).toEqual([413, '', 0]);
  });

  it('an impossible path is 404 before its body is read', async () => {
    const answer = await send(receiver().app, { body: 'x'.repeat(3 * 1024 * 1024) }, '/hook/short');
    expect([answer.status, answer.text]).toEqual([404, '']);
  });

  it('405 for other methods', async () => {
    expect((await request(receiver().app).get(PATH)).status).toBe(405);
  });

  it('429 after ten calls in a minute, all replicas together', async () => {
    const { replica, clock } = receiver();
    for (let i = 0; i < 10; i++) {
      clock.now += 1000;
      expect((await send(replica(), { nonce: `n-${i}`, body: { action: 'open', reason: `${i}` } })).status).toBe(200);
    }
    const answer = await send(replica(), { nonce: 'n-10', body: { action: 'close' } });
    expect([answer.status, answer.text, answer.get('Retry-After')]).toEqual([429, '', '51']);
    clock.now += 51_000;
    expect((await send(replica(), { nonce: 'n-10', body: { action: 'close' } })).status).toBe(200);
  });

  it('wrong calls, however many, keep no right one out, cost no reads and do not fill the log', async () => {
    const { app, state } = receiver();
    expect((await send(app, { token: 'guess' })).status).toBe(400);
    const { reads } = state;
    for (let i = 0; i < 100; i++) expect((await send(app, { token: 'guess' })).status).toBe(400);
    expect(state.reads).toBe(reads);
    expect(state.refusals.length).toBeLessThanOrEqual(10);
    expect((await send(app)).status).toBe(200);
  });

  it('429 after sixty calls with the token to one process, which lead to nothing', async () => {
    const { app } = receiver();
    for (let i = 0; i < 60; i++) expect((await send(app, { body: { action: 'explode' } })).status).toBe(400);
    expect((await send(app)).status).toBe(429);
  });

  it('the signature covers the path: a call of another Gate with the same Secret is refused', async () => {
    const other = `/hook/${createHash('sha256').update(`${TOKEN}otherplatform`).digest('hex')}`;
    const { app, opened } = receiver();
    expect((await send(app, { path: other })).status).toBe(400);
    expect(opened().opened).toBe(false);
  });

  it('a Gate that was made again takes no call from before', async () => {
    const metadata = { ...gate({ default: 'closed' }).metadata, creationTimestamp: new Date(T0).toISOString() };
    const { app } = receiver({ metadata });
    expect((await send(app, { timestamp: `${T0 / 1000 - 1}` })).status).toBe(400);
    expect((await send(app, { timestamp: `${T0 / 1000}` })).status).toBe(200);
  });

  it('a token is its bytes, also where they are no text', async () => {
    const bytes = Buffer.from([0xe9, 0x00, 0xff, 0xc3, 0xa9]);
    const ref = { namespace: 'platform', name: 'freeze' };
    const path = `/hook/${createHash('sha256').update(bytes).update('freezeplatform').digest('hex')}`;
    expect(webhookPath(bytes, ref)).toBe(path);
    const { app, state } = receiver({ status: { webhookPath: path } });
    state.token = bytes;
    expect((await send(app, { token: bytes }, path)).status).toBe(200);
  });

  it('a token of zero length opens nothing', async () => {
    const path = `/hook/${createHash('sha256').update('freezeplatform').digest('hex')}`;
    const { app, state, opened } = receiver({ status: { webhookPath: path } });
    state.token = '';
    expect((await send(app, { token: '' }, path)).status).toBe(503);
    expect(opened().opened).toBe(false);
  });

  it.each([
    [-301, /X-Timestamp is 301 s behind the server's clock \(at most 300 s\)/],
    [301, /X-Timestamp is 301 s ahead of the server's clock \(at most 300 s\)/],
  ])('a clock that is %i s off is logged', async (off, sentence) => {
    const { app, state } = receiver();
    await send(app, { timestamp: `${T0 / 1000 + off}` });
    expect(state.refusals.join()).toMatch(sentence);
  });

  describe('a list that an unknown path has caused', () => {
    const UNKNOWN = `/hook/${'0'.repeat(64)}`;
    /** A receiver that knows the Gate's path; its next lists do as `lists` says. */
    const knowing = async () => {
      const { ports, clock } = receiver();
      const cluster = { ...ports.cluster };
      const app = createReceiver({ ...ports, cluster });
      expect((await send(app)).status).toBe(200);
      const later = (nonce: string) => {
        clock.now += 10_000;
        return send(app, { nonce, timestamp: `${clock.now / 1000}` });
      };
      clock.now += 10_000;
      const lists = (list: () => Promise<never>) => {
        cluster.pages = async function* () {
          yield await list();
        };
      };
      return { app, lists, later, works: () => Object.assign(cluster, { pages: ports.cluster.pages }) };
    };

    it('and fails refuses no call to a known Gate, and no later call to an unknown one', async () => {
      const { app, lists, later, works } = await knowing();
      lists(() => Promise.reject(new Error('timeout')));
      expect((await request(app).post(UNKNOWN).send('{}')).status).toBe(500);
      expect((await later('n-2')).status).toBe(200);
      works();
      expect((await request(app).post(UNKNOWN).send('{}')).status).toBe(404);
    });

    it('and hangs keeps no call to a known Gate waiting', async () => {
      const { app, lists, later } = await knowing();
      const begun = new Promise<void>((resolve) => {
        lists(() => {
          resolve();
          return new Promise(() => {});
        });
      });
      const hanging = request(app).post(UNKNOWN).send('{}');
      hanging.catch(() => {});
      await begun;
      expect((await later('n-2')).status).toBe(200);
      hanging.abort();
    });
  });

  it('500 with an empty body when the cluster does not answer', async () => {
    const { state, app } = receiver();
    await send(app, { token: 'guess' });
    Object.defineProperty(state, 'gate', {
      get: () => {
        throw new Error('etcd is gone');
      },
    });
    const answer = await send(app);
    expect([answer.status, answer.text]).toEqual([500, '']);
  });
});
