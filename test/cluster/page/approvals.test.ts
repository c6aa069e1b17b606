/** Approvals at a Gate, on the page: who has approved what, who is missing, and the two persons that let a version through. */
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { expectAccessible, expectFits, keepScreenshot, type Visitor, visitorOf } from '../support/browser.ts';
import { gate, ref, rollout, rolloutGate, sharedCluster, waitFor } from '../support/cluster.ts';

const view = sharedCluster();

describe('a Gate that asks for two approvals', () => {
  let ns: string;
  let sre: Visitor;
  let developer: Visitor;

  beforeAll(async () => {
    ns = await view.newNamespace();
    const group = 'rbac.authorization.k8s.io';
    await view.admin.create({
      apiVersion: `${group}/v1`,
      kind: 'RoleBinding',
      metadata: { namespace: ns, name: 'approvers' },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'gate-approver' },
      subjects: [{ apiGroup: group, kind: 'User', name: 'developer' }],
    });
    await view.sre.create(gate(ns, 'prod', { spec: { default: 'closed', approvals: { required: 2 } } }));
    await view.developer.create(rollout(ns, 'app', { spec: { gates: [{ name: 'prod' }] } }));
    await view.publish(ns, 'app', '1.0.0');
    [sre, developer] = await Promise.all([visitorOf(view.dir, 'sre', ns), visitorOf(view.dir, 'developer', ns)]);
  });
  afterEach(() => Promise.all([sre.leave(), developer.leave()]));
  afterAll(() => Promise.all([sre.close(), developer.close()]));

  async function approve(tab: Page, reason: string): Promise<void> {
    await tab.getByRole('button', { name: 'Approve 1.0.0 of app at prod' }).click();
    await tab.getByLabel('Reason').fill(reason);
    await tab.getByText(`approve gate/prod ${ns}/app:1.0.0 -n ${ns} --reason ${reason}`).waitFor();
    await tab.getByRole('dialog').getByRole('button', { name: 'Approve', exact: true }).click();
    await tab.getByText('The API server has accepted it.').waitFor();
    await tab.getByRole('button', { name: 'Done' }).click();
  }

  it('is opened by no button, and says whose word it takes', async () => {
    const tab = await sre.tab(`/gate/${ns}/prod`);
    await tab.getByText('A version takes 2 people who approve it; no request opens the gate.').waitFor();
    await tab.getByText('0 of 2 approvals').waitFor();
    expect(await tab.getByRole('button', { name: /^Open Gate/ }).count()).toBe(0);
  });

  it('is approved once on the page of the application, and shows who has, why, and that another one is missing', async () => {
    const tab = await developer.tab(`/rollout/${ns}/app`);
    await approve(tab, 'tested');
    await tab
      .getByText(/1 of 2 approvals \(developer\)/)
      .first()
      .waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await sre.tab(`/gate/${ns}/prod`, { colorScheme, width: colorScheme === 'dark' ? 360 : 1280 });
      await page.getByText('1 of 2 approvals (developer)').waitFor();
      await page.getByText(/developer .*: tested/).waitFor();
      await expectAccessible(page);
      await expectFits(page);
      await keepScreenshot(page, `approvals-${colorScheme}`);
    }
  });

  it('is approved a second time on its own page, and the version goes', async () => {
    const tab = await sre.tab(`/gate/${ns}/prod`);
    await approve(tab, 'QA-88');
    const [head] = await waitFor(
      async () => (await view.admin.get(ref('rollout', ns, 'app'))).status?.history,
      'the deployment',
    );
    expect(head.approvals).toMatchObject([
      { by: 'developer', reason: 'tested' },
      { by: 'sre', reason: 'QA-88' },
    ]);
    await tab.getByText('2 of 2 approvals (developer, sre)').waitFor();
    expect(await tab.getByRole('button', { name: /^Approve/ }).count()).toBe(0);
  });
});

describe('a RolloutGate', () => {
  it('rejects a version for good, with a reason', async () => {
    const ns = await view.newNamespace();
    await view.developer.create(rollout(ns, 'app'));
    await view.publish(ns, 'app', '1.0.0');
    await waitFor(async () => (await view.admin.get(ref('rollout', ns, 'app'))).status?.history, 'the first version');
    await view.admin.create(rolloutGate(ns, 'qa', 'app', { approvals: { required: 1 } }));
    await view.publish(ns, 'app', '1.1.0');
    const sre = await visitorOf(view.dir, 'sre', ns);
    const tab = await sre.tab(`/rollout/${ns}/app`);
    await tab.getByRole('button', { name: 'Reject 1.1.0' }).click();
    await tab.getByLabel('Reason').fill('leaks memory');
    await tab.getByRole('dialog').getByRole('button', { name: 'Reject', exact: true }).click();
    await tab.getByText('The API server has accepted it.').waitFor();
    const { spec, metadata } = await view.admin.get(ref('rolloutGate', ns, 'qa'));
    expect(spec.rejectedVersions).toEqual(['1.1.0']);
    expect(JSON.parse(metadata.annotations!['rollout.kuberik.com/listed']!)).toMatchObject([
      { field: 'rejectedVersions', version: '1.1.0', by: 'sre', reason: 'leaks memory' },
    ]);
    await sre.close();
  });
});
