/** Several clusters on one page: one cluster as two users, and one that doesn't answer. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/temporaryFolder.ts';
import {
  complaints,
  expectAccessible,
  expectGoodOnPhone,
  severalClusters,
  type Visitor,
  visitorWith,
} from '../support/browser.ts';
import { ref, sharedCluster } from '../support/cluster.ts';
import { type RolloutScenario, scenarioOf } from '../support/rolloutScenario.ts';

describe('several clusters', () => {
  const view = sharedCluster();
  let scenario: RolloutScenario;
  let visitor: Visitor;

  beforeAll(async () => {
    scenario = scenarioOf(view, await view.newNamespace());
    await scenario.create();
    await scenario.publish('1.0.0');
    await scenario.headIs('1.0.0', 'Succeeded');
    const { file, contexts } = severalClusters(view.dir, temporaryFolder('clusters-'), 'developer');
    visitor = await visitorWith(file, scenario.ns, contexts);
  });
  afterAll(async () => {
    await visitor.close();
  });

  it('are one board with a column, a filter in the address, and a note about the one without an answer', async () => {
    const tab = await visitor.tab('/');
    const row = (cluster: string) => tab.locator('.row').filter({ hasText: cluster });
    await row('east').getByText('1.0.0').first().waitFor();
    await row('west').getByText('1.0.0').first().waitFor();
    await tab.getByText(/Cluster gone does not answer .* None of its objects are shown\./).waitFor();
    await expectAccessible(tab);
    await tab.getByLabel('Cluster', { exact: true }).selectOption('west');
    await row('east').waitFor({ state: 'hidden' });
    expect(new URL(tab.url()).search).toBe('?cluster=west');
    await expectGoodOnPhone(tab, row('west'));
  });

  it('are one pipeline where they deploy the same image', async () => {
    const tab = await visitor.tab('/promotion');
    await tab.getByRole('link', { name: `1.0.0 in west ${scenario.ns}/app: Runs` }).click();
    await tab.getByRole('region', { name: `Stage west ${scenario.ns}/app` }).waitFor();
    expect(new URL(tab.url()).search).toBe(`?cluster=west&stage=${scenario.ns}/app&release=1.0.0`);
    await expectAccessible(tab);
  });

  it('are written to one by one, with the name in the question, the command and the address', async () => {
    const tab = await visitor.tab('/');
    await tab.locator('.row').filter({ hasText: 'west' }).getByRole('link').click();
    expect(new URL(tab.url()).search).toBe('?cluster=west');
    await tab.getByRole('button', { name: 'Pin 1.0.0' }).first().click();
    const dialog = tab.getByRole('dialog');
    await dialog.getByText('In cluster west').waitFor();
    await dialog.getByText(`kubectl rollouts --context west pin app 1.0.0 -n ${scenario.ns}`).waitFor();
    await dialog.getByRole('button', { name: 'Pin in west' }).click();
    await dialog.getByText('The API server has accepted it.').waitFor();
    await tab
      .getByText(/Pinned to 1\.0\.0 by developer/)
      .first()
      .waitFor();
    expect((await view.admin.get(ref('rollout', scenario.ns, 'app'))).spec.wantedVersion).toBe('1.0.0');
    expect(complaints(tab)).toEqual([]);
  });

  it('are frozen one by one, once one is chosen', async () => {
    const tab = await visitor.tab('/gates');
    await tab.getByRole('button', { name: 'Freeze', exact: true }).click();
    const dialog = tab.getByRole('dialog');
    await dialog.getByText('Choose a cluster.').waitFor();
    await dialog.getByLabel('Cluster', { exact: true }).selectOption('west');
    await dialog.getByText(/you need create on gates/).waitFor();
    await dialog.getByLabel('Cluster', { exact: true }).selectOption('east');
    await dialog.getByText('It would hold 1:').waitFor();
    await expectAccessible(tab);
    await dialog.getByRole('button', { name: `Freeze ${scenario.ns}: 1 object in east` }).click();
    await dialog.getByText('The API server has accepted it.').waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await tab.locator('.closed-gates').getByText('east').waitFor();
    expect((await view.admin.get(ref('gate', scenario.ns, 'incident'))).metadata.name).toBe('incident');
  });

  it('with unknown names are not mistaken for others', async () => {
    const tab = await visitor.tab(`/rollout/${scenario.ns}/app?cluster=north`);
    await tab.getByText('Cluster north is not shown here').waitFor();
    await tab.getByText('kubectl rollouts ui --context north').waitFor();
  });
});
