/** Entry point: drives the hooks of the cluster named by KUBECONFIG until SIGTERM or SIGINT. */
import { readKubeconfig } from '../client/kubeconfig.ts';
import { createEngine } from './cluster/engine.ts';
import { ControllerSet } from './controllers/controllerSet.ts';
import { hooksOverHttp } from './hooks/hookClient.ts';
import { systemClock } from './runtime/clock.ts';
import { reasonOf, stderrLog } from './runtime/log.ts';

/** The time that syncs in progress have to finish after a signal. */
const GRACE_MS = 2000;

async function run(kubeconfig: string): Promise<void> {
  const stop = new AbortController();
  const services = { hooks: hooksOverHttp(), clock: systemClock, log: stderrLog };
  const engine = createEngine(readKubeconfig(kubeconfig), services, stop.signal);
  const controllers = new ControllerSet(engine);
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
  const { KUBECONFIG } = process.env;
  if (!KUBECONFIG) throw new Error('KUBECONFIG is not set: give it the path of a kubeconfig file');
  await run(KUBECONFIG);
} catch (error) {
  process.stderr.write(`engine: ${reasonOf(error)}\n`);
  process.exit(1);
}
