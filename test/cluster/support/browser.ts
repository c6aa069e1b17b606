/** The page, served with a user's kubeconfig, in a real Chromium. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import { USERS, type UserName } from '../../../dev/local/controlPlane/users.ts';
import { launchBrowser } from '../../../dev/page/browser.ts';
import { buildPage } from '../../../dev/page/buildPage.ts';
import { servePageOn } from '../../../dev/page/serveWith.ts';
import { REPOSITORY } from '../../../dev/repository.ts';
import type { Assets } from '../../../page/assets.ts';
import type { PageServer } from '../../../page/local.ts';

const SCREENSHOTS = join(REPOSITORY, '.local/screenshots');
export const DESKTOP = { width: 1280, height: 900 };
const PHONE = { width: 360, height: 780 };
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

let assets: Promise<Assets> | undefined;
/** One for all files of a worker. It ends with the worker. */
let browser: Promise<Browser> | undefined;

/** A context of the shared browser: a user with cookies of its own. */
export async function newContext(options: BrowserContextOptions): Promise<BrowserContext> {
  browser ??= launchBrowser();
  const context = await (await browser).newContext(options);
  // Generous, since a test must not fail because the machine is busy.
  context.setDefaultTimeout(60_000);
  return context;
}

/** Closes the page with the test. If the test has failed, prints what the page shows. */
function endWithTest(page: Page): void {
  onTestFinished(async ({ task }) => {
    if (task.result?.state === 'fail') {
      const shown = await page.locator('body').ariaSnapshot({ timeout: 5000 }).catch(String);
      console.error(`${page.url()} shows:\n${shown}`);
    }
    await page.close();
  });
}

/** A browser and a served page; the tabs of a test have cookies in common. */
export interface Visitor {
  server: PageServer;
  /** A tab with the server's key, until the test ends. */
  tab(path?: string, options?: TabOptions): Promise<Page>;
  /** Serves the page again at the same address with the same key. */
  serveAgain(): Promise<PageServer>;
  close(): Promise<void>;
}

interface TabOptions {
  width?: number;
  /** Not the server's. */
  token?: string;
}

/** `namespace`: the only one shown, since the cluster is shared with other tests. */
export const visitorOf = (dir: string, user: UserName, namespace: string): Promise<Visitor> =>
  visitorWith(join(dir, USERS[user].file), namespace);

/** `shown`: contexts of the kubeconfig; its current one by default. */
export async function visitorWith(
  kubeconfig: string,
  namespace: string,
  shown: readonly string[] = [],
): Promise<Visitor> {
  assets ??= buildPage();
  const [server, context] = await Promise.all([
    servePageOn(kubeconfig, await assets, { namespace, contexts: shown }),
    // axe would read computed styles during a transition.
    newContext({ viewport: DESKTOP, reducedMotion: 'reduce' }),
  ]);
  const token = server.address.split('token=')[1]!;
  return {
    server,
    async tab(path = '/', options = {}) {
      const page = await context.newPage();
      endWithTest(page);
      if (options.width) await page.setViewportSize({ ...DESKTOP, width: options.width });
      const errors: string[] = [];
      page.on('pageerror', (error) => errors.push(error.message));
      page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
      problems.set(page, errors);
      await page.goto(`${server.origin}${path}#token=${options.token ?? token}`);
      return page;
    },
    serveAgain: async () =>
      servePageOn(kubeconfig, (await assets)!, {
        namespace,
        token,
        port: Number(new URL(server.origin).port),
      }),
    async close() {
      await context.close();
      await server.close();
    },
  };
}

/**
 * Writes a kubeconfig of one cluster under two names, `east` of sre and `west` of the given user, and of one that
 * doesn't answer, `gone`.
 */
export function severalClusters(
  clusterDir: string,
  folder: string,
  west: UserName,
): { file: string; contexts: string[] } {
  const [sre, other] = (['sre', west] as const).map((user) =>
    parse(readFileSync(join(clusterDir, USERS[user].file), 'utf8')),
  );
  const cluster = sre.clusters[0].name;
  const contextOf = (name: string, user: string, of = cluster) => ({ name, context: { cluster: of, user } });
  const config = {
    ...sre,
    clusters: [...sre.clusters, { name: 'nobody', cluster: { server: 'https://127.0.0.1:1' } }],
    users: [...sre.users, ...other.users],
    contexts: [contextOf('east', 'sre'), contextOf('west', west), contextOf('gone', 'sre', 'nobody')],
  };
  const file = join(folder, 'config');
  writeFileSync(file, stringify(config), { mode: 0o600 });
  return { file, contexts: ['east', 'west', 'gone'] };
}

