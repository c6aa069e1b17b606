/**
 * The moving picture of the promotion page: a version is promoted, fails and is rolled back, and its fix is promoted to
 * the end.
 */
import type { Page } from 'playwright-core';
import { imagePolicy, ref, rollout } from '../actors/objects.ts';
import { User } from '../actors/user.ts';
import type { LocalCluster } from '../local/cluster.ts';
import { until } from '../local/process/until.ts';
import { launchBrowser } from '../page/browser.ts';
import { buildPage } from '../page/buildPage.ts';
import { servePageOn } from '../page/serveWith.ts';
import { animated, type Frame } from './apng.ts';

const STORE = 'store';
const STAGES = ['staging', 'eu', 'us'];
const SIZE = { width: 940, height: 620 };
const FRAME_MS = 2600;

export async function takeMovingPicture(cluster: LocalCluster): Promise<Buffer> {
  const admin = new User(cluster.accessOf('admin'));
  await settle(admin);
  const server = await servePageOn(cluster.kubeconfigOf('sre'), await buildPage(), { namespace: STORE });
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage({ viewport: SIZE, colorScheme: 'light', reducedMotion: 'reduce' });
    await page.goto(`${server.origin}/promotion#${server.address.split('#')[1]}`);
    await page.evaluate('document.fonts.ready');
    return animated(await takeFrames(admin, page));
  } finally {
    await browser.close();
    await server.close();
  }
}

async function settle(admin: User): Promise<void> {
  await admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: STORE } });
  await admin.create(imagePolicy(STORE, 'store'));
  for (const [index, name] of STAGES.entries()) {
    const after = STAGES.slice(0, index).slice(-1);
    const spec = {
      releasesImagePolicy: { name: 'store' },
      bakeTime: '30m',
      onFailure: 'Rollback',
      after: after.map((stage) => ({ name: stage })),
    };
    await admin.create(rollout(STORE, name, { spec }));
  }
}

async function takeFrames(admin: User, page: Page): Promise<Frame[]> {
  const frames: Frame[] = [];
  const shown = async (text: string) => {
    await subtitle(page, text);
    // The stream sends simultaneous changes together.
    await page.waitForTimeout(700);
    frames.push({ png: await page.screenshot(), milliseconds: FRAME_MS });
  };
  const deploy = async (stage: string, version: string) => {
    await runs(admin, stage, version);
    await end(admin, stage, 'Succeeded');
  };
  await publish(admin, '1.0.0');
  for (const stage of STAGES) await deploy(stage, '1.0.0');
  await shown('1.0.0 runs everywhere');
  await publish(admin, '1.1.0');
  await runs(admin, 'staging', '1.1.0');
  await shown('1.1.0 is published: staging bakes it, the others wait');
  await end(admin, 'staging', 'Succeeded');
  await runs(admin, 'eu', '1.1.0');
  await shown('it has succeeded in staging: now eu bakes it');
  await end(admin, 'eu', 'Failed');
  await runs(admin, 'eu', '1.0.0');
  await shown('it fails in eu, which goes back to 1.0.0 at once; us never gets it');
  await end(admin, 'eu', 'Succeeded');
  await publish(admin, '1.1.1');
  await deploy('staging', '1.1.1');
  await runs(admin, 'eu', '1.1.1');
  await shown('the fix, 1.1.1, has passed staging');
  await deploy('eu', '1.1.1');
  await deploy('us', '1.1.1');
  await shown('and goes all the way');
  return frames;
}

async function publish(admin: User, tag: string): Promise<void> {
  const latestRef = { name: 'registry.example/store', tag, digest: null };
  await admin.patchStatus(ref('imagePolicy', STORE, 'store'), { latestRef });
}

const headOf = async (admin: User, stage: string) => {
  const { status } = await admin.get(ref('rollout', STORE, stage));
  return status?.history ?? [];
};

async function runs(admin: User, stage: string, version: string): Promise<void> {
  await until(`${stage} to bake ${version}`, async () => {
    const [head] = await headOf(admin, stage);
    return (head?.version.tag === version && head.bakeStatus === 'InProgress') || undefined;
  });
}

/** Ends a bake, as clients may do. */
async function end(admin: User, stage: string, bakeStatus: 'Succeeded' | 'Failed'): Promise<void> {
  await until(`the bake of ${stage} to end`, async () => {
    const [head, ...older] = await headOf(admin, stage);
    if (head?.bakeStatus !== 'InProgress') return undefined;
    await admin.patchStatus(ref('rollout', STORE, stage), { history: [{ ...head, bakeStatus }, ...older] });
    return true;
  });
}

/** Shows a line of text at the bottom. */
function subtitle(page: Page, text: string): Promise<void> {
  return page.evaluate((said) => {
    const { document } = globalThis as any;
    const known = document.getElementById('subtitle');
    const line = known ?? document.createElement('div');
    line.id = 'subtitle';
    line.textContent = said;
    Object.assign(line.style, {
      position: 'fixed',
      inset: 'auto 0 0',
      padding: '14px 24px',
      font: '600 17px Inter Variable',
      color: '#fff',
      background: '#22283a',
    });
    if (!known) document.body.append(line);
  }, text);
}
