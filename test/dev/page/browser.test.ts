import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { containerProblem } from '../../../dev/image/container.ts';
import { launchBrowser } from '../../../dev/page/browser.ts';
import { REPOSITORY } from '../../../dev/repository.ts';

/** npm has this Chromium for one platform only. */
const isElsewhere = process.platform !== 'linux' || process.arch !== 'x64';

const FONTS = ['own', 'system'] as const;
/** Chromium without a font gives the text no width, and aborts at the field. */
const PAGE = 'data:text/html;charset=utf-8,<span>words ├─ ✓</span><textarea>words</textarea>';

it.skipIf(isElsewhere).each(FONTS)('a page has text with the %s fonts', async (fonts) => {
  const browser = await launchBrowser({ fonts });
  try {
    const page = await browser.newPage();
    await page.goto(PAGE);
    expect((await page.locator('span').boundingBox())?.width).toBeGreaterThan(10);
  } finally {
    await browser.close();
  }
});

/** Hides folders, until `--`; then the command. */
const WITHOUT_FONTS = 'while [ "$1" != -- ]; do mount -t tmpfs tmpfs "$1"; shift; done; shift; exec "$@"';
const FOLDERS = ['/etc/fonts', '/usr/share/fonts', '/usr/local/share/fonts'].filter((path) => existsSync(path));

it.skipIf(isElsewhere || containerProblem() !== undefined)('neither needs fonts or a fontconfig of the machine', () => {
  const script = `
    const { launchBrowser } = await import('./dev/page/browser.ts');
    for (const fonts of ${JSON.stringify(FONTS)}) {
      const browser = await launchBrowser({ fonts });
      const page = await browser.newPage();
      await page.goto(${JSON.stringify(PAGE)});
      console.log(fonts, (await page.locator('span').boundingBox()).width > 10);
      await browser.close();
    }`;
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n', '-E'];
  const node = [process.execPath, '--input-type=module', '-e', script];
  const [command = '', ...args] = [...asRoot, 'unshare', '--mount', 'sh', '-ec', WITHOUT_FONTS, 'sh'];
  const written = execFileSync(command, [...args, ...FOLDERS, '--', ...node], { cwd: REPOSITORY, encoding: 'utf8' });
  expect(written).toBe('own true\nsystem true\n');
});
