/** The page of one application: why it waits, and every request that it offers, with the API server's answers. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { complaints, type Visitor, visitorOf } from '../support/browser.ts';
import { gate, ref, sharedCluster } from '../support/cluster.ts';
import { nextSecond, type RolloutScenario, scenarioOf, storyAtQa } from '../support/rolloutScenario.ts';

const view = sharedCluster();

async function ask(tab: Page, label: string, reason: string, submit: string, confirm?: string): Promise<void> {
  await tab.getByRole('button', { name: label, exact: true }).first().click();
  const dialog = tab.getByRole('dialog');
  await dialog.getByLabel('Reason').fill(reason);
  if (confirm) await dialog.getByLabel('Type the version to confirm').fill(confirm);
  await dialog.getByRole('button', { name: submit, exact: true }).click();
}

async function accepted(tab: Page): Promise<string> {
  const said = tab.getByRole('dialog').getByRole('status');
  await said.waitFor();
  const text = (await said.textContent()) ?? '';
  await tab.getByRole('button', { name: 'Done', exact: true }).click();
  return text;
}

describe('an application that waits for an approval', () => {
  let scenario: RolloutScenario;
  let sre: Visitor;
  let developer: Visitor;
  let at: string;

  beforeAll(async () => {
    scenario = await storyAtQa(view);
    at = `/rollout/${scenario.ns}/app`;
    [sre, developer] = await Promise.all([
      visitorOf(view.dir, 'sre', scenario.ns),
      visitorOf(view.dir, 'developer', scenario.ns),
    ]);
  });
  afterAll(() => Promise.all([sre.close(), developer.close()]));

  it('explains the cause in words and as a picture, one click from the board', async () => {
    const tab = await developer.tab('/');
    await tab.getByText('held at the gates').waitFor();
    await tab.getByRole('link', { name: 'app', exact: true }).click();
    await tab.getByRole('heading', { name: '1.1.0 waits, 1.0.0 runs' }).waitFor();
    await tab
      .getByText(/Version 1\.1\.0 waits for RolloutGate.*qa/)
      .first()
      .waitFor();
    await tab.getByText('RolloutGate qa').first().waitFor();
    await tab.getByText(`Kustomization ${scenario.ns}/app`).first().waitFor();
  });

  it('has its open dialog in the address, for a colleague with fewer rights too', async () => {
    const tab = await sre.tab(at);
    await tab.getByRole('button', { name: 'Approve 1.1.0' }).click();
    await tab.getByRole('dialog').waitFor();
    const { pathname, search } = new URL(tab.url());
    const other = await developer.tab(pathname + search);
    await other
      .getByText(/You need patch on rolloutgates/)
      .first()
      .waitFor();
    expect(await other.getByRole('button', { name: 'Approve', exact: true }).isDisabled()).toBe(true);
    await tab.goBack();
    await tab.getByRole('dialog').waitFor({ state: 'hidden' });
    await tab.goForward();
    await tab.getByRole('dialog').waitFor();
    await tab.reload();
    await tab.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    // The address follows the dialog.
    await tab.waitForURL(({ search }) => search === '');
    await tab.getByRole('dialog').waitFor({ state: 'hidden' });
  });
});

describe('an application behind a closed Gate', () => {
  let scenario: RolloutScenario;
  let sre: Visitor;
  let at: string;

  beforeAll(async () => {
    scenario = scenarioOf(view, await view.newNamespace());
    at = `/rollout/${scenario.ns}/app`;
    await view.admin.create(gate(scenario.ns, 'freeze', { spec: { default: 'opened' } }));
    await scenario.create({ gates: [{ name: 'freeze' }] });
    await scenario.publish('1.0.0');
    await scenario.headIs('1.0.0', {});
    await nextSecond();
    const request = {
      'close.gate.fluxcd.io/requestedAt': `${new Date().toISOString().slice(0, 19)}Z`,
      'close.gate.fluxcd.io/reason': 'INC-42',
    };
    await view.sre.mergePatch(ref('gate', scenario.ns, 'freeze'), { metadata: { annotations: request } });
    await scenario.publish('1.1.0');
    sre = await visitorOf(view.dir, 'sre', scenario.ns);
  });
  afterAll(() => sre.close());

  it('names user and reason of the closure, and bypasses for one version after a user with the right types it', async () => {
    const tab = await sre.tab(at);
    await tab
      .getByText(/closed by sre: INC-42/)
      .first()
      .waitFor();
    await tab.getByRole('button', { name: 'Bypass closed Gates for 1.1.0' }).click();
    const dialog = tab.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('INC-42, the fix');
    await dialog.getByText(/^kubectl rollouts bypass app 1\.1\.0 .*--reason 'INC-42, the fix'/).waitFor();
    const deploy = dialog.getByRole('button', { name: 'Deploy 1.1.0' });
    expect(await deploy.isDisabled()).toBe(true);
    await dialog.getByLabel('Type the version to confirm').fill('1.1.0');
    await deploy.click();
    await accepted(tab);
    await scenario.headIs('1.1.0', { bypass: { by: 'sre', reason: 'INC-42, the fix' } });
    await tab.getByText(/bypassed .*freeze, by sre: INC-42, the fix/).waitFor();
    expect(complaints(tab)).toEqual([]);
  });

  it('shows the warnings of the API server', async () => {
    await scenario.publish('1.2.0');
    const developer = await visitorOf(view.dir, 'developer', scenario.ns);
    const tab = await developer.tab(at);
    await tab.getByRole('heading', { name: /^1\.2\.0 waits/ }).waitFor();
    await tab.getByLabel('Version', { exact: true }).selectOption('1.2.0');
    await ask(tab, 'Deploy 1.2.0', '', 'Deploy', '1.2.0');
    expect(await accepted(tab)).toMatch(/1\.2\.0.*waits.*freeze/s);
    await developer.close();
  });
});
