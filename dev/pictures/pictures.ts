/** `node dev/pictures/pictures.ts`: makes docs/pictures, of the page in the middle of `npm run demo -- --ui`. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
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
and takes pictures of the page.`;

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

program('node dev/pictures/pictures.ts', ABOUT).parse();
process.exit(
  await onTemporaryCluster({ prefix: 'rollout-hooks-pictures-' }, async (cluster) => {
    const flux = withFakeFlux(cluster.accessOf);
    await runDemo(cluster, flux);
    await takePictures(cluster);
    await flux.stop();
    process.stdout.write(`Taken: ${OUT}\n`);
    return 0;
  }),
);
