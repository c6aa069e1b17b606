/** `node dev/bench/page.ts`: how the page bears thousands of applications, against how it bears a few. */
import type { Page } from 'playwright-core';
import type { LocalCluster } from '../local/cluster.ts';
import { launchBrowser } from '../page/browser.ts';
import { buildPage } from '../page/buildPage.ts';
import { servePageOn } from '../page/serveWith.ts';
import { type FleetObject, fleet } from '../preview/fleet.ts';
import { patchStatus, storeFleet } from '../preview/storeFleet.ts';
import { runBench } from './command.ts';

const HELP = `Usage: node dev/bench/page.ts [--few N] [--many N] [--rounds N] [--json]

Serves the page for a few applications and for many, and looks at it with Chromium. Prints the time until the first row is there, until all are, of one
screenful scrolled, and from a change in the cluster to its row; and how many times as long each takes with many.

  --few N     how many are a few (50)
  --many N    how many are many (5000)
  --rounds N  how often each is measured; the median counts (5)
  --json      print JSON instead of text
  --help      this text
`;

const SCREENS = 20;

interface Measured {
  applications: number;
  firstRowMs: number;
  allRowsMs: number;
  /** Of one screenful: the median, and the slowest. */
  scrollMs: number;
  slowestScrollMs: number;
  changeMs: number;
}

interface Result {
  few: Measured;
  many: Measured;
}

async function measureWith(cluster: LocalCluster, objects: readonly FleetObject[], rounds: number): Promise<Measured> {
  const admin = cluster.accessOf('admin');
  const server = await servePageOn(cluster.kubeconfigOf('admin'), await buildPage());
  const browser = await launchBrowser();
  try {
    const rollouts = objects.filter(({ object }) => object.kind === 'Rollout');
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    // The server has read everything: what is measured is the page.
    await page.goto(server.address);
    await allThere(page, rollouts.length);
    const times: Omit<Measured, 'applications'>[] = [];
    for (let round = 0; round < rounds; round++) {
      const start = performance.now();
      await page.reload({ waitUntil: 'commit' });
      await page.locator('.row').first().waitFor();
      const firstRowMs = performance.now() - start;
      await allThere(page, rollouts.length);
      const allRowsMs = performance.now() - start;
      const scrolls = (await page.evaluate(SCROLL)) as number[];
      times.push({
        firstRowMs,
        allRowsMs,
        scrollMs: median(scrolls),
        slowestScrollMs: Math.max(...scrolls),
        changeMs: await changed(
          page,
          async (text) => {
            const { object, status = {} } = rollouts.at(-1 - round)!;
            const conditions = [
              { type: 'Pinned', status: 'True', reason: 'WantedVersion', message: text, lastTransitionTime: NOW },
            ];
            await patchStatus(admin, object, {
              ...status,
              revision: 2,
              currentVersion: text,
              pendingVersion: text,
              conditions,
            });
            return object.metadata.name ?? '';
          },
          { applications: rollouts.length, round },
        ),
      });
    }
    const of = (key: keyof Omit<Measured, 'applications'>) =>
      Math.round(median(times.map((each) => each[key])) * 10) / 10;
    return {
      applications: rollouts.length,
      firstRowMs: of('firstRowMs'),
      allRowsMs: of('allRowsMs'),
      scrollMs: of('scrollMs'),
      slowestScrollMs: of('slowestScrollMs'),
      changeMs: of('changeMs'),
    };
  } finally {
    await browser.close();
    await server.close();
  }
}

const NOW = '2026-01-01T00:00:00Z';

/** A screenful down, and the time until the frame after it has been drawn. */
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

async function allThere(page: Page, count: number): Promise<void> {
  await page.locator('.chip-count').first().getByText(String(count), { exact: true }).waitFor({ timeout: 120_000 });
}

/** A version that nothing has, not even what another measurement has changed. */
async function changed(
  page: Page,
  change: (version: string) => Promise<string>,
  { applications, round }: { applications: number; round: number },
): Promise<number> {
  const version = `9.${applications}.${round}`;
  await page.getByLabel('Search applications').fill(version);
  await page.getByText('Nothing matches').waitFor();
  const start = performance.now();
  await change(version);
  await page.locator('.row').first().getByText(version).first().waitFor();
  const ms = performance.now() - start;
  await page.getByLabel('Search applications').fill('');
  return ms;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function asText({ few, many }: Result): string {
  const line = (name: string, key: keyof Measured) =>
    `${name.padEnd(30)}${String(few[key]).padStart(10)}${String(many[key]).padStart(10)}${(many[key] / few[key]).toFixed(1).padStart(10)}\n`;
  return [
    `${'applications'.padEnd(30)}${String(few.applications).padStart(10)}${String(many.applications).padStart(10)}     ratio\n`,
    line('first row, ms', 'firstRowMs'),
    line('all rows, ms', 'allRowsMs'),
    line('a screenful scrolled, ms', 'scrollMs'),
    line('the slowest of them, ms', 'slowestScrollMs'),
    line('a change to its row, ms', 'changeMs'),
  ].join('');
}

await runBench({
  help: HELP,
  counts: { few: 50, many: 5000, rounds: 5 },
  hooks: false,
  asText,
  async measure(cluster, { few, many, rounds }) {
    const all = fleet(many, Date.now());
    const isAmongFew = new Set(
      fleet(few, Date.now()).map(({ object }) => `${object.kind} ${object.metadata.namespace}/${object.metadata.name}`),
    );
    const first = all.filter(({ object }) =>
      isAmongFew.has(`${object.kind} ${object.metadata.namespace}/${object.metadata.name}`),
    );
    await storeFleet(cluster.accessOf('admin'), first);
    const small = await measureWith(cluster, first, rounds);
    await storeFleet(
      cluster.accessOf('admin'),
      all.filter((each) => !first.includes(each)),
    );
    return { few: small, many: await measureWith(cluster, all, rounds) };
  },
});
