/** The real Flux controllers (pinned in dev/tools/flux), each as the ServiceAccount that Flux installs it with. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { User } from '../../actors/user.ts';
import { provideGoBinary } from '../binaries/goBinary.ts';
import { serviceAccountKubeconfig } from '../controlPlane/serviceAccount.ts';
import { type RunningChild, startChild } from '../process/childProcess.ts';
import { freePort } from '../process/ports.ts';

const NAMESPACE = 'flux-system';

export interface FluxControllers {
  stop(): Promise<void>;
}

type ControllerName = 'source-controller' | 'kustomize-controller' | 'helm-controller';

/** Builds them where the cache has none: ten minutes on two cores. Resolves when all are ready. `withHelm`: helm-controller too. */
export async function startFlux(admin: User, { withHelm = false } = {}): Promise<FluxControllers> {
  const dir = mkdtempSync(join(tmpdir(), 'flux-'));
  const storage = `127.0.0.1:${await freePort()}`;
  const started: RunningChild[] = [];
  const stop = () => Promise.all(started.map((child) => child.stop()));
  const start = async (name: ControllerName, args: string[]) => {
    const kubeconfig = join(dir, `${name}.kubeconfig`);
    const account = { namespace: NAMESPACE, name };
    writeFileSync(kubeconfig, await serviceAccountKubeconfig(admin, account, 'cluster-admin'), { mode: 0o600 });
    const [health, metrics] = [await freePort(), await freePort()];
    started.push(
      await startChild({
        name,
        command: await provideGoBinary(`flux/${name}`, `github.com/fluxcd/${name}`),
        args: [
          '--watch-all-namespaces',
          '--enable-leader-election=false',
          `--health-addr=127.0.0.1:${health}`,
          `--metrics-addr=127.0.0.1:${metrics}`,
          ...args,
        ],
        dir,
        env: { KUBECONFIG: kubeconfig, RUNTIME_NAMESPACE: NAMESPACE, TMPDIR: dir },
        ready: async () => (await fetch(`http://127.0.0.1:${health}/readyz`)).ok,
        readyTimeoutMs: 120_000,
      }),
    );
  };
  mkdirSync(join(dir, 'storage'));
  try {
    await start('source-controller', [
      `--storage-path=${join(dir, 'storage')}`,
      `--storage-addr=${storage}`,
      `--storage-adv-addr=${storage}`,
    ]);
    await start('kustomize-controller', []);
    if (withHelm) await start('helm-controller', []);
  } catch (error) {
    // The directory stays: the error names a log in it.
    await stop();
    throw error;
  }
  return {
    async stop() {
      await stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
