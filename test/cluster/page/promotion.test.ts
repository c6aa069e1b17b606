import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { complaints, expectAccessible, expectGoodOnPhone, type Visitor, visitorOf } from '../support/browser.ts';
import { ref, rollout, rolloutBudget, sharedCluster, waitFor } from '../support/cluster.ts';

describe('promotion', () => {
  const view = sharedCluster();
  let ns: string;
  let visitor: Visitor;

  beforeAll(async () => {
    ns = await view.newNamespace();
    const from = (...names: string[]) => ({
      spec: { releasesImagePolicy: { name: 'app' }, after: names.map((name) => ({ name })) },
    });
    await view.developer.create(
      rollout(ns, 'staging', { spec: { releasesImagePolicy: { name: 'app' }, bakeTime: '1h' } }),
    );
    for (const region of ['eu', 'us']) await view.developer.create(rollout(ns, region, from('staging')));
    await view.developer.create(rollout(ns, 'global', from('eu', 'us')));
    await view.publish(ns, 'app', '1.0.0');
    visitor = await visitorOf(view.dir, 'developer', ns);
  });
  afterAll(() => visitor.close());

  it('is a graph of stages with their progress', async () => {
    const tab = await visitor.tab('/promotion');
    const node = (name: string) =>
      tab.getByRole('listitem').filter({ has: tab.getByRole('link', { name, exact: true }) });
    await node('staging')
      .getByText(/1\.0\.0 baking/)
      .waitFor();
    await node('global').getByText('1.0.0 held at the gates').waitFor();
    const phone = await visitor.tab('/promotion', { width: 360 });
    await phone.getByText(/after eu, us/).waitFor();
  });

  it('is navigated by keys to a stage, which shows its blockers, at an address of its own', async () => {
    const tab = await visitor.tab('/');
    await tab.getByRole('link', { name: 'staging', exact: true }).waitFor();
    // Typed before the next frame, as on a machine that is busy: the page takes keys as soon as it is rendered.
    await tab.evaluate(async () => {
      const { document, KeyboardEvent } = globalThis as any;
      for (const key of ['g', 'p', 'j', 'j']) {
        document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
        for (let turn = 0; turn < 10; turn++) await undefined;
      }
    });
    await tab.keyboard.press('Enter');
    const stage = tab.getByRole('region', { name: `Stage ${ns}/eu` });
    await stage
      .getByText(/waits for Rollout/)
      .first()
      .waitFor();
    expect(new URL(tab.url()).search).toBe(`?stage=${ns}/eu`);
    await tab.reload();
    await stage.getByRole('button', { name: 'Close the stage' }).click();
    await stage.waitFor({ state: 'hidden' });
  });

  it('has versions by stage, with the actions for the chosen one', async () => {
    const tab = await visitor.tab('/promotion');
    await tab.getByRole('link', { name: `1.0.0 in ${ns}/staging: Runs, baking` }).waitFor();
    await tab.getByRole('link', { name: `1.0.0 in ${ns}/us: Waits` }).click();
    const stage = tab.getByRole('region', { name: `Stage ${ns}/us` });
    await stage.getByRole('button', { name: 'Deploy 1.0.0 manually' }).click();
    await tab.getByRole('dialog').getByText(`kubectl rollouts deploy us 1.0.0 -n ${ns}`).waitFor();
    expect(new URL(tab.url()).search).toBe(`?stage=${ns}/us&release=1.0.0&do=deploy/Rollout/${ns}/us/1.0.0`);
    expect(complaints(tab)).toEqual([]);
  });
});

describe('a budget', () => {
  const view = sharedCluster();
  const WAVES = { canary: ['first'], eu: ['berlin', 'paris'], '': ['global'] };
  let ns: string;
  let visitor: Visitor;

  const end = (name: string, bakeStatus: 'Succeeded' | 'Failed') =>
    waitFor(async () => {
      const { status } = await view.admin.get(ref('rollout', ns, name));
      const [head, ...older] = status?.history ?? [];
      if (head?.bakeStatus !== 'InProgress') return undefined;
      await view.admin.patchStatus(ref('rollout', ns, name), { history: [{ ...head, bakeStatus }, ...older] });
      return true;
    }, `the bake of ${name} to end`);

  beforeAll(async () => {
    ns = await view.newNamespace();
    await view.publish(ns, 'app', '1.0.0');
    const order = { label: 'wave', values: ['canary', 'eu'] };
    await view.sre.create(rolloutBudget(ns, 'fleet', { maxConcurrent: 2, maxFailures: 1, order }));
    const spec = { releasesImagePolicy: { name: 'app' }, bakeTime: '1h' };
    for (const [wave, names] of Object.entries(WAVES)) {
      for (const name of names) await view.developer.create(rollout(ns, name, { spec, labels: wave ? { wave } : {} }));
    }
    visitor = await visitorOf(view.dir, 'developer', ns);
  });
  afterAll(() => visitor.close());

  it('has its waves as boxes with their progress, live', async () => {
    const tab = await visitor.tab('/promotion');
    const waves = tab.getByRole('list', { name: 'Waves of 1.0.0 by wave' });
    const wave = (name: string) => waves.getByRole('listitem').filter({ hasText: name });
    await wave('canary').getByText('0/1 done, 1 rolling out').waitFor();
    await wave('eu').getByText('0/2 done, 2 wait').waitFor();
    await end('first', 'Succeeded');
    await wave('canary').getByRole('img', { name: 'done' }).waitFor();
    await wave('eu').getByText('0/2 done, 2 rolling out').waitFor();
    await wave('the others').getByText('0/1 done, 1 waits').waitFor();
    expect(await tab.getByRole('link', { name: `${ns}/berlin` }).count()).toBe(1);
    await expectAccessible(tab);
    await expectGoodOnPhone(tab, waves);
  });

  it('held by failures is shown, with a link to the action that continues it', async () => {
    const tab = await visitor.tab('/promotion');
    await end('berlin', 'Failed');
    await tab.getByText('blocked after 1 failure').waitFor();
    await tab.getByText(`Version 1.0.0 is blocked: it has failed in 1 Rollout (${ns}/berlin)`).waitFor();
    await tab.getByRole('link', { name: `RolloutBudget ${ns}/fleet` }).click();
    await tab.getByText('Continue 1.0.0 despite its failures').first().waitFor({ state: 'attached' });
  });
});
