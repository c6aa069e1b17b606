/** Gates and their calendar: shows, plans, starts and ends freezes. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Visitor, visitorOf } from '../support/browser.ts';
import { gate, kustomization, ref, rollout, sharedCluster, waitFor } from '../support/cluster.ts';

describe('gates', () => {
  const view = sharedCluster();
  let ns: string;
  let sre: Visitor;

  beforeAll(async () => {
    ns = await view.newNamespace();
    const rules = [{ daysOfWeek: ['Saturday', 'Sunday'] }];
    await view.admin.create(gate(ns, 'no-weekends', { spec: { default: 'opened', schedule: { rules } } }));
    await view.admin.create(gate(ns, 'approval', { spec: { default: 'closed', window: '1h' } }));
    const schedule = {
      apiVersion: 'kuberik.com/v1alpha1',
      kind: 'RolloutSchedule',
      metadata: { namespace: ns, name: 'nights' },
      spec: {
        rolloutSelector: { matchLabels: { page: ns } },
        action: 'Deny',
        rules: [{ name: 'night shift', timeRange: { start: '00:00', end: '00:00' } }],
      },
    };
    await view.sre.create(schedule);
    const { namespace: _, ...ofCluster } = schedule.metadata;
    await view.sre.create({
      ...schedule,
      kind: 'ClusterRolloutSchedule',
      metadata: { ...ofCluster, name: `all-${ns}` },
    });
    await view.developer.create(kustomization(ns, 'app'));
    await view.developer.create(rollout(ns, 'app'));
    sre = await visitorOf(view.dir, 'sre', ns);
  });
  afterAll(() => sre.close());

  it('are on one calendar with schedules, cluster-wide ones included', async () => {
    const tab = await sre.tab('/gates');
    const line = (name: string) => tab.locator('.calendar-row').filter({ hasText: name });
    await line('nights')
      .getByText(/Closed from .*: night shift/)
      .first()
      .waitFor({ state: 'attached' });
    await line(`all-${ns}`).getByText('all namespaces').waitFor();
    await tab.getByRole('link', { name: 'nights' }).click();
    await tab.getByRole('heading', { name: 'nights' }).waitFor();
  });

  it('freeze a team now, after the affected objects are shown', async () => {
    const tab = await sre.tab('/gates');
    await tab.getByRole('button', { name: 'Freeze', exact: true }).click();
    const dialog = tab.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('INC-42');
    await dialog.getByLabel('For', { exact: true }).fill('24h');
    await dialog.getByText('It would hold 2:').waitFor();
    await dialog.getByText(`Kustomization ${ns}/app`).waitFor();
    await dialog.getByRole('button', { name: `Freeze ${ns}` }).click();
    await dialog.getByText('The API server has accepted it.').waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await waitFor(
      async () => (await view.admin.get(ref('kustomization', ns, 'app'))).spec.suspend === true,
      'the suspension',
    );
    await tab.getByText('closed by sre: INC-42', { exact: true }).waitFor();
  });

  it('show on the pages of held objects who closed them and how to release the objects', async () => {
    const gatePage = await sre.tab(`/gate/${ns}/incident`);
    await gatePage.locator(`a[href="/kustomization/${ns}/app"]`).waitFor();
    const tab = await sre.tab(`/kustomization/${ns}/app`);
    await tab
      .getByText(/is closed .*INC-42/)
      .first()
      .waitFor();
    await tab.getByRole('button', { name: 'Open Gate incident' }).click();
    await tab
      .getByRole('dialog')
      .getByText(/open incident/)
      .first()
      .waitFor();
    await tab.getByRole('button', { name: 'Cancel' }).click();
    await tab.getByRole('region', { name: 'Conditions' }).getByText('GateClosed').first().waitFor();
    await tab.getByText('YAML', { exact: true }).click();
    await tab.getByText('suspend: true').waitFor();
    await sre
      .tab(`/kustomization/${ns}/no-such`)
      .then((none) => none.getByText(`There is no kustomization ${ns}/no-such`).waitFor());
  });

  it('are opened on their own page, which lists the held objects', async () => {
    const tab = await sre.tab(`/gate/${ns}/incident`);
    await tab.getByText(`Kustomization${ns}/app`).waitFor();
    await tab.getByRole('button', { name: 'Open Gate incident' }).click();
    await tab.getByLabel('Reason').fill('INC-42 is over');
    await tab.getByRole('dialog').getByRole('button', { name: 'Open incident' }).click();
    await tab.getByRole('dialog').getByText('The API server has accepted it.').waitFor();
    await waitFor(
      async () => (await view.admin.get(ref('gate', ns, 'incident'))).status?.openedBy === 'sre',
      'the opening',
    );
    await tab.getByRole('button', { name: 'Done' }).click();
    await tab.getByRole('heading', { name: /by sre: INC-42 is over/ }).waitFor();
  });
  it('are planned by dragging over the calendar', async () => {
    const tab = await sre.tab('/gates');
    const lane = tab.locator('.calendar-plan .calendar-lane');
    await lane.waitFor();
    const box = (await lane.boundingBox())!;
    await tab.mouse.move(box.x + box.width * 0.5, box.y + 20);
    await tab.mouse.down();
    await tab.mouse.move(box.x + box.width * 0.65, box.y + 20, { steps: 4 });
    await tab.mouse.up();
    const dialog = tab.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('stocktaking');
    await dialog.getByLabel('Name of the Gate').fill('stocktaking');
    await dialog.getByRole('button', { name: `Freeze ${ns}` }).click();
    await dialog.getByText('The API server has accepted it.').waitFor();
    const planned = await waitFor(
      async () => (await view.admin.get(ref('gate', ns, 'stocktaking'))).status?.planned,
      'the plan',
    );
    expect(planned).toMatchObject({ action: 'close', by: 'sre', reason: 'stocktaking' });
    await dialog.getByRole('button', { name: 'Done' }).click();
    await tab.locator('.band.planned').first().waitFor();
  });
});
