/** Adopting objects on the page: objects without Rollout, the writes, and no change of running workloads. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fakeFlux } from '../../../dev/actors/fakeFlux.ts';
import { complaints, type Visitor, visitorOf } from '../support/browser.ts';
import { kustomization, ociRepository, ref, sharedCluster, waitFor } from '../support/cluster.ts';

describe('adopting', () => {
  const view = sharedCluster();
  let ns: string;
  let sre: Visitor;
  let developer: Visitor;

  const running = (name: string, substitute: Record<string, string>) => {
    const object = kustomization(ns, name, {});
    return { ...object, spec: { ...object.spec, postBuild: { substitute } } };
  };
  const runs = (version: string) =>
    view.admin.mergePatch(ref('kustomization', ns, 'app'), {
      spec: { postBuild: { substitute: { APP_VERSION: version } } },
    });

  beforeAll(async () => {
    ns = await view.newNamespace();
    await view.publish(ns, 'app', '2.0.0');
    await view.developer.create(running('app', { APP_VERSION: '1.0.0' }));
    await view.developer.create(running('cluster', { REGION: 'eu' }));
    const source = ociRepository(ns, 'app');
    await view.developer.create({ ...source, spec: { ...source.spec, ref: { tag: '1.0.0' } } });
    const flux = fakeFlux(view);
    await flux.fetch(ns, 'app');
    await flux.apply(ns, 'app');
    [sre, developer] = await Promise.all([visitorOf(view.dir, 'sre', ns), visitorOf(view.dir, 'developer', ns)]);
  });
  afterAll(() => Promise.all([sre.close(), developer.close()]));

  it('begins on an empty board', async () => {
    const tab = await sre.tab('/');
    await tab.getByRole('link', { name: 'Objects not under a Rollout' }).click();
    await tab.getByRole('button', { name: `Adopt Kustomization ${ns}/app` }).waitFor();
    await tab.getByText('2 of 3 can be adopted now').waitFor();
    await tab.getByText(/Kustomization .*\/cluster sets no variable|No ImagePolicy .*REGION/).waitFor();
  });

  it('names the missing rights, and the command for a user who has them', async () => {
    const tab = await developer.tab(`/adopt?object=Kustomization+${ns}/app`);
    await tab.getByText(`You need create on rolloutgates ${ns}/*.`).waitFor();
    await tab.getByText('+  initialVersion: 1.0.0').waitFor();
    await tab.getByText(`kubectl rollouts -n ${ns} adopt kustomization/app --apply`).waitFor();
    expect(await tab.getByRole('button', { name: 'Put under Rollout app' }).isDisabled()).toBe(true);
  });

  it('writes nothing without confirmation', async () => {
    const tab = await sre.tab(`/adopt?object=Kustomization+${ns}/app`);
    await tab.getByText('+  initialVersion: 1.0.0').waitFor();
    await runs('1.0.1');
    await tab.getByRole('button', { name: 'Put under Rollout app' }).click();
    await tab.getByText('The plan has changed since it was shown. Nothing was written: check it again.').waitFor();
    expect(await view.admin.find(ref('rollout', ns, 'app'))).toBeUndefined();
    await runs('1.0.0');
  });

  it('puts it on the board and changes nothing that runs', async () => {
    const { generation } = (await view.admin.get(ref('kustomization', ns, 'app'))).metadata;
    const board = await developer.tab('/');
    const tab = await sre.tab('/adopt');
    for (const kind of ['Kustomization', 'OCIRepository']) {
      await tab.getByRole('button', { name: `Adopt ${kind} ${ns}/app` }).click();
      await tab.getByRole('button', { name: 'Put under Rollout app' }).click();
      await tab.getByText(`Bound ${kind} ${ns}/app to Rollout ${ns}/app: 1.0.0 stays.`).waitFor();
      await tab.getByRole('button', { name: 'Done' }).click();
      await tab.getByRole('button', { name: `Adopt ${kind} ${ns}/app` }).waitFor({ state: 'hidden' });
    }
    await board.getByRole('link', { name: 'app', exact: true }).waitFor();
    await board.getByText(/2\.0\.0.*held at the gates/).waitFor();
    await waitFor(async () => {
      const found = await view.admin.get(ref('kustomization', ns, 'app'));
      return found.metadata.annotations?.['rollout.kuberik.com/deployed'];
    }, 'the Rollout to be in charge');
    const { metadata, spec } = await view.admin.get(ref('kustomization', ns, 'app'));
    expect([metadata.generation, spec.postBuild.substitute.APP_VERSION]).toEqual([generation, '1.0.0']);
    expect(complaints(tab)).toEqual([]);
  });
});
