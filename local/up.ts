/** `npm run up`: a control plane with the hooks on this machine, until it is told to stop. */
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { REPOSITORY } from './cache.ts';
import { type LocalCluster, startCluster } from './cluster.ts';
import { logToStderr } from './log.ts';
import { asProblem, Problem } from './problem.ts';

const DEFAULT_DIR = '.local/up';

const HELP = `Usage: npm run up -- [options]

Starts etcd, kube-apiserver and kube-controller-manager on loopback, installs the kinds, controllers and webhooks of this
repository, Flux's kinds and Metacontroller's, serves the hooks, and drives them. Prints one line when it is ready,
  ready kubeconfig=DIR/kubeconfig
and stays until Ctrl-C. DIR/kubeconfig is cluster admin, DIR/developer.kubeconfig an application team; logs are DIR/*.log.

  --dir DIR              where state, logs and kubeconfigs go (default ${DEFAULT_DIR}); a later start continues with what is there
  --port N               port of the API server (default: a free one)
  --metacontroller PATH  drive the hooks with this Metacontroller instead of the engine (default: $METACONTROLLER)
  --no-hooks             only the API server with all kinds: no hook server, no controllers, no webhooks
  --help                 this text
`;

interface UpOptions {
  dir: string;
  port?: number;
  metacontroller?: string;
  hooks: boolean;
  help: boolean;
}

/** Reads the command line; throws a Problem for what it does not know. */
export function parseUpOptions(args: string[], env: NodeJS.ProcessEnv): UpOptions {
  const { values } = parse(args);
  const port = values.port === undefined ? undefined : Number(values.port);
  if (port !== undefined && !(Number.isInteger(port) && port > 0 && port < 65_536)) {
    throw new Problem(`--port ${values.port} is not a port: give a number from 1 to 65535.`);
  }
  return {
    dir: resolve(values.dir ?? join(REPOSITORY, DEFAULT_DIR)),
    port,
    metacontroller: values.metacontroller ?? (env.METACONTROLLER || undefined),
    hooks: !values['no-hooks'],
    help: values.help ?? false,
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        dir: { type: 'string' },
        port: { type: 'string' },
        metacontroller: { type: 'string' },
        'no-hooks': { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new Problem(`${(error as Error).message.split('. ')[0]}: see npm run up -- --help.`);
  }
}

/** Resolves when somebody asks for the end: a signal, or the death of the npm that started this. */
function endRequested(): Promise<void> {
  return new Promise((end) => {
    process.on('SIGINT', () => end());
    process.on('SIGTERM', () => end());
    process.on('SIGHUP', () => end());
    const parent = process.ppid;
    if (process.env.npm_lifecycle_event === undefined) return;
    setInterval(() => process.ppid !== parent && end(), 500).unref();
  });
}

function report(problem: Problem): void {
  logToStderr(problem.message);
  for (const line of problem.details) logToStderr(`  ${line}`);
}

async function main(): Promise<number> {
  let dir = DEFAULT_DIR;
  let cluster: LocalCluster | undefined;
  const end = endRequested();
  try {
    const options = parseUpOptions(process.argv.slice(2), process.env);
    dir = options.dir;
    if (options.help) {
      process.stdout.write(HELP);
      return 0;
    }
    const starting = startCluster({ ...options, log: logToStderr });
    const first = await Promise.race([starting, end]);
    // Asked to end while still starting: the exit below ends the children that are there.
    if (!first) return 0;
    cluster = first;
    process.stdout.write(`ready kubeconfig=${cluster.kubeconfigOf('admin')}\n`);
    const problem = await Promise.race([end, cluster.died]);
    if (problem) report(problem);
    else logToStderr('Stopping');
    return problem ? 1 : 0;
  } catch (error) {
    report(asProblem(error, dir));
    return 1;
  } finally {
    await cluster?.stop();
  }
}

if (import.meta.main) process.exit(await main());
