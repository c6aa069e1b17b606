/** `npm run demo`: the main job, done on a real API server and told as a story. */
import { setTimeout as wait } from 'node:timers/promises';
import { openBrowser } from '../../cli/terminal/openBrowser.ts';
import { buildPage } from '../page/buildPage.ts';
import { servePageOn } from '../page/serveWith.ts';
import type { LocalCluster } from './cluster.ts';
import { directEdit, firstVersion, gateOpens, gitSync, heldVersion, type Stage, stageOn } from './demo/chapters.ts';
import { withFlux } from './demo/flux.ts';
import { settleNeighbours } from './demo/neighbours.ts';
import { createStory, terminalOf } from './demo/story.ts';
import { logToStderr } from './process/log.ts';
import { parseOptions, readCommandLine } from './process/options.ts';
import { onTemporaryCluster } from './temporaryCluster.ts';

const HELP = `Usage: npm run demo -- [--keep] [--ui] [--metacontroller PATH]

Starts a real API server on this machine and shows one release, from a new tag to the Flux objects, past a gate and
against a direct edit. Exits with 0 only when every step was really seen.

  --keep                 leave the cluster up afterwards, until Ctrl-C
  --ui                   with other applications beside it, and the page of \`kubectl rollouts ui\` open; tells slowly, and leaves all up until Ctrl-C
  --metacontroller PATH  drive the hooks with this Metacontroller instead of the engine (default: $METACONTROLLER)
  --help                 this text
`;

/** Between two chapters: somebody reads, and looks at the page. */
const PAUSE_MS = 5000;

async function tell(stage: Stage, pauseMs: number): Promise<void> {
  for (const chapter of [firstVersion, heldVersion, directEdit, gateOpens, gitSync]) {
    await chapter(stage);
    await wait(pauseMs);
  }
}

function read(args: string[]) {
  const options = { keep: { type: 'boolean' }, ui: { type: 'boolean' }, metacontroller: { type: 'string' } } as const;
  return parseOptions({ args, options }).values;
}

async function main(): Promise<number> {
  const { keep = false, ui = false, metacontroller } = readCommandLine(HELP, read);
  logToStderr('Starting a control plane on this machine …');
  const options = { prefix: 'rollout-hooks-demo-', metacontroller, failure: '\nThe demo stopped: ' };
  return onTemporaryCluster(options, (cluster, interrupt) => tellOn(cluster, interrupt, { keep, ui }));
}

interface Manner {
  keep: boolean;
  ui: boolean;
}

async function tellOn(cluster: LocalCluster, interrupt: Promise<undefined>, { keep, ui }: Manner): Promise<number> {
  const played = withFlux(cluster.accessOf);
  if (ui) {
    logToStderr('Other applications move in beside it …');
    await settleNeighbours(cluster.accessOf);
  }
  const page = ui ? await servePageOn(cluster.kubeconfigOf('sre'), await buildPage()) : undefined;
  if (page) {
    process.stdout.write(`\nThe page, as an SRE: ${page.address}\n`);
    openBrowser(page.address);
  }
  const story = createStory((text) => process.stdout.write(text), terminalOf(process.stdout, process.env));
  const stage = stageOn(cluster.accessOf, story);
  const end = await Promise.race([tell(stage, ui ? PAUSE_MS : 0).then(() => 'told' as const), interrupt, cluster.died]);
  if (end === undefined) return 130;
  if (end !== 'told') throw end;
  process.stdout.write('\nEvery step was seen.\n');
  if (keep || ui) {
    process.stdout.write(
      `\nThe cluster stays up until Ctrl-C. Look around with\n  export KUBECONFIG=${cluster.kubeconfigOf('admin')}\n` +
        '  kubectl -n apps get rollouts,rolloutgates,fluxbindings,kustomizations,ocirepositories\n' +
        `and as the team with ${cluster.kubeconfigOf('developer')}\n`,
    );
    await Promise.race([interrupt, cluster.died]);
  }
  await Promise.all([page?.close(), played.stop()]);
  return 0;
}

process.exit(await main());
