/** DESIGN section 5: who may write a Rollout's status, and how. */
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

  it('that is wiped is refused', async () => {
    const object = await metacontroller.get(app());
    delete object.status;
    await expect(metacontroller.replace(object, { subresource: 'status' })).rejects.toMatchObject({ code: 422 });
  });
});

describe("a person's status", () => {
  it('is taken without a thought for revision, as kubectl edit --subresource=status sends it', async () => {
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

  it('from a typed client that drops the fields it does not know keeps them', async () => {
    const object = await admin.get(app());
    const { revision, handledRequest, observedGeneration, currentVersion, ...known } = object.status;
    known.history[0].bakeStatus = 'Succeeded';
    known.history[0].bakeStatusMessage = 'Deployment manually marked as successful by user';
    await admin.replace({ ...object, status: known }, { subresource: 'status' });
    const after = (await admin.get(app())).status;
    expect(after.revision).toBeGreaterThan(revision);
    expect(after.currentVersion).toBe(currentVersion);
    expect(after.history[0].bakeStatusMessage).toBe('Deployment manually marked as successful by user');
    expect([observedGeneration, handledRequest]).toEqual([after.observedGeneration, after.handledRequest]);
  });

  it('cannot rewrite the past either', async () => {
    const { history: entries } = (await admin.get(app())).status;
    const forged = [{ ...entries[0], version: { tag: '6.6.6' } }];
    await expect(admin.patchStatus(app(), { history: forged })).rejects.toMatchObject({ code: 422 });
  });

  it('is not for developers at all', async () => {
    await expect(developer.patchStatus(app(), { title: 'x' })).rejects.toMatchObject({ code: 403 });
  });
});
