/**
 * `node dev/pictures/pictures.ts`: makes docs/pictures, of the page and of the command, in the middle of `npm run demo
 * -- --ui`.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { run } from '../../cli/runCommand.ts';
import type { LocalCluster } from '../local/cluster.ts';
import { type DemoFlux, withFakeFlux } from '../local/demo/flux.ts';
import { settleNeighbours } from '../local/demo/neighbours.ts';
import { HOME } from '../local/demo/objects.ts';
import { createOutput } from '../local/demo/output.ts';
import { contextOn, firstVersion, heldVersion } from '../local/demo/steps.ts';
import { program } from '../local/process/options.ts';
import { onTemporaryCluster } from '../local/temporaryCluster.ts';
import { launchBrowser } from '../page/browser.ts';
import { buildPage } from '../page/buildPage.ts';
import { servePageOn } from '../page/serveWith.ts';
import { REPOSITORY } from '../repository.ts';

const OUT = join(REPOSITORY, 'docs/pictures');

const ABOUT = `Takes the pictures of docs/pictures again. Runs \`npm run demo -- --ui\` on a cluster of its own until a version waits,
and takes pictures of the page and of \`kubectl rollouts get\`. The terminal uses DejaVu Sans Mono if installed.`;

/** Runs the demo until a version waits. */
async function runDemo(cluster: LocalCluster, flux: DemoFlux): Promise<void> {
  await settleNeighbours(cluster.accessOf);
  const context = contextOn(
    cluster.accessOf,
    createOutput(() => {}),
    flux,
  );
  await firstVersion(context);
  await heldVersion(context);
}

async function takePictures(cluster: LocalCluster): Promise<void> {
  mkdirSync(OUT, { recursive: true });
  const server = await servePageOn(cluster.kubeconfigOf('sre'), await buildPage());
  const browser = await launchBrowser();
  try {
    const pages: [name: string, path: string, scheme: 'light' | 'dark', height: number][] = [
      ['board', '/', 'light', 640],
      ['application', `/rollout/${HOME}/my-app`, 'light', 760],
      ['gates', '/gates', 'dark', 560],
      ['promotion', '/promotion', 'light', 560],
    ];
    for (const [name, path, colorScheme, height] of pages) {
      const page = await browser.newPage({ viewport: { width: 1240, height }, colorScheme, reducedMotion: 'reduce' });
      await page.goto(`${server.origin}${path}#${server.address.split('#')[1]}`);
      await page.locator('.row, .path, .band, .graph-node').first().waitFor();
      await page.evaluate('document.fonts.ready');
      await page.screenshot({ path: join(OUT, `${name}.png`) });
      await page.close();
    }
  } finally {
    await browser.close();
    await server.close();
  }
}

/** Takes the picture of the command in a terminal, with colours. */
async function takeTerminal(cluster: LocalCluster): Promise<void> {
  // Trees have characters that the package's fonts lack.
  const browser = await launchBrowser({ fonts: 'system' });
  const args = ['get', 'my-app', '-n', HOME];
  const text = await outputOf(args, cluster.kubeconfigOf('sre'));
  const page = await browser.newPage({ viewport: { width: 760, height: 100 }, deviceScaleFactor: 1.5 });
  await page.setContent(`<style>
    body { margin: 0; padding: 18px 22px; background: #14181e; color: #e8eaee; font: 14px/1.5 "DejaVu Sans Mono", monospace; }
    pre { margin: 0; font: inherit; white-space: pre-wrap; } .c1 { font-weight: bold } .c2 { opacity: .65 }
    .c31 { color: #ff8f87 } .c32 { color: #5ccb95 } .c33 { color: #eab354 } .c34, .c36 { color: #98a6ff } .c90 { color: #8a93a2 }
  </style><pre><span class="c90">$ kubectl rollouts ${args.join(' ')}</span>\n${html(text)}</pre>`);
  const box = await page.locator('body').boundingBox();
  await page.setViewportSize({ width: 760, height: Math.ceil(box?.height ?? 200) });
  await page.screenshot({ path: join(OUT, 'get.png') });
  await browser.close();
}

async function outputOf(args: string[], kubeconfig: string): Promise<string> {
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns: 100, rows: 40 });
  const chunks: Buffer[] = [];
  stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  await run({
    args,
    env: { KUBECONFIG: kubeconfig, FORCE_COLOR: '1', TERM: 'xterm-256color' },
    program: 'kubectl rollouts',
    version: '',
    now: () => Date.now(),
    timeZone: 'UTC',
    signal: new AbortController().signal,
    stdout: stdout as never,
    stderr: new PassThrough() as never,
    stdin: new PassThrough() as never,
  });
  return Buffer.concat(chunks).toString('utf8');
}

/** The text as HTML, with the terminal's colours as classes. */
function html(text: string): string {
  let open = 0;
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminal output contains escape codes.
  const spans = escaped.replace(/\x1b\[([\d;]*)m/g, (_, codes: string) => {
    const on = codes.split(';').filter((code) => /^(1|2|3[1-6]|90)$/.test(code));
    if (on.length > 0) {
      open++;
      return `<span class="${on.map((code) => `c${code}`).join(' ')}">`;
    }
    if (open === 0) return '';
    open--;
    return '</span>';
  });
  return spans + '</span>'.repeat(open);
}

program('node dev/pictures/pictures.ts', ABOUT).parse();
process.exit(
  await onTemporaryCluster({ prefix: 'rollout-hooks-pictures-' }, async (cluster) => {
    const flux = withFakeFlux(cluster.accessOf);
    await runDemo(cluster, flux);
    await takePictures(cluster);
    await takeTerminal(cluster);
    await flux.stop();
    process.stdout.write(`Taken: ${OUT}\n`);
    return 0;
  }),
);