const problems = new WeakMap<Page, string[]>();

/** The browser's errors, with violations of the content security policy. */
export function complaints(page: Page): string[] {
  return problems.get(page) ?? [];
}

/** With SCREENSHOTS=true, writes .local/screenshots. */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  if (process.env.SCREENSHOTS !== 'true') return;
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name.replaceAll(' ', '-')}.png`), fullPage: true });
}

/** Expects no findings of axe-core, by the rules of WCAG 2.2 AA and best practices. */
export async function expectAccessible(page: Page): Promise<void> {
  // Injected by CDP, because the page's policy blocks script elements.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(readFileSync(AXE, 'utf8'));
  const found = await page.evaluate(async () => {
    const { violations } = await (globalThis as any).axe.run((globalThis as any).document, {
      resultTypes: ['violations'],
    });
    return violations.map(
      ({ id, nodes }: any) => `${id}: ${nodes.map((node: any) => `${node.html} ${node.failureSummary}`).join('\n')}`,
    );
  });
  expect(found).toEqual([]);
}

/** Turns the tab into a narrow phone in dark colors. Expects that `shown` stays, all fits, and axe finds nothing. */
export async function expectGoodOnPhone(tab: Page, shown: Locator, name?: string): Promise<void> {
  await tab.emulateMedia({ colorScheme: 'dark' });
  await tab.setViewportSize(PHONE);
  // The page draws itself again in the frame after the one in which it is narrow.
  await tab.evaluate(() => {
    const frame = () => new Promise((drawn) => (globalThis as any).requestAnimationFrame(drawn));
    return frame().then(frame);
  });
  await shown.first().waitFor();
  await expectAccessible(tab);
  await expectFits(tab);
  if (name) await keepScreenshot(tab, `${name} on a phone`);
}

/** Expects that nothing is wider than the screen. */
export async function expectFits(page: Page): Promise<void> {
  const [content, window] = await page.evaluate(() => {
    const { document, innerWidth } = globalThis as any;
    return [document.documentElement.scrollWidth, innerWidth] as [number, number];
  });
  expect(content).toBeLessThanOrEqual(window);
}

/**
 * Expects that Tab reaches every control in the open dialog or on the page, with visible focus. A control that appears
 * meanwhile is reached in another round.
 */
export async function expectReachableByKeys(page: Page): Promise<void> {
  await page.evaluate(() => {
    const { document, getComputedStyle } = globalThis as any;
    const selector =
      'a[href], button:enabled, input:enabled, select:enabled, textarea:enabled, summary, [tabindex="0"]';
    const controls = (): any[] =>
      [...(document.querySelector('dialog[open]') ?? document).querySelectorAll(selector)].filter((each: any) =>
        each.checkVisibility(),
      );
    const nameOf = (each: any) => each.outerHTML.slice(0, 120);
    const hasOutline = (each: any): boolean =>
      each !== null && (getComputedStyle(each).outlineStyle !== 'none' || hasOutline(each.parentElement));
    const reached = new Set<any>([document.activeElement]);
    const unmarked: string[] = [];
    document.addEventListener('focusin', ({ target }: any) => {
      if (!reached.has(target) && controls().includes(target) && !hasOutline(target)) unmarked.push(nameOf(target));
      reached.add(target);
    });
    (globalThis as any).focusReport = () => {
      const all = controls();
      return { count: all.length, missed: all.filter((each) => !reached.has(each)).map(nameOf), unmarked };
    };
  });
  const reportNow = () =>
    page.evaluate(() => (globalThis as any).focusReport() as { count: number; missed: string[]; unmarked: string[] });
  let report = await reportNow();
  for (let round = 0; round < 3 && report.missed.length > 0; round++) {
    // A few more presses: the browser's own controls are between the last and the first.
    for (let presses = 0; presses < report.count + 5; presses++) await page.keyboard.press('Tab');
    report = await reportNow();
  }
  expect(report).toMatchObject({ missed: [], unmarked: [] });
}
