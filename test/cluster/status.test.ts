/** Who may write a Rollout's status, and how: docs/reference/writes.md, W42 to W45. */
import { beforeAll, describe, expect, it } from 'vitest';
import { type AnyObject, ref, rollout, sharedCluster, waitFor } from './support/cluster.ts';
import { history } from './support/versions.ts';

const { admin, developer, metacontroller, newNamespace, publish } = sharedCluster();
let ns: string;
const app = () => ref('rollout', ns, 'app');

beforeAll(async () => {
  ns = await newNamespace();
  await developer.create(rollout(ns, 'app'));
  await publish(ns, 'app', '1.0.0');
  await waitFor(async () => (await history(admin, ns, 'app')).length === 1, 'the first deployment');
});

/** A PUT as Metacontroller makes it: the live object with another status. */
async function putAsMetacontroller(change: (status: AnyObject) => void) {
  const object = await metacontroller.get(app());
  change(object.status);
  return metacontroller.replace(object, { subresource: 'status' });
}

describe("a hook's status", () => {
  it.each<[string, (status: AnyObject) => void, string]>([
    ['computed from an older one', (s) => Object.assign(s, { title: 'stale' }), 'revision'],
    ['that skips a revision', (s) => Object.assign(s, { title: 'far', revision: s.revision + 2 }), 'revision'],
    [
      'that rewrites the deployed version',
      (s) => {
        s.revision += 1;
        s.history[0].version.tag = '6.6.6';
      },
      'append-only',
    ],
    [
      'that forgets the history',
      (s) => {
        s.revision += 1;
        s.history = [];
      },
      'append-only',
    ],
    [
      'that appends two deployments at once',
      (s) => {
        s.revision += 1;
        const [head] = s.history;
        s.history = [{ ...head, id: head.id + 2 }, { ...head, id: head.id + 1 }, head];
      },
      'append-only',
    ],
  ])('%s is refused by the API server', async (_, change, words) => {
    await expect(putAsMetacontroller(change)).rejects.toMatchObject({
      code: 422,
      message: expect.stringContaining(words),
    });
    expect(await history(admin, ns, 'app')).toEqual([[1, '1.0.0']]);
  });

  it("that adds a deployment decided from an older generation is refused, by the API server's own policy", async () => {
    await developer.mergePatch(app(), { spec: { wantedVersion: '1.0.0' } });
    await waitFor(async () => {
      const { metadata, status } = await admin.get(app());
      return status.observedGeneration === metadata.generation;
    }, 'the hook has seen the pin');
    const deployNext = (status: AnyObject, observedGeneration: number) => {
      const [head] = status.history;
      const next = { ...head, id: head.id + 1, version: { tag: '1.1.0' }, timestamp: '2031-01-01T00:00:00Z' };
      Object.assign(status, { revision: status.revision + 1, observedGeneration, history: [next, ...status.history] });
    };
    const { generation = 0 } = (await admin.get(app())).metadata;
    await expect(putAsMetacontroller((s) => deployNext(s, generation - 1))).rejects.toMatchObject({
      code: 422,
      message: expect.stringContaining(`generation ${generation}, status.observedGeneration is ${generation - 1}`),
    });
    expect(await history(admin, ns, 'app')).toEqual([[1, '1.0.0']]);
  });

  it('that is wiped is refused', async () => {
    const object = await metacontroller.get(app());
    delete object.status;
    await expect(metacontroller.replace(object, { subresource: 'status' })).rejects.toMatchObject({ code: 422 });
  });
});

describe('a status that a user writes', () => {
  it('is accepted without a revision, as kubectl edit --subresource=status sends it', async () => {
    const before = (await admin.get(app())).status;
    await admin.mergePatch(
      app(),
      { status: { history: [{ ...before.history[0], bakeStatusMessage: 'by hand' }] } },
      { subresource: 'status' },
    );
    const after = (await admin.get(app())).status;
    expect(after.history[0].bakeStatusMessage).toBe('by hand');
    expect(after.revision).toBeGreaterThan(before.revision);
  });

  it('can’t rewrite the history', async () => {
    const { history: entries } = (await admin.get(app())).status;
    const forged = [{ ...entries[0], version: { tag: '6.6.6' } }];
    await expect(admin.patchStatus(app(), { history: forged })).rejects.toMatchObject({ code: 422 });
  });

  it('is not for developers at all', async () => {
    await expect(developer.patchStatus(app(), { title: 'x' })).rejects.toMatchObject({ code: 403 });
  });
});

describe('the history', () => {
  let past: string;
  const scenario = () => ref('rollout', past, 'scenario');
  const patch = (op: string, path: string, value?: unknown) =>
    admin.jsonPatch(scenario(), [{ op, path: `/status/history/${path}`, ...(value !== undefined && { value }) }], {
      subresource: 'status',
    });

  beforeAll(async () => {
    past = await newNamespace();
    await developer.create(rollout(past, 'scenario', { spec: { versionHistoryLimit: 3 } }));
    for (const [index, version] of ['1.0.0', '1.1.0', '1.2.0', '1.3.0'].entries()) {
      await publish(past, 'scenario', version);
      await waitFor(
        async () => (await history(admin, past, 'scenario'))[0]?.[0] === index + 1,
        `deployment ${index + 1}`,
      );
    }
    await developer.mergePatch(scenario(), { spec: { wantedVersion: '1.0.0' } });
    await waitFor(async () => (await history(admin, past, 'scenario'))[0]?.[0] === 5, 'the deployment by hand');
  });

  it.each<[string, string, string, unknown?]>([
    ['a version that was deployed', 'replace', '1/version/tag', '9.9.9'],
    ['the time of an older deployment', 'replace', '2/timestamp', '2020-01-01T00:00:00Z'],
    ['the outcome of an older deployment', 'replace', '1/bakeStatus', 'Failed'],
    ['a field of an older deployment that was empty', 'add', '2/failedHealthChecks', [{ name: 'a', namespace: 'b' }]],
    ['an older deployment, taken out', 'remove', '1'],
    ['the oldest deployment, taken out', 'remove', '4'],
    ['an older deployment, put in', 'add', '1', { id: 4, version: { tag: '9' }, timestamp: '2020-01-01T00:00:00Z' }],
    [
      'an older deployment without an id, put in',
      'add',
      '-',
      { version: { tag: '9' }, timestamp: '2020-01-01T00:00:00Z' },
    ],
    ['who asked for the newest', 'replace', '0/requestedBy', 'mallory'],
    ['who asked for the newest, taken out', 'remove', '0/requestedBy'],
    ['who deployed the newest', 'replace', '0/triggeredBy/name', 'mallory'],
    ['the digest of the newest', 'add', '0/version/digest', 'sha256:1'],
    ['the image of the newest', 'add', '0/image', 'registry.example/other'],
    ['the message of the newest', 'replace', '0/message', 'nothing happened'],
    ['the outcome of the newest, from good to bad', 'replace', '0/bakeStatus', 'Failed'],
    ['the newest, called off', 'replace', '0/bakeStatus', 'Cancelled'],
  ])('cannot be rewritten: %s', async (_, op, path, value) => {
    const before = (await admin.get(scenario())).status.history;
    await expect(patch(op, path, value)).rejects.toMatchObject({
      code: 422,
      message: expect.stringMatching(/append-only|a finished bake stays finished/),
    });
    expect((await admin.get(scenario())).status.history).toEqual(before);
  });
});
