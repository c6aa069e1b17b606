/** Who may write a Rollout's status; test/manifests/history.test.ts has what any write may change. */
import { beforeAll, describe, expect, it } from 'vitest';
import { ref, rollout, sharedCluster, waitFor } from './support/cluster.ts';
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

describe("a hook's status", () => {
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
