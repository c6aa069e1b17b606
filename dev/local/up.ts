/** `npm run up`: a control plane with the hooks on this machine, until it is stopped. */
import { join, resolve } from 'node:path';
import { shell } from '../../core/text/shell.ts';
import { servePageInCluster, type TeamPage } from '../page/serveInCluster.ts';
import { REPOSITORY } from '../repository.ts';
import { type LocalCluster, startCluster } from './cluster.ts';
import { USERS } from './controlPlane/users.ts';
import { isOnPath, kubectlCommand } from './install/kustomize.ts';
import { endRequested } from './process/endRequested.ts';
import { logToStderr } from './process/log.ts';
import { metacontrollerOption, number, program } from './process/options.ts';
import { asProblem, reportProblem } from './process/problem.ts';

const DEFAULT_DIR = '.local/up';

const ABOUT = `Starts etcd, kube-apiserver and kube-controller-manager on loopback, installs the kinds, controllers and webhooks of
this repository, Flux's kinds and Metacontroller's, serves the hooks, and drives them. Prints one line when it is ready,
"ready kubeconfig=DIR/kubeconfig", and stays until Ctrl-C. There are no nodes: Jobs that copy releases (spec.targetRepository) run as processes of this
machine, other Pods do not run. DIR/kubeconfig is cluster admin, DIR/developer.kubeconfig an application team; logs are
DIR/*.log. Flux's controllers do not run either, so you write their statuses. The tag that an ImagePolicy selects:

  kubectl patch imagepolicy my-app --subresource=status --type=merge \\
    -p '{"status":{"latestRef":{"name":"example.com/my-app","tag":"1.0.0"}}}'

\`npm run demo -- --flux --keep\` leaves a cluster with real ones.

Settings of the hook server come from the environment (node main.ts --help lists them): ON_FAILURE=Hold npm run up`;

interface UpOptions {
  dir: string;
  port?: number;
  metacontroller?: string;
  uiInCluster?: true;
}

function readOptions(): UpOptions {
  const { dir, ...options } = program('npm run up --', ABOUT)
    .option(
      '--dir <dir>',
      `where state, logs and kubeconfigs go (${DEFAULT_DIR}); a later start continues with what is there`,
    )
    .option(
      '--port <n>',
      'port of the API server (that of the last start in DIR, if it is free; else a free one)',
      number(1, 65_535),
    )
    .addOption(metacontrollerOption())
    .option(
      '--ui-in-cluster',
      'serve the page as the component ui does, with an OIDC issuer beside it: sign in as developer or sre',
    )
    .parse()
    .opts<Partial<UpOptions>>();
  return { ...options, dir: resolve(dir ?? join(REPOSITORY, DEFAULT_DIR)) };
}

async function startWithPage(options: UpOptions): Promise<Pick<LocalCluster, 'died' | 'stop'>> {
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
function howToUse(kubeconfig: string, kubectl: string | undefined): string {
  const path = kubectl === undefined ? '' : `\n  ${shell`alias kubectl=${kubectl}`}`;
  return `In another terminal:
  ${shell`export KUBECONFIG=${kubeconfig}`}${path}
  npm run build:cli && npm install --global ./dist/cli   # the command kubectl rollouts
  kubectl rollouts ui                                    # the page`;
}

/** Serves until the end. Resolves to the exit code. */
async function serve(options: UpOptions, end: Promise<void>): Promise<number> {
  const cluster = await Promise.race([startWithPage(options), end]);
  // A signal during the start: the exit ends the children.
  if (!cluster) return 0;
  const file = join(options.dir, USERS.admin.file);
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
    reportProblem(asProblem(error));
    return 1;
  }
}

process.exit(await main());
