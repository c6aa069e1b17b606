/** Entry point: drives the hooks of the cluster named by KUBECONFIG until SIGTERM or SIGINT. */
import { parseArgs } from 'node:util';
import { readKubeconfig } from '../client/kubeconfig.ts';
import { ApiClient } from './cluster/apiClient.ts';
import { Discovery } from './cluster/discovery.ts';
import type { Engine } from './cluster/engine.ts';
import { SharedInformers } from './cluster/informers.ts';
import { ControllerSet } from './controllers/controllerSet.ts';
import { hooksOverHttp } from './hooks/hookClient.ts';
import { systemClock } from './runtime/clock.ts';
import { LIMITS } from './runtime/limits.ts';
import { reasonOf, stderrLog } from './runtime/log.ts';

const HELP = `Usage: KUBECONFIG=FILE node dev/engine/main.ts [options]

Drives CompositeController and DecoratorController objects on one machine, in place of Metacontroller.

  --customize-cache-seconds N  how long an answer of a customize hook is kept (default 1200, as Metacontroller does)
  --help                       this text

Prints "engine ready" when the controllers that exist at the start have complete caches. Problems go to stderr,
one JSON line each. SIGTERM and SIGINT end it with exit 0.
`;

/** How long syncs that have begun may take to finish after a signal. */
const GRACE_MS = 2000;

interface Options {
  kubeconfig: string;
  customizeCacheMs: number;
}

/** Undefined when only help was asked for. Throws on an option that does not parse. */
function readOptions(args: string[], env: NodeJS.ProcessEnv): Options | undefined {
  const { values } = parseArgs({
    args,
    options: {
      'customize-cache-seconds': { type: 'string', default: '1200' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const seconds = Number(values['customize-cache-seconds']);
  if (!(seconds >= 0))
    throw new Error(`--customize-cache-seconds: not a number of seconds: ${values['customize-cache-seconds']}`);
  if (!env.KUBECONFIG) throw new Error('KUBECONFIG is not set: give it the path of a kubeconfig file');
  return { kubeconfig: env.KUBECONFIG, customizeCacheMs: seconds * 1000 };
}

async function run(options: Options): Promise<void> {
  const stop = new AbortController();
  const client = new ApiClient(readKubeconfig(options.kubeconfig), systemClock, stop.signal);
  const engine: Engine = {
    client,
    discovery: new Discovery(client, systemClock),
    informers: new SharedInformers(client, systemClock, stderrLog),
    hooks: hooksOverHttp(),
    clock: systemClock,
    log: stderrLog,
    workers: LIMITS.workers,
    customizeCacheMs: options.customizeCacheMs,
  };
  const controllers = new ControllerSet(engine, stop.signal);
  const end = () => {
    if (stop.signal.aborted) return;
    setTimeout(() => process.exit(0), GRACE_MS).unref();
    const finished = controllers.stop();
    stop.abort();
    void finished.finally(() => process.exit(0));
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
  await controllers.start();
  if (!stop.signal.aborted) process.stdout.write('engine ready\n');
}

try {
  const options = readOptions(process.argv.slice(2), process.env);
  if (options) await run(options);
  else process.stdout.write(HELP);
} catch (error) {
  process.stderr.write(`engine: ${reasonOf(error)}\n`);
  process.exit(1);
}
