/**
 * Every screen, in a page with several clusters: axe finds no problem, keys reach every control, and phones show
 * everything.
 */
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser } from '../../../dev/page/browser.ts';
import { servePageInCluster, type TeamPage } from '../../../dev/page/serveInCluster.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';
import {
  expectAccessible,
  expectFits,
  expectReachableByKeys,
  keepScreenshot,
  type Tabs,
  tabsOf,
  teamTabs,
  visitorOf,
} from '../support/browser.ts';
import { gate, kustomization, rollout, rolloutBudget } from '../support/cluster.ts';
import { ownCluster } from '../support/ownCluster.ts';
import { type RolloutScenario, storyAtQa } from '../support/rolloutScenario.ts';

// A separate image, because Rollouts of one image form one pipeline, and other tests deploy `app`.
const { view } = await ownCluster();
/** Widths of common and of narrow phones. */
const PHONE = { colorScheme: 'dark', width: 360 } as const;

/** Path, and a text that the complete screen has. */
type Screen = readonly [path: (ns: string) => string, shown: (tab: Page, ns: string) => Locator];

const heading = (name: string | RegExp) => (tab: Page) => tab.getByRole('heading', { name, exact: true });
const inDialog = (text: string | RegExp) => (tab: Page) => tab.getByRole('dialog').getByText(text);

const SCREENS: Record<string, Screen> = {
  board: [(ns) => `/?namespace=${ns}`, (tab) => tab.getByText('held at the gates')],
  'board in groups': [(ns) => `/?namespace=${ns}&group=state`, heading(/^Waits/)],
  'board without a match': [() => '/?q=no-such-app', heading('Nothing matches')],
  application: [(ns) => `/rollout/${ns}/app`, heading('1.1.0 waits, 1.0.0 runs')],
  release: [(ns) => `/rollout/${ns}/app?release=1.0.0`, (tab) => tab.getByRole('button', { name: 'Pin 1.0.0' })],
  'no application': [(ns) => `/rollout/${ns}/none`, heading('Not found')],
  action: [(ns) => `/rollout/${ns}/app?do=approve/RolloutGate/${ns}/qa/1.1.0`, inDialog(/^kubectl/)],
  'typed confirmation': [
    (ns) => `/rollout/${ns}/app?do=deploy/Rollout/${ns}/app/1.1.0`,
    (tab) => tab.getByLabel('Type the version to confirm'),
  ],
  gates: [() => '/gates', (tab) => tab.getByRole('button', { name: 'Freeze', exact: true })],
  'gates of a month': [() => '/gates?range=month', (tab) => tab.getByRole('button', { name: 'Freeze', exact: true })],
  freeze: [(ns) => `/gates?do=freeze&in=${ns}`, inDialog(/It would hold \d/)],
  gate: [(ns) => `/gate/${ns}/freeze`, heading('freeze')],
  Kustomization: [(ns) => `/kustomization/${ns}/app`, heading('app')],
  RolloutGate: [(ns) => `/rolloutgate/${ns}/qa`, heading('qa')],
  promotion: [
    (ns) => `/promotion?q=${ns}`,
    (tab, ns) => tab.getByRole('link', { name: new RegExp(`^1.1.0 in (west )?${ns}/app: Waits`) }),
  ],
  stage: [
    (ns) => `/promotion?q=${ns}&stage=${ns}/app&release=1.1.0`,
    (tab) => tab.getByRole('button', { name: 'Approve 1.1.0' }),
  ],
  'not under a Rollout': [
    (ns) => `/adopt?q=${ns}`,
    (tab, ns) => tab.getByRole('button', { name: `Kustomization ${ns}/loose` }),
  ],
  adoption: [(ns) => `/adopt?q=${ns}&object=Kustomization+${ns}/loose`, inDialog(/^kubectl/)],
  'no such page': [() => '/no/such/page/here', heading('There is no such page')],
  'another cluster': [() => '/?cluster=north', heading('Cluster north is not shown here')],
};

