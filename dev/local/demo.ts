/** `npm run demo`: a release, a closed RolloutGate and a forbidden edit on a real API server, with explanations. */
import { setTimeout as wait } from 'node:timers/promises';
import { openBrowser } from '../../cli/terminal/openBrowser.ts';
import { buildPage } from '../page/buildPage.ts';
import { servePageOn } from '../page/serveWith.ts';
import type { LocalCluster } from './cluster.ts';
import { type DemoFlux, withFakeFlux, withRealFlux } from './demo/flux.ts';
import { settleNeighbours } from './demo/neighbours.ts';
import { APP, HOME } from './demo/objects.ts';
import { createOutput } from './demo/output.ts';
import {
  contextOn,
  type DemoContext,
  directEdit,
  firstVersion,
  gateOpens,
  gitSync,
  heldVersion,
} from './demo/steps.ts';
import { logToStderr } from './process/log.ts';
import { metacontrollerOption, program } from './process/options.ts';
import { onTemporaryCluster } from './temporaryCluster.ts';

const ABOUT = `Starts a real API server on this machine and shows one release, from a new tag to the Flux objects, with a closed
RolloutGate and a forbidden edit. Exits with 0 only if every step had the expected result.`;

/** The pause between two steps, to read and look at the page. */
const PAUSE_MS = 5000;
/** The longest wait for the page to be opened. */
const OPEN_SECONDS = 30;

/** Opens the page. Resolves when the user presses Enter, or after a while. */
async function openFor(address: string): Promise<void> {
  process.stdout.write(`\nThe page, as an SRE: ${address}\n`);
  openBrowser(address);
  process.stdout.write(`Open it, then press Enter to begin. The demo begins by itself in ${OPEN_SECONDS} seconds.\n`);
  const pressed = new Promise<void>((resolve) => process.stdin.once('data', () => resolve()));
  await Promise.race([pressed, wait(OPEN_SECONDS * 1000)]);
  process.stdin.pause();
}

async function runSteps(context: DemoContext, pauseMs: number): Promise<void> {
  for (const step of [firstVersion, heldVersion, directEdit, gateOpens, gitSync]) {
    await step(context);
    await wait(pauseMs);
  }
}

interface Options {
  flux?: true;
  keep?: true;
  ui?: true;
  metacontroller?: string;
}

async function main(): Promise<number> {
  const {
    flux: isReal,
    metacontroller,
    ...shown
  } = program('npm run demo --', ABOUT)
    .option(
      '--flux',
      "with Flux's real source-controller and kustomize-controller, and a real registry, instead of a fake Flux; their first build takes about ten minutes",
    )
    .option('--keep', 'leave the cluster up afterwards, until Ctrl-C')
    .option(
      '--ui',
      'with applications in every state, and the page of `kubectl rollouts ui`; begins when you press Enter, or after half a minute, pauses between steps, and keeps running until Ctrl-C',
    )
    .addOption(metacontrollerOption())
    .parse()
    .opts<Options>();
  logToStderr('Starting a control plane on this machine …');
  const options = { prefix: 'rollout-hooks-demo-', metacontroller, failure: '\nThe demo stopped: ' };
  return onTemporaryCluster(options, async (cluster, interrupt) => {
    if (isReal) logToStderr('Starting source-controller, kustomize-controller and a registry');
    const starting = isReal ? withRealFlux(cluster.accessOf, logToStderr) : withFakeFlux(cluster.accessOf);
    const flux = await Promise.race([starting, interrupt]);
    if (!flux) return 130;
    try {
      return await runOn(cluster, interrupt, flux, shown);
    } finally {
      await flux.stop();
    }
  });
}

async function runOn(
  cluster: LocalCluster,
  interrupt: Promise<undefined>,
  flux: DemoFlux,
  { keep, ui }: Pick<Options, 'keep' | 'ui'>,
): Promise<number> {
  if (ui) {
    logToStderr('Creating other applications …');
    await settleNeighbours(cluster.accessOf);
  }
  const page = ui ? await servePageOn(cluster.kubeconfigOf('sre'), await buildPage()) : undefined;
  const running = (async () => {
    if (page) await openFor(page.address);
    const output = createOutput((text) => process.stdout.write(text));
    await runSteps(contextOn(cluster.accessOf, output, flux), ui ? PAUSE_MS : 0);
    return 'done' as const;
  })();
  const end = await Promise.race([running, interrupt, cluster.died]);
  if (end === undefined) return 130;
  if (end !== 'done') throw end;
  process.stdout.write('\nEvery step had the expected result.\n');
  if (keep || ui) {
    process.stdout.write(
      `\nThe cluster stays up until Ctrl-C. Look around as the team with the command (npm run build:cli makes it):\n` +
        `  export KUBECONFIG=${cluster.kubeconfigOf('developer')}\n  kubectl rollouts get ${APP} -n ${HOME}\n` +
        `As an admin: ${cluster.kubeconfigOf('admin')}\n`,
    );
    await Promise.race([interrupt, cluster.died]);
  }
  await page?.close();
  return 0;
}

process.exit(await main());
