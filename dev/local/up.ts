/** `npm run up`: a control plane with the hooks on this machine, until it is stopped. */
import { join, resolve } from 'node:path';
import { Option } from 'commander';
import { shell } from '../../core/text/shell.ts';
import { servePageInCluster, type TeamPage } from '../page/serveInCluster.ts';
import { REPOSITORY } from '../repository.ts';
import { startCluster } from './cluster.ts';
import { USERS } from './controlPlane/users.ts';
import { type ServedCluster, serveCluster } from './existing/existingCluster.ts';
import { isOnPath, kubectlCommand } from './install/kustomize.ts';
import { endRequested } from './process/endRequested.ts';
import { logToStderr } from './process/log.ts';
import { metacontrollerOption, number, program } from './process/options.ts';
import { asProblem, reportProblem } from './process/problem.ts';

const DEFAULT_DIR = '.local/up';
/** A directory of its own, since a control plane and an existing cluster can be served at the same time. */
const EXISTING_DIR = '.local/existing';

const ABOUT = `Starts etcd, kube-apiserver and kube-controller-manager on loopback, installs the kinds, controllers and webhooks of
this repository, Flux's kinds and Metacontroller's, serves the hooks, and drives them. Prints one line when it is ready,
"ready kubeconfig=DIR/kubeconfig", and stays until Ctrl-C. There are no nodes: Jobs that copy releases (spec.targetRepository) run as processes of this
machine, other Pods do not run. DIR/kubeconfig is cluster admin, DIR/developer.kubeconfig an application team; logs are
DIR/*.log. Flux's controllers do not run either, so you write their statuses. The tag that an ImagePolicy selects:

  kubectl patch imagepolicy my-app --subresource=status --type=merge \\
    -p '{"status":{"latestRef":{"name":"example.com/my-app","tag":"1.0.0"}}}'

\`npm run demo -- --flux --keep\` leaves a cluster with real ones.

With --kubeconfig it starts no control plane: it serves the cluster of FILE's current context, as cluster admin. Its API
server must run on this machine, outside of any container. Installs kinds (Flux's and Metacontroller's where it has
none), rights, webhooks and controllers; webhooks and controllers are removed at the end, the rest stays. The line is
then ready kubeconfig=FILE.

Settings of the hook server come from the environment (node main.ts --help lists them): ON_FAILURE=Hold npm run up`;

interface UpOptions {
  dir: string;
  port?: number;
  kubeconfig?: string;
  metacontroller?: string;
  uiInCluster?: true;
}

function readOptions(): UpOptions {
  const { dir, ...options } = program('npm run up --', ABOUT)
    .option(
      '--dir <dir>',
      `where state, logs and kubeconfigs go (${DEFAULT_DIR}, with --kubeconfig ${EXISTING_DIR}); a later start continues with what is there`,
    )
    .addOption(
      new Option('--port <n>', 'port of the API server (that of the last start in DIR, if it is free; else a free one)')
        .argParser(number(1, 65_535))
        .conflicts('kubeconfig'),
    )
    .option('--kubeconfig <file>', 'serve the cluster of this file', (file) => resolve(file))
    .addOption(metacontrollerOption())
    .addOption(
      new Option(
        '--ui-in-cluster',
        'serve the page as the component ui does, with an OIDC issuer beside it: sign in as developer or sre',
      ).conflicts('kubeconfig'),
    )
    .parse()
    .opts<Partial<UpOptions>>();
  return { ...options, dir: resolve(dir ?? join(REPOSITORY, options.kubeconfig ? EXISTING_DIR : DEFAULT_DIR)) };
}

async function startWithPage(options: UpOptions): Promise<ServedCluster> {
  const cluster = await startCluster({ ...options, log: logToStderr });
  if (!options.uiInCluster) return cluster;
  const page: TeamPage = await servePageInCluster(cluster.accessOf('admin'), options.dir);
  logToStderr(`The page for a team: ${page.origin}, with the issuer ${page.issuer}. Sign in as developer or sre`);
  return {
    ...cluster,
    async stop() {
      await page.close();
      await cluster.stop();
    },
  };
}

/** The commands for another terminal. `kubectl`: the path of kubectl, if the PATH has none. */
export function howToUse(kubeconfig: string, kubectl: string | undefined): string {
  const path = kubectl === undefined ? '' : `\n  ${shell`alias kubectl=${kubectl}`}`;
  return `In another terminal:\n  ${shell`export KUBECONFIG=${kubeconfig}`}${path}`;
}

/** Serves until the end. Resolves to the exit code. */
async function serve(options: UpOptions, end: Promise<void>): Promise<number> {
  const { kubeconfig, dir } = options;
  const starting: Promise<ServedCluster> = kubeconfig
    ? serveCluster({ ...options, kubeconfig, log: logToStderr })
    : startWithPage(options);
  const cluster = await Promise.race([starting, end]);
  if (!cluster) {
    // A signal during the start: the exit ends the children, but an existing cluster must be left clean.
    if (kubeconfig) await (await starting).stop();
    return 0;
  }
  const file = kubeconfig ?? join(dir, USERS.admin.file);
  process.stdout.write(`ready kubeconfig=${file}\n`);
  logToStderr(howToUse(file, isOnPath('kubectl') ? undefined : await kubectlCommand()));
  const problem = await Promise.race([end, cluster.died]);
  if (problem) reportProblem(problem);
  else logToStderr('Stopping');
  await cluster.stop();
  return problem ? 1 : 0;
}

async function main(): Promise<number> {
  const options = readOptions();
  try {
    return await serve(options, endRequested());
  } catch (error) {
    reportProblem(asProblem(error, options.dir));
    return 1;
  }
}

if (import.meta.main) process.exit(await main());
