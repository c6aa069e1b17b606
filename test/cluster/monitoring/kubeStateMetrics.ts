/** A real kube-state-metrics (pinned in dev/tools/kube-state-metrics) with our configuration, as a ServiceAccount with the shipped role. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { send } from '../../../dev/client/send.ts';
import { provideGoBinary } from '../../../dev/local/binaries/goBinary.ts';
import { startChild } from '../../../dev/local/process/childProcess.ts';
import { freePort } from '../../../dev/local/process/ports.ts';
import { MANIFESTS, objectIn } from '../../manifests/files.ts';
import type { AnyObject, ClusterView } from '../support/cluster.ts';

const COMPONENT = 'components/monitoring';
const CONFIG = join(MANIFESTS, COMPONENT, 'config/kube-state-metrics.yaml');

export interface KubeStateMetrics {
  /** `127.0.0.1:port`. */
  host: string;
  /** Of one namespace: `name{label="value",…}` → value, without the labels that every series of it has. */
  series(namespace: string): Promise<Record<string, number>>;
  /** What its log says of errors: an object that lacks something is none. */
  errors(): string[];
  stop(): Promise<void>;
}

export async function startKubeStateMetrics({ admin, newNamespace }: ClusterView): Promise<KubeStateMetrics> {
  const command = await provideGoBinary('kube-state-metrics', 'k8s.io/kube-state-metrics/v2');
  const dir = mkdtempSync(join(tmpdir(), 'kube-state-metrics-'));
  const kubeconfig = join(dir, 'kubeconfig');
  const namespace = await newNamespace();
  writeFileSync(kubeconfig, await kubeconfigOf(admin, namespace), { mode: 0o600 });
  const [port, telemetryPort] = [await freePort(), await freePort()];
  const host = `127.0.0.1:${port}`;
  const child = await startChild({
    name: 'kube-state-metrics',
    command,
    args: [
      `--kubeconfig=${kubeconfig}`,
      '--custom-resource-state-only',
      `--custom-resource-state-config-file=${CONFIG}`,
      '--host=127.0.0.1',
      `--port=${port}`,
      '--telemetry-host=127.0.0.1',
      `--telemetry-port=${telemetryPort}`,
    ],
    dir,
    ready: async () => (await fetch(`http://${host}/healthz`)).ok,
    readyTimeoutMs: 60_000,
  });
  return {
    host,
    async series(wanted) {
      const text = await (await fetch(`http://${host}/metrics`)).text();
      return seriesOf(text, wanted);
    },
    errors: () =>
      child
        .output()
        .split('\n')
        .filter((line) => /^E\d{4} /.test(line)),
    async stop() {
      await child.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** A ServiceAccount that may do what manifests/components/monitoring/role.yaml says, and nothing else. */
async function kubeconfigOf(admin: ClusterView['admin'], namespace: string): Promise<string> {
  const role = objectIn(`${COMPONENT}/role.yaml`);
  const name = 'kube-state-metrics';
  await admin.apply(role as AnyObject, { manager: 'test' });
  await admin.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name } });
  await admin.create({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: `${namespace}-${name}` },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role.metadata.name },
    subjects: [{ kind: 'ServiceAccount', namespace, name }],
  } as AnyObject);
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const { object } = await send(admin.access, 'POST', path, {
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } },
  });
  const { url, ca } = admin.access;
  const authority = Buffer.from(ca).toString('base64');
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    clusters: [{ name: 'test', cluster: { server: url, 'certificate-authority-data': authority } }],
    users: [{ name: 'test', user: { token: object.status.token } }],
  });
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
