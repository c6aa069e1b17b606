/**
 * Every screen, in a page with several clusters: axe finds no problem, keys reach every control, and phones show
 * everything. The screens of a page in a cluster: team.test.ts.
 */
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/temporaryFolder.ts';
import {
  expectAccessible,
  expectGoodOnPhone,
  expectReachableByKeys,
  keepScreenshot,
  severalClusters,
  type Visitor,
  visitorWith,
} from '../support/browser.ts';
import { gate, kustomization, rollout, rolloutBudget, sharedCluster } from '../support/cluster.ts';
import { type RolloutScenario, storyAtQa } from '../support/rolloutScenario.ts';

const view = sharedCluster();

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
    (tab, ns) => tab.getByRole('link', { name: `1.1.0 in west ${ns}/app: Waits` }),
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

/** The cluster shown; of the others one doesn't answer. */
const LOOKED_AT = 'west';

let scenario: RolloutScenario;
let visitor: Visitor;
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
  const { file, contexts } = severalClusters(view.dir, temporaryFolder('screens-'), 'sre');
  visitor = await visitorWith(file, ns, contexts);
});
afterAll(() => visitor.close());

it.each(Object.entries(SCREENS))('%s', async (name, [path, shown]) => {
  const address = path(scenario.ns);
  const of = address.includes('cluster=') ? '' : `cluster=${LOOKED_AT}`;
  const tab = await visitor.tab([address, of].filter(Boolean).join(address.includes('?') ? '&' : '?'));
  await shown(tab, scenario.ns).first().waitFor();
  await expectAccessible(tab);
  await expectReachableByKeys(tab);
  await keepScreenshot(tab, name);
  await expectGoodOnPhone(tab, shown(tab, scenario.ns), name);
});

it('a dialog returns the focus to its opener, however it is closed', async () => {
  const tab = await visitor.tab(`/rollout/${scenario.ns}/app?cluster=${LOOKED_AT}`);
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
});