/** Shown for another cluster than the page's own, while a third one doesn't answer. */
const LOOKED_AT = 'west';

let scenario: RolloutScenario;
beforeAll(async () => {
  scenario = await storyAtQa(view);
  const { ns } = scenario;
  const loose = kustomization(ns, 'loose', {});
  await view.developer.create({
    ...loose,
    spec: { ...loose.spec, postBuild: { substitute: { APP_VERSION: '1.0.0' } } },
  });
  const after = { spec: { releasesImagePolicy: { name: 'app' }, after: [{ name: 'app' }] } };
  await view.developer.create(rollout(ns, 'next', after));
  const rules = [{ daysOfWeek: ['Saturday', 'Sunday'] }];
  await view.admin.create(gate(ns, 'no-weekends', { spec: { default: 'opened', schedule: { rules } } }));
  await view.admin.create(gate(ns, 'freeze', { spec: { default: 'closed', window: '1h' } }));
  await view.sre.create(rolloutBudget(ns, 'fleet', { maxConcurrent: 2 }));
});

async function expectGood(tabs: Pick<Tabs, 'tab'>, name: string, [path, shown]: Screen): Promise<void> {
  for (const look of [{}, PHONE]) {
    const tab = await tabs.tab(path(scenario.ns), look);
    await shown(tab, scenario.ns).first().waitFor();
    await expectAccessible(tab);
    if (look === PHONE) await expectFits(tab);
    else await expectReachableByKeys(tab);
    await keepScreenshot(tab, `${name}${look === PHONE ? ' on a phone' : ''}`.replaceAll(' ', '-'));
  }
}

describe('the page', () => {
  const dir = temporaryFolder('screens-');
  let served: TeamPage;
  let tabs: Tabs;

  beforeAll(async () => {
    const others = { [LOOKED_AT]: view.admin.access.url, gone: 'https://127.0.0.1:1' };
    served = await servePageInCluster(view.admin.access, dir, others);
    tabs = await teamTabs(served, 'sre');
  });
  afterEach(() => tabs.leave());
  afterAll(async () => {
    await tabs.close();
    await served.close();
  });

  it.each(Object.entries(SCREENS))('%s', async (name, [path, shown]) => {
    const of = path('').includes('cluster=') ? '' : `cluster=${LOOKED_AT}`;
    const inCluster = (ns: string) => [path(ns), of].filter(Boolean).join(path(ns).includes('?') ? '&' : '?');
    await expectGood(tabs, name, [inCluster, shown]);
  });
});

describe('a browser that is not signed in', () => {
  const dir = temporaryFolder('screens-');
  let served: TeamPage;
  let tabs: Tabs;

  beforeAll(async () => {
    served = await servePageInCluster(view.admin.access, dir);
    tabs = tabsOf(await launchBrowser(), (path) => served.origin + path);
  });
  afterAll(async () => {
    await tabs.close();
    await served.close();
  });

  it.each([
    ['asked to sign in', '/promotion'],
    ['refused', '/signed-in?code=1&state=2'],
  ])('%s', async (name, path) => {
    await expectGood(tabs, `a stranger ${name}`, [() => path, heading('You are not signed in')]);
  });
});

it('a dialog returns the focus to its opener, however it is closed', async () => {
  const tabs = await visitorOf(view.dir, 'sre', scenario.ns);
  const tab = await tabs.tab(`/rollout/${scenario.ns}/app`);
  const opener = tab.getByRole('button', { name: 'Approve 1.1.0' });
  for (const close of [
    () => tab.keyboard.press('Escape'),
    () => tab.getByRole('button', { name: 'Cancel' }).press('Enter'),
    () => tab.getByRole('button', { name: 'Close', exact: true }).press('Enter'),
  ]) {
    await opener.press('Enter');
    await tab.getByRole('dialog').waitFor();
    await close();
    await tab.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await opener.evaluate((element) => element === (globalThis as any).document.activeElement)).toBe(true);
  }
  await tabs.close();
});
