/**
 * The real Flux controllers and Flux Operator (pinned in ../binaries/goModules.ts), each as the ServiceAccount that
 * Flux installs it with.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { User } from '../../actors/user.ts';
import type { AnyObject } from '../../client/send.ts';
import { NOTIFICATION_CONTROLLER, provideCrds } from '../binaries/crdModules.ts';
import { moduleFolder, provideGoBinary } from '../binaries/goBinary.ts';
import { goModule } from '../binaries/goModules.ts';
import { serviceAccountKubeconfig } from '../controlPlane/serviceAccount.ts';
import { installKinds } from '../install/kinds.ts';
import { type RunningChild, startChild } from '../process/childProcess.ts';
import type { Log } from '../process/log.ts';
import { freePort } from '../process/ports.ts';
import { temporaryDirectory } from '../process/temporaryDirectory.ts';

const NAMESPACE = 'flux-system';

type ControllerName = 'source-controller' | 'kustomize-controller' | 'helm-controller' | 'notification-controller';

interface Options {
  withHelm?: boolean;
  /** Starts Flux Operator too, with its CRDs. */
  withOperator?: boolean;
  /**
   * Starts notification-controller too, with its CRDs; it receives events at this address, such as `127.0.0.1:9090`.
   */
  eventsAddress?: string | undefined;
  log?: Log;
}

/** Starts Flux, built if the cache lacks it: ten minutes on two cores. Resolves when all controllers are ready. */
export async function startFlux(admin: User, { withHelm, withOperator, eventsAddress, log }: Options = {}) {
  const directory = temporaryDirectory('flux-');
  const dir = directory.path;
  const started: RunningChild[] = [];
  const stop = () => Promise.all(started.map((child) => child.stop()));
  const start = async (name: string, command: string, args: string[], env: Record<string, string> = {}) => {
    const kubeconfig = join(dir, `${name}.kubeconfig`);
    const account = { namespace: NAMESPACE, name };
    writeFileSync(kubeconfig, await serviceAccountKubeconfig(admin, account, 'cluster-admin'), { mode: 0o600 });
    const health = await freePort();
    const listens = ['--enable-leader-election=false', `--health-addr=127.0.0.1:${health}`, '--metrics-addr=0'];
    started.push(
      await startChild({
        name,
        command,
        args: [...listens, ...args],
        dir,
        env: { KUBECONFIG: kubeconfig, RUNTIME_NAMESPACE: NAMESPACE, TMPDIR: dir, ...env },
        ready: async () => (await fetch(`http://127.0.0.1:${health}/readyz`)).ok,
      }),
    );
  };
  const startController = async (name: ControllerName, args: string[] = []) =>
    start(name, await provideGoBinary(name, { log }), ['--watch-all-namespaces', ...args]);
  const startOperator = async () => {
    for (const crd of await operatorCrds()) await admin.create(crd);
    const command = await provideGoBinary('flux-operator', { program: 'cmd/operator', log });
    // Flux Operator refuses to run without FIPS mode.
    const env = { GODEBUG: 'fips140=on' };
    await start('flux-operator', command, [`--web-server-port=${await freePort()}`, `--storage-path=${dir}`], env);
  };
  const startNotifications = async (address: string) => {
    await installKinds(admin.access, [], await provideCrds(() => {}, [NOTIFICATION_CONTROLLER]));
    const receiver = `--receiverAddr=127.0.0.1:${await freePort()}`;
    await startController('notification-controller', [`--events-addr=${address}`, receiver]);
  };
  mkdirSync(join(dir, 'storage'));
  const storage = `127.0.0.1:${await freePort()}`;
  try {
    await startController('source-controller', [
      `--storage-path=${join(dir, 'storage')}`,
      `--storage-addr=${storage}`,
      `--storage-adv-addr=${storage}`,
    ]);
    await startController('kustomize-controller');
    if (withHelm) await startController('helm-controller');
    if (withOperator) await startOperator();
    if (eventsAddress) await startNotifications(eventsAddress);
  } catch (error) {
    // The error names a log in the directory.
    directory.keep();
    await stop();
    throw error;
  }
  return {
    async stop() {
      await stop();
      directory.remove();
    },
  };
}

export type FluxControllers = Awaited<ReturnType<typeof startFlux>>;

async function operatorCrds(): Promise<AnyObject[]> {
  const folder = join(await moduleFolder(goModule('flux-operator'), tmpdir()), 'config/crd/bases');
  return readdirSync(folder).map((file) => parse(readFileSync(join(folder, file), 'utf8')) as AnyObject);
}
