/** Many tabs of one browser, which has six connections per server: a hidden tab has no stream. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Visitor, visitorOf } from '../support/browser.ts';
import { sharedCluster } from '../support/cluster.ts';
import { type RolloutScenario, scenarioOf } from '../support/rolloutScenario.ts';

const TABS = 8;

/** In Playwright all tabs are visible; a browser hides all but one. */
const show = (tab: Page, state: 'visible' | 'hidden') =>
  tab.evaluate((value) => {
    const { document, Event } = globalThis as any;
    Object.defineProperty(document, 'visibilityState', { value, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, state);

describe('eight tabs', () => {
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

  it('are opened one after another, and each catches up when it is seen again', async () => {
    const tabs: Page[] = [];
    for (let count = 0; count < TABS; count++) {
      for (const tab of tabs) await show(tab, 'hidden');
      tabs.push(await visitor.tab('/'));
      await tabs.at(-1)!.getByRole('link', { name: 'app', exact: true }).waitFor();
    }
    const [first, last] = [tabs[0]!, tabs.at(-1)!];
    await scenario.publish('1.1.0');
    const found = (tab: Page) => tab.getByText('1.1.0', { exact: true });
    await found(last).first().waitFor();
    expect(await found(first).count()).toBe(0);
    await show(last, 'hidden');
    await show(first, 'visible');
    await found(first).first().waitFor();
  });
});
