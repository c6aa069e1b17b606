/** The page, served with a user's kubeconfig, and a real Chromium that looks at it. Screenshots are kept in .local/screenshots. */
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';

import { USERS, type UserName } from '../../../dev/local/controlPlane/users.ts';
import { launchBrowser } from '../../../dev/page/browser.ts';
import { buildPage } from '../../../dev/page/buildPage.ts';
import { servePageOn } from '../../../dev/page/serveWith.ts';
import { REPOSITORY } from '../../../dev/repository.ts';
import type { PageServer } from '../../../page/laptop.ts';
import type { Assets } from '../../../page/server.ts';

const SCREENSHOTS = join(REPOSITORY, '.local/screenshots');
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

let assets: Promise<Assets> | undefined;

export interface Visitor {
  server: PageServer;
  /** A tab of a browser that has been let in; in one test all tabs are of one browser. */
  tab(path?: string, options?: TabOptions): Promise<Page>;
  /** Closes the tabs. */
  leave(): Promise<void>;
  /** At the same address with the same key, after it was closed. */
  serveAgain(): Promise<PageServer>;
  close(): Promise<void>;
}

export interface TabOptions {
  colorScheme?: 'light' | 'dark';
  width?: number;
  /** Not the server's. */
  token?: string;
}

/** `namespace`: the only one that is looked at; the cluster is shared with other tests. */
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
  const contexts = new Map<string, Promise<BrowserContext>>();
  const token = server.address.split('token=')[1]!;
  return {
    server,
    async tab(path = '/', options = {}) {
      const { colorScheme = 'light', width = 1280 } = options;
      const key = `${colorScheme} ${width}`;
      const context = contexts.get(key) ?? newContext(browser, colorScheme, width);
      contexts.set(key, context);
      const page = await (await context).newPage();
      const errors: string[] = [];
      page.on('pageerror', (error) => errors.push(error.message));
      page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
      problems.set(page, errors);
      await page.goto(`${server.origin}${path}#token=${options.token ?? token}`);
      return page;
    },
    async leave() {
      const open = await Promise.all(contexts.values());
      await Promise.all(open.flatMap((context) => context.pages()).map((page) => page.close()));
    },
    serveAgain: async () =>
      servePageOn(kubeconfig, (await assets)!, {
        namespace,
        token,
        port: Number(new URL(server.origin).port),
      }),
    async close() {
      await browser.close();
      await server.close();
    },
  };
}

const problems = new WeakMap<Page, string[]>();

/** What the browser complained about: violations of the content security policy are among it. */
export function complaints(page: Page): string[] {
  return problems.get(page) ?? [];
}

function newContext(browser: Browser, colorScheme: 'light' | 'dark', width: number): Promise<BrowserContext> {
  const viewport = { width, height: width < 500 ? 780 : 900 };
  // axe reads computed styles in the middle of a transition.
  return browser.newContext({ colorScheme, viewport, reducedMotion: 'reduce' });
}

export async function keepScreenshot(page: Page, name: string): Promise<void> {
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
}

/** Nothing that axe-core finds, of the rules of WCAG 2.2 AA and of good practice. */
export async function expectAccessible(page: Page): Promise<void> {
  // By CDP, not as a script element: the page's policy would not run one.
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

/** A phone shows everything without scrolling sideways. */
export async function expectFits(page: Page): Promise<void> {
  const [content, window] = await page.evaluate(() => {
    const { document, innerWidth } = globalThis as any;
    return [document.documentElement.scrollWidth, innerWidth] as [number, number];
  });
  expect(content).toBeLessThanOrEqual(window);
}
