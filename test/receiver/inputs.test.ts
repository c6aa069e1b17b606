import request from 'supertest';
import { describe, expect, it } from 'vitest';
import type { UserInfo } from '../../api/admission.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { HistoryEntry } from '../../api/types.ts';
import { fakeCluster, fakeMetrics } from '../../dev/fakes/ports.ts';
import { RECEIVER_LIMITS } from '../../receiver/index.ts';
import { createInputs } from '../../receiver/inputs.ts';
import { codeIn, table } from '../docs/tables.ts';
import { objectOf } from '../support/objects.ts';

const TOKEN = 'flux.inputs.s3cret';
const DIGEST = `sha256:${'a'.repeat(64)}`;
const FLUX: UserInfo = { username: 'system:serviceaccount:apps:my-app-inputs', groups: ['system:serviceaccounts'] };

interface Options {
  history?: HistoryEntry[];
  /** Requests that the API server refuses. */
  broken?: 'tokenreviews' | 'subjectaccessreviews' | 'rollouts';
}

/** An API server with Rollout apps/my-app. Readers may get every Rollout of namespace apps. */
function receiver({ history = [entry('1.1.0', 2), entry('1.0.0', 1)], broken }: Options = {}) {
  const clock = { now: Date.parse('2026-01-05T10:00:00Z') };
  const state = { history, reviews: 0, reads: 0, log: [] as object[] };
  const { counts, metrics } = fakeMetrics();
  const failIf = (what: Options['broken']) => {
    if (broken !== what) return;
    throw Object.assign(new Error(`cannot create ${TOKEN}`), { code: 403, reason: 'Forbidden' });
  };
  const rollouts = () => [
    objectOf('Rollout', 'apps/my-app', {
      spec: { releasesImagePolicy: { name: 'my-app' } },
      status: { history: state.history },
    }) as KubeObject<any, any>,
  ];
  const app = createInputs({
    now: () => clock.now,
    metrics,
    log: { warn: (fields) => void state.log.push(fields), error: (...line) => void state.log.push(line) },
    cluster: fakeCluster(rollouts, {
      onRequest: () => {
        failIf('rollouts');
        state.reads++;
      },
    }),
    tokens: {
      async userOf(token, audience) {
        failIf('tokenreviews');
        state.reviews++;
        return token === TOKEN && audience === 'rollout-hooks' ? FLUX : undefined;
      },
    },
    access: {
      async may(user, { verb, group, resource, namespace }) {
        failIf('subjectaccessreviews');
        const isRight = verb === 'get' && group === 'kuberik.com' && resource === 'rollouts' && namespace === 'apps';
        return user === FLUX && isRight;
      },
    },
  });
  const ask = (path = '/inputs/apps/my-app', authorization: string | undefined = `Bearer ${TOKEN}`) => {
    const call = request(app).get(path);
    return authorization ? call.set('Authorization', authorization) : call;
  };
  return { app, ask, clock, counts, state };
}

function entry(tag: string, id: number, more: Partial<HistoryEntry> = {}): HistoryEntry {
  return { id, version: { tag, digest: DIGEST }, timestamp: '2026-01-05T09:00:00Z', ...more };
}

const inputOf = (answer: request.Response) => answer.body.inputs?.[0];

