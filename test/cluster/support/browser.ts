/** The page, served with a user's kubeconfig, in a real Chromium. Outside CI, screenshots are in .local/screenshots. */
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';

import { USERS, type UserName } from '../../../dev/local/controlPlane/users.ts';
import { launchBrowser } from '../../../dev/page/browser.ts';
import { buildPage } from '../../../dev/page/buildPage.ts';
import type { TeamPage } from '../../../dev/page/serveInCluster.ts';
import { servePageOn } from '../../../dev/page/serveWith.ts';
import { REPOSITORY } from '../../../dev/repository.ts';
import type { Assets } from '../../../page/assets.ts';
import type { PageServer } from '../../../page/local.ts';

const SCREENSHOTS = join(REPOSITORY, '.local/screenshots');
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

let assets: Promise<Assets> | undefined;

/** A browser and a served page; each tab of a test has cookies and settings in common. */
export interface Tabs {
  /** A tab that is signed in. All tabs of a test share cookies. */
  tab(path?: string, options?: TabOptions): Promise<Page>;
  /** Closes the tabs. */
  leave(): Promise<void>;
  close(): Promise<void>;
}

export interface Visitor extends Tabs {
  server: PageServer;
  /** Serves the page again at the same address with the same key. */
  serveAgain(): Promise<PageServer>;
}

interface TabOptions {
  colorScheme?: 'light' | 'dark';
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
  const [server, browser] = await Promise.all([
    servePageOn(kubeconfig, await assets, { namespace, contexts: shown }),
    launchBrowser(),
  ]);
  const token = server.address.split('token=')[1]!;
  const tabs = tabsOf(browser, (path, options) => `${server.origin}${path}#token=${options.token ?? token}`);
  return {
    ...tabs,
    server,
    serveAgain: async () =>
      servePageOn(kubeconfig, (await assets)!, {
        namespace,
        token,
        port: Number(new URL(server.origin).port),
      }),
    async close() {
      await tabs.close();
      await server.close();
    },
  };
}

/** Tabs of the page in the cluster, signed in as this account. */
export async function teamTabs({ origin }: Pick<TeamPage, 'origin'>, account: string): Promise<Tabs> {
  const enter = async (context: BrowserContext) => {
    const tab = await context.newPage();
    await tab.goto(origin);
    await signIn(tab, account);
    await tab.getByRole('button', { name: 'Sign out' }).waitFor();
    await tab.close();
  };
  return tabsOf(await launchBrowser(), (path) => origin + path, enter);
}

/** Signs in from the page's redirect, at the local issuer. */
export async function signIn(tab: Page, account: string): Promise<void> {
  await tab.getByRole('link', { name: 'Sign in' }).click();
  await tab.getByRole('link', { name: account, exact: true }).click();
}

/** `enter`: signs in a new browser context. */
export function tabsOf(
  browser: Browser,
  addressOf: (path: string, options: TabOptions) => string,
  enter: (context: BrowserContext) => Promise<void> = async () => {},
): Tabs {
  const contexts = new Map<string, Promise<BrowserContext>>();
  const newContext = async (colorScheme: 'light' | 'dark', width: number) => {
    const viewport = { width, height: width < 500 ? 780 : 900 };
    // axe would read computed styles during a transition.
    const context = await browser.newContext({ colorScheme, viewport, reducedMotion: 'reduce' });
    await enter(context);
    return context;
  };
  return {
    async tab(path = '/', options = {}) {
      const { colorScheme = 'light', width = 1280 } = options;
      const key = `${colorScheme} ${width}`;
      const context = contexts.get(key) ?? newContext(colorScheme, width);
      contexts.set(key, context);
      const page = await (await context).newPage();
      const errors: string[] = [];
      page.on('pageerror', (error) => errors.push(error.message));
      page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
      problems.set(page, errors);
      await page.goto(addressOf(path, options));
      return page;
    },
    async leave() {
      const open = await Promise.all(contexts.values());
      await Promise.all(open.flatMap((context) => context.pages()).map((page) => page.close()));
    },
    close: () => browser.close(),
  };
}

const problems = new WeakMap<Page, string[]>();

/** The browser's errors, with violations of the content security policy. */
export function complaints(page: Page): string[] {
  return problems.get(page) ?? [];
}

export async function keepScreenshot(page: Page, name: string): Promise<void> {
  if (process.env.CI) return;
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
}

/** Expects no findings of axe-core, by the rules of WCAG 2.2 AA and best practices. */
export async function expectAccessible(page: Page): Promise<void> {
  // Injected by CDP, because the page's policy blocks script elements.
  await page.evaluate(readFileSync(AXE, 'utf8'));
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

/** Expects that nothing is wider than the screen. */
export async function expectFits(page: Page): Promise<void> {
  const [content, window] = await page.evaluate(() => {
    const { document, innerWidth } = globalThis as any;
    return [document.documentElement.scrollWidth, innerWidth] as [number, number];
  });
  expect(content).toBeLessThanOrEqual(window);
}

/** Expects that Tab reaches every control in the open dialog or on the page, with visible focus. */
export async function expectReachableByKeys(page: Page): Promise<void> {
  const count = await page.evaluate(() => {
    const { document, getComputedStyle } = globalThis as any;
    const scope = document.querySelector('dialog[open]') ?? document;
    const selector =
      'a[href], button:enabled, input:enabled, select:enabled, textarea:enabled, summary, [tabindex="0"]';
    const targets = new Set([...scope.querySelectorAll(selector)].filter((each: any) => each.checkVisibility()));
    const nameOf = (each: any) => each.outerHTML.slice(0, 120);
    const hasOutline = (each: any): boolean =>
      each !== null && (getComputedStyle(each).outlineStyle !== 'none' || hasOutline(each.parentElement));
    const unmarked: string[] = [];
    (globalThis as any).focusReport = () => ({ missed: [...targets].map(nameOf), unmarked });
    document.addEventListener('focusin', ({ target }: any) => {
      if (targets.delete(target) && !hasOutline(target)) unmarked.push(nameOf(target));
    });
    targets.delete(document.activeElement);
    return targets.size;
  });
  // A few more presses: the browser's own controls are between the last and the first.
  for (let presses = 0; presses < count + 5; presses++) await page.keyboard.press('Tab');
  const report = await page.evaluate(() => (globalThis as any).focusReport());
  expect(report).toEqual({ missed: [], unmarked: [] });
}
