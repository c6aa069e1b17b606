/** The board in a real Chromium, with a real API server and the hooks. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { complaints, expectFits, type Visitor, visitorOf } from '../support/browser.ts';
import { imagePolicy, rollout, rolloutGate, sharedCluster } from '../support/cluster.ts';
import { type RolloutScenario, scenarioOf } from '../support/rolloutScenario.ts';

const rowOf = (tab: Page) =>
  tab.getByRole('listitem').filter({ has: tab.getByRole('link', { name: 'app', exact: true }) });

/** In Playwright all tabs are visible; a browser hides all but one. */
const show = (tab: Page, state: 'visible' | 'hidden') =>
  tab.evaluate((value) => {
    const { document, Event } = globalThis as any;
    Object.defineProperty(document, 'visibilityState', { value, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, state);

describe('the board', () => {
  const view = sharedCluster();
  let scenario: RolloutScenario;
  let visitor: Visitor;

  beforeAll(async () => {
    scenario = scenarioOf(view, await view.newNamespace());
    await scenario.create();
    await scenario.publish('1.0.0');
    await scenario.headIs('1.0.0', {});
    visitor = await visitorOf(view.dir, 'developer', scenario.ns);
  });
  afterAll(() => visitor.close());

  it('shows current and pending versions with the cause at once, in two tabs', async () => {
    const [one, two] = [await visitor.tab('/'), await visitor.tab('/')];
    for (const tab of [one, two]) await rowOf(tab).getByText('1.0.0').first().waitFor();

    await view.admin.create(rolloutGate(scenario.ns, 'qa', 'app', { passing: false }));
    await scenario.publish('1.1.0');
    for (const tab of [one, two]) {
      const row = rowOf(tab);
      await row.getByText('held at the gates').waitFor();
      expect(await row.textContent()).toMatch(/RolloutGate qa: .*for \d+s/);
    }
    expect(await one.locator('[aria-live=polite]').textContent()).toMatch(/app: 1\.1\.0 waits/);
    expect(complaints(one)).toEqual([]);
  });

  it('is opened in eight tabs: a hidden one has no stream, and catches up when it is seen again', async () => {
    // A browser has six connections per server.
    const tabs: Page[] = [];
    for (let count = 0; count < 8; count++) {
      for (const tab of tabs) await show(tab, 'hidden');
      tabs.push(await visitor.tab('/'));
      await rowOf(tabs.at(-1)!).waitFor();
    }
    const [first, last] = [tabs[0]!, tabs.at(-1)!];
    await scenario.publish('1.2.0');
    const found = (tab: Page) => tab.getByText('1.2.0', { exact: true });
    await found(last).first().waitFor();
    expect(await found(first).count()).toBe(0);
    await show(last, 'hidden');
    await show(first, 'visible');
    await found(first).first().waitFor();
  });

  it('has its filters in the address', async () => {
    const tab = await visitor.tab('/');
    await rowOf(tab).waitFor();
    await tab.keyboard.press('/');
    await tab.keyboard.type('no-such-app');
    await tab.getByText('Nothing matches').waitFor();
    expect(new URL(tab.url()).search).toBe('?q=no-such-app');
    const linked = await visitor.tab('/?q=no-such-app');
    await linked.getByText('Nothing matches').waitFor();
    await linked.getByRole('button', { name: 'Show all' }).click();
    await rowOf(linked).waitFor();
  });

  it('is walked by keys', async () => {
    const tab = await visitor.tab('/');
    await rowOf(tab).waitFor();
    await tab.keyboard.press('j');
    await tab.locator('.row-link:focus').waitFor();
    await tab.keyboard.press('Enter');
    await tab.getByRole('heading', { name: 'app', exact: true }).waitFor();
    expect(new URL(tab.url()).pathname).toBe(`/rollout/${scenario.ns}/app`);
    await tab.keyboard.press('g');
    await tab.keyboard.press('b');
    await rowOf(tab).waitFor();
    await tab.keyboard.press('?');
    await tab.getByRole('dialog').getByText('next row').waitFor();
  });

  it.each([1280, 360])('keeps long names and versions in their columns, at a width of %d', async (width) => {
    const name = `identity-verification-and-fraud-detection-${width}`;
    const labels = { 'app.kubernetes.io/part-of-the-customer-platform': 'x' };
    await view.admin.create(imagePolicy(scenario.ns, name, { policy: { alphabetical: {} } }));
    await view.publish(scenario.ns, name, 'main-20261127102233-8f3a9c14bd2e');
    const policy = { releasesImagePolicy: { name } };
    await view.developer.create(rollout(scenario.ns, name, { spec: policy, labels }));
    const tab = await visitor.tab('/', { width });
    const row = tab.locator('.row').filter({ has: tab.getByRole('link', { name, exact: true }) });
    await row.getByText('8f3a9c14bd2e').first().waitFor();
    await view.admin.create(rolloutGate(scenario.ns, name, name, { passing: false }));
    await view.publish(scenario.ns, name, 'main-20261128102233-9f3a9c14bd2e');
    await row.getByText('held at the gates').waitFor();
    await expectFits(tab);
    const outside = await row.evaluate((own: any) => {
      const { top, bottom } = own.getBoundingClientRect();
      return [...own.children]
        .filter((column) => {
          const box = column.getBoundingClientRect();
          return box.top < top || box.bottom > bottom || column.scrollWidth > column.clientWidth;
        })
        .map((column) => column.textContent);
    });
    expect(outside).toEqual([]);
    await tab.getByRole('link', { name, exact: true }).click();
    await tab.getByRole('heading', { name: 'Another version' }).waitFor();
    await expectFits(tab);
  });

  it('refuses another key, and says what to do', async () => {
    const tab = await visitor.tab('/', { width: 1000, token: 'another-key-another-key-another' });
    await tab.getByText('This page is not authorized').waitFor();
    await tab.getByText('kubectl rollouts ui').first().waitFor();
  });

  it('continues by itself after an Ingress has answered in place of the server', async () => {
    const tab = await visitor.tab('/');
    await tab.route('**/api/stream', (route) => route.fulfill({ status: 502 }));
    await tab.reload();
    await tab.getByText('The server of this page answers with HTTP 502.').waitFor();
    await tab.unroute('**/api/stream');
    await rowOf(tab).waitFor();
  });

  it('keeps its content without the server, and continues when the server is back', async () => {
    const own = await visitorOf(view.dir, 'developer', scenario.ns);
    const tab = await own.tab('/');
    await rowOf(tab).waitFor();
    await own.server.close();
    await tab.getByText('may be out of date').waitFor();
    await rowOf(tab).waitFor();
    const again = await own.serveAgain();
    await tab.getByText('may be out of date').waitFor({ state: 'hidden' });
    await again.close();
    await own.close();
  });
});
