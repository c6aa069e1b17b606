/** Times of the page with thousands of applications, against those with a few. */
import type { Page } from 'playwright-core';
import { User } from '../actors/user.ts';
import type { LocalCluster } from '../local/cluster.ts';
import { launchBrowser } from '../page/browser.ts';
import { buildPage } from '../page/buildPage.ts';
import { servePageOn } from '../page/serveWith.ts';
import { createReported, rolloutAt } from './fleets/reported.ts';
import { quantile } from './measure.ts';
import type { Scenario } from './scenario.ts';

const SCREENS = 20;
const NOW = '2026-01-01T00:00:00Z';

type Times = Record<
  'first row' | 'all rows' | 'a screenful scrolled' | 'the slowest of them' | 'a change to its row',
  number
>;

export const page: Scenario = {
  about:
    'the page in Chromium with a few applications and with many: first row, all rows, scrolling, a change; the median counts',
  numbers: { few: 50, many: 5000, rounds: 5 },
  hooks: false,
  async measure({ cluster, numbers: { few = 1, many = 1, rounds = 1 } }) {
    const admin = new User(cluster.accessOf('admin'));
    await createReported(admin, 0, few);
    const small = await measureWith(cluster, admin, few, rounds);
    await createReported(admin, few, many);
    const large = await measureWith(cluster, admin, many, rounds);
    return (Object.keys(small) as (keyof Times)[]).flatMap((name) => [
      { group: `${few} applications`, name, value: small[name], unit: 'ms' },
      { group: `${many} applications`, name, value: large[name], unit: 'ms' },
      { group: 'many against few', name, value: large[name] / small[name], unit: '×' },
    ]);
  },
};

async function measureWith(cluster: LocalCluster, admin: User, count: number, rounds: number): Promise<Times> {
  const server = await servePageOn(cluster.kubeconfigOf('admin'), await buildPage());
  const browser = await launchBrowser();
  try {
    const tab = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    // The server has read everything: only the page is measured.
    await tab.goto(server.address);
    await allThere(tab, count);
    const times: Times[] = [];
    for (let round = 0; round < rounds; round++) {
      const start = performance.now();
      await tab.reload({ waitUntil: 'commit' });
      await tab.locator('.row').first().waitFor();
      const firstRow = performance.now() - start;
      await allThere(tab, count);
      const allRows = performance.now() - start;
      const scrolls = (await tab.evaluate(SCROLL)) as number[];
      // A version that no application has.
      const version = `9.${count}.${round}`;
      const pinned = {
        type: 'Pinned',
        status: 'True',
        reason: 'WantedVersion',
        message: version,
        lastTransitionTime: NOW,
      };
      const changed = { revision: 2, currentVersion: version, pendingVersion: version, conditions: [pinned] };
      times.push({
        'first row': firstRow,
        'all rows': allRows,
        'a screenful scrolled': quantile(scrolls, 0.5),
        'the slowest of them': Math.max(...scrolls),
        'a change to its row': await seen(tab, version, () => admin.patchStatus(rolloutAt(count - 1 - round), changed)),
      });
    }
    const names = Object.keys(times[0]!) as (keyof Times)[];
    const medians = names.map((name) => [
      name,
      quantile(
        times.map((each) => each[name]),
        0.5,
      ),
    ]);
    return Object.fromEntries(medians) as Times;
  } finally {
    await browser.close();
    await server.close();
  }
}

/** Scrolls a screenful at a time, and measures until the next frame is drawn. */
const SCROLL = `(async () => {
  const frame = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  const times = [];
  for (let screen = 0; screen < ${SCREENS}; screen++) {
    const start = performance.now();
    scrollBy(0, innerHeight);
    await frame();
    times.push(performance.now() - start);
  }
  scrollTo(0, 0);
  await frame();
  return times;
})()`;

async function allThere(tab: Page, count: number): Promise<void> {
  await tab.locator('.chip-count').first().getByText(String(count), { exact: true }).waitFor({ timeout: 120_000 });
}

/** Milliseconds from the change until the page shows the version. */
async function seen(tab: Page, version: string, change: () => Promise<unknown>): Promise<number> {
  await tab.getByLabel('Search applications').fill(version);
  await tab.getByText('Nothing matches').waitFor();
  const start = performance.now();
  await change();
  await tab.locator('.row').first().getByText(version).first().waitFor();
  const ms = performance.now() - start;
  await tab.getByLabel('Search applications').fill('');
  return ms;
}
