/**
 * A real kube-state-metrics (pinned in ../binaries/goModules.ts) with our configuration, as a ServiceAccount with the
 * shipped role.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { User } from '../../actors/user.ts';
import { provideGoBinary } from '../binaries/goBinary.ts';
import { serviceAccountKubeconfig } from '../controlPlane/serviceAccount.ts';
import { startChild } from '../process/childProcess.ts';
import type { Log } from '../process/log.ts';
import { freePort } from '../process/ports.ts';
import { temporaryDirectory } from '../process/temporaryDirectory.ts';
import { EXPORTER_CONFIG, exporterRole } from './component.ts';

/** Builds kube-state-metrics if the cache lacks it. Resolves to the binary's path. */
export const provideKubeStateMetrics = (log?: Log): Promise<string> => provideGoBinary('kube-state-metrics', { log });

/** Starts kube-state-metrics, with a ServiceAccount in the namespace. */
export async function startKubeStateMetrics(admin: User, namespace: string) {
  const command = await provideKubeStateMetrics();
  const { path: dir, remove } = temporaryDirectory('kube-state-metrics-');
  const kubeconfig = join(dir, 'kubeconfig');
  writeFileSync(kubeconfig, await kubeconfigOf(admin, namespace), { mode: 0o600 });
  const [port, telemetryPort] = [await freePort(), await freePort()];
  const host = `127.0.0.1:${port}`;
  const child = await startChild({
    name: 'kube-state-metrics',
    command,
    args: [
      `--kubeconfig=${kubeconfig}`,
      '--custom-resource-state-only',
      `--custom-resource-state-config-file=${EXPORTER_CONFIG}`,
      '--host=127.0.0.1',
      `--port=${port}`,
      '--telemetry-host=127.0.0.1',
      `--telemetry-port=${telemetryPort}`,
    ],
    dir,
    ready: async () => (await fetch(`http://${host}/healthz`)).ok,
  });
  return {
    child,
    /** `127.0.0.1:port`. */
    host,
    /** Series of a namespace, `name{label="value",…}` → value, without the labels that all of them have. */
    async series(wanted: string) {
      const text = await (await fetch(`http://${host}/metrics`)).text();
      return seriesOf(text, wanted);
    },
    /** Error lines of the log. */
    errors: () =>
      child
        .output()
        .split('\n')
        .filter((line) => /^E\d{4} /.test(line)),
    async stop() {
      await child.stop();
      remove();
    },
  };
}

export type KubeStateMetrics = Awaited<ReturnType<typeof startKubeStateMetrics>>;

/** The kubeconfig of a ServiceAccount with the rights in manifests/components/monitoring/role.yaml. */
async function kubeconfigOf(admin: User, namespace: string): Promise<string> {
  const role = exporterRole();
  await admin.apply(role, { manager: 'test' });
  return serviceAccountKubeconfig(admin, { namespace, name: 'kube-state-metrics' }, role.metadata.name!);
}

function seriesOf(text: string, namespace: string): Record<string, number> {
  const lines = text.split('\n').filter((line) => line.includes(`namespace="${namespace}"`));
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, labels, value] = /^(\w+)\{(.*)\} (\S+)$/.exec(line)!;
      const kept = [...labels!.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)]
        .filter(([, label]) => label !== 'namespace' && !label!.startsWith('customresource_'))
        .map(([pair]) => pair);
      return [`${name}{${kept.join(',')}}`, Number(value)];
    }),
  );
}