describe('GET /inputs/<namespace>/<rollout>', () => {
  it('answers the version that is deployed, in the form that Flux Operator reads', async () => {
    const answer = await receiver().ask();
    expect([answer.status, answer.type]).toEqual([200, 'application/json']);
    expect(answer.body).toEqual({
      inputs: [
        {
          id: expect.stringMatching(/^[0-9a-f]{16}$/),
          namespace: 'apps',
          rollout: 'my-app',
          tag: '1.1.0',
          digest: DIGEST,
          deployment: '2',
        },
      ],
    });
  });

  it('answers with the fields in docs/resource-set-inputs.md', async () => {
    const documented = table('inputs').map(({ input }) => codeIn(input));
    expect(Object.keys(inputOf(await receiver().ask()))).toEqual(documented);
  });

  it.each<[string, Partial<HistoryEntry>]>([
    ['bakes', { bakeStatus: 'InProgress' }],
    ['has failed', { bakeStatus: 'Failed' }],
    ['is a rollback', { origin: ['Rollback'] }],
  ])('a deployment that %s is the one that is deployed', async (_what, more) => {
    const { ask } = receiver({ history: [entry('1.0.0', 3, more), entry('1.1.0', 2)] });
    expect(inputOf(await ask())).toMatchObject({ tag: '1.0.0', deployment: '3' });
  });

  it('keeps the id from version to version: ResourceSets name objects after it', async () => {
    const { ask, state } = receiver();
    const { id } = inputOf(await ask());
    state.history = [entry('1.2.0', 3)];
    expect(inputOf(await ask())).toMatchObject({ id, tag: '1.2.0' });
  });

  it.each<[string, HistoryEntry[]]>([
    ['nothing is deployed', []],
    ['what is deployed is no tag', [entry('1.0.0"\nkind: ClusterRole', 1)]],
  ])('409 where %s, and never an empty list, for which Flux Operator deletes everything', async (_what, history) => {
    const answer = await receiver({ history }).ask();
    expect(answer.status).toBe(409);
    expect(answer.body).toEqual({ error: expect.stringContaining("Rollout 'apps/my-app' has deployed nothing yet") });
  });

  it('leaves out a digest that is none', async () => {
    const { ask } = receiver({ history: [entry('1.0.0', 1, { version: { tag: '1.0.0', digest: 'sha256:x\n- y' } })] });
    expect(inputOf(await ask())).toMatchObject({ tag: '1.0.0', digest: '' });
  });

  it.each([
    ['no token', ''],
    ['another scheme', `Basic ${TOKEN}`],
    ['an empty token', 'Bearer '],
    ['a token that the API server refuses', 'Bearer guess'],
  ])('401 with %s, before anything is read', async (_what, authorization) => {
    const { ask, state } = receiver();
    const answer = await ask(undefined, authorization);
    expect([answer.status, state.reads]).toEqual([401, 0]);
    expect(answer.body).toEqual({ error: expect.stringContaining('for the audience rollout-hooks') });
    expect(answer.text).not.toContain('guess');
  });

  it('403 without the right to get that Rollout, whether it exists or not', async () => {
    const { ask, state } = receiver();
    const answers = [await ask('/inputs/other/my-app'), await ask('/inputs/other/nothing')];
    expect(answers.map(({ status }) => status)).toEqual([403, 403]);
    expect(answers[0]!.text.replace('other/my-app', 'other/nothing')).toBe(answers[1]!.text);
    expect(state.reads).toBe(0);
  });

  it('404 for a missing Rollout, to those who may get it', async () => {
    const answer = await receiver().ask('/inputs/apps/nothing');
    expect([answer.status, answer.body]).toEqual([404, { error: "Rollout 'apps/nothing' doesn't exist" }]);
  });

  it.each(['tokenreviews', 'subjectaccessreviews', 'rollouts'] as const)(
    '503 while the API server refuses %s; neither answer nor log has the token',
    async (broken) => {
      const { ask, state } = receiver({ broken });
      for (let i = 0; i < 20; i++) expect((await ask()).status).toBe(503);
      const answer = await ask();
      expect(answer.get('Retry-After')).toBe('5');
      expect(answer.text + JSON.stringify(state.log)).not.toContain(TOKEN);
      expect(state.log).toHaveLength(10);
      expect(state.log[0]).toEqual([{ code: 403, reason: 'Forbidden' }, 'inputs: the API server failed']);
    },
  );

  it('reviews the token in every request: a withdrawn one is refused at once', async () => {
    const { ask, state } = receiver();
    await ask();
    await ask();
    expect(state.reviews).toBe(2);
  });

  it('429 beyond the limit of unknown tokens together: guesses lock out no accepted client', async () => {
    const { ask, clock, state } = receiver();
    expect((await ask()).status).toBe(200);
    // The first request with a valid token counts as an attempt to guess one.
    for (let i = 1; i < RECEIVER_LIMITS.inputsPerMinute; i++) await ask(undefined, `Bearer guess-${i}`);
    const { reviews } = state;
    const refused = await ask(undefined, 'Bearer another');
    expect([refused.status, refused.get('Retry-After'), state.reviews]).toEqual([429, '60', reviews]);
    expect((await ask()).status).toBe(200);
    clock.now += 60_000;
    expect((await ask(undefined, 'Bearer another')).status).toBe(401);
  });

  it('429 beyond the limit of one user too', async () => {
    const { ask } = receiver();
    for (let i = 0; i <= RECEIVER_LIMITS.inputsPerMinute; i++) expect((await ask()).status).toBe(200);
    expect((await ask()).status).toBe(429);
  });

  it('405 for other methods, 404 for other paths, 400 for a path that can’t be decoded, each with an empty body', async () => {
    const { app, ask } = receiver();
    const answers = [
      await request(app).post('/inputs/apps/my-app'),
      await ask('/inputs/apps'),
      await ask('/inputs/a/%'),
    ];
    expect(answers.map(({ status, text }) => [status, text])).toEqual([
      [405, ''],
      [404, ''],
      [400, ''],
    ]);
  });

  it('is counted by its answer', async () => {
    const { ask, counts } = receiver();
    await ask();
    await ask(undefined, 'Bearer guess');
    expect(counts.map(({ labels }) => Object.values(labels).join(' '))).toEqual(['inputs 200', 'inputs 401']);
  });
});
