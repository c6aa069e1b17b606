/**
 * The nodes of a cluster, as far as the installation needs them: they run its two Deployments as processes of this
 * machine, with the environment, the Secrets and the ConfigMaps that the manifests give them, and say in their status
 * that they run.
 */
import { appendFileSync, existsSync, mkdirSync, readlinkSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { useLoopback } from '../../../dev/local/install/references.ts';
import { type RunningChild, startChild } from '../../../dev/local/process/childProcess.ts';
import { freePort } from '../../../dev/local/process/ports.ts';
import { repeat } from '../../../dev/local/process/repeat.ts';
import { REPOSITORY } from '../../../dev/repository.ts';
import type { AnyObject, ClusterView } from '../../cluster/support/cluster.ts';
import type { TestCluster } from '../../cluster/support/testCluster.ts';
import type { Network } from './network.ts';

const LOOK_MS = 200;
const METACONTROLLER = 'metacontroller.k8s.io/v1alpha1';
const named = (kind: string, namespace: string, name: string) => ({
  apiVersion: kind === 'Deployment' ? 'apps/v1' : 'v1',
  kind,
  metadata: { name, namespace },
});

export function startNode(cluster: TestCluster, { admin }: ClusterView, network: Network) {
  let server: { child: RunningChild; revision: string } | undefined;
  // The address is the same after a restart, like a Service's.
  const ports = Promise.all([freePort(), freePort(), freePort()]);
  let isDriven = false;
  let isHeld = false;

  async function look(): Promise<void> {
    const deployment = await admin.find(named('Deployment', 'rollout-hooks', 'rollout-hooks'));
    if (deployment && !isHeld && (await mountVolumes(deployment))) {
      await runServer(deployment);
      await reportAvailable(deployment);
    }
    const metacontroller = await admin.find(named('Deployment', 'metacontroller', 'metacontroller'));
    // Metacontroller is ready even without its RBAC, for which it waits.
    if (metacontroller) await reportAvailable(metacontroller);
    const mayWatch = await admin.find({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'rollout-hooks-metacontroller' },
    });
    if (metacontroller && mayWatch && (await resolveServices())) {
      if (!isDriven) await cluster.startDriver();
      isDriven = true;
    }
  }

  /** False while one of them is missing, in which case the Pod would be ContainerCreating. */
  async function mountVolumes({ spec }: AnyObject): Promise<boolean> {
    for (const { name, secret, configMap } of spec.template.spec.volumes) {
      const ref = secret
        ? named('Secret', 'rollout-hooks', secret.secretName)
        : named('ConfigMap', 'rollout-hooks', configMap.name);
      const found = await admin.find(ref);
      if (!found && !configMap?.optional) return false;
      mount(join(cluster.dir, 'volumes', name), found, secret ? 'base64' : 'utf8');
    }
    return true;
  }

  async function runServer({ spec }: AnyObject): Promise<void> {
    const { template } = spec;
    const revision = JSON.stringify(template);
    if (server?.revision === revision) return;
    await server?.child.stop();
    const [{ env, volumeMounts }] = template.spec.containers;
    const here = (value: string) =>
      volumeMounts.reduce(
        (path: string, { name, mountPath }: { name: string; mountPath: string }) =>
          path.replace(`${mountPath}/`, `${join(cluster.dir, 'volumes', name)}/`),
        value,
      );
    const [hooksPort, webhookPort, receiverPort] = await ports;
    const child = await startChild({
      name: 'rollout-hooks',
      command: process.execPath,
      args: ['main.ts'],
      cwd: REPOSITORY,
      dir: cluster.dir,
      env: {
        ...Object.fromEntries(env.map(({ name, value }: { name: string; value: string }) => [name, here(value)])),
        HOST: '127.0.0.1',
        HOOKS_PORT: String(hooksPort),
        WEBHOOK_PORT: String(webhookPort),
        RECEIVER_PORT: String(receiverPort),
        HEALTH_PORT: '0',
        SHUTDOWN_DELAY_SECONDS: '0',
        KUBECONFIG: cluster.kubeconfigOf('hooks'),
      },
      ready: async () => (await fetch(`http://127.0.0.1:${hooksPort}/readyz`)).ok,
    });
    server = { child, revision };
    network.webhookPort = webhookPort;
  }

  /** Gives Metacontroller the Pod's address, since there is no DNS. False while there is no Pod. */
  async function resolveServices(): Promise<boolean> {
    const [hooksPort] = await ports;
    const lists = await Promise.all(
      ['CompositeController', 'DecoratorController'].map((kind) =>
        admin.list(METACONTROLLER, kind).then((items) => items.map((item) => ({ ...item, kind }))),
      ),
    );
    const controllers = lists.flat().map((item): AnyObject => ({ ...item, apiVersion: METACONTROLLER }));
    for (const controller of controllers) {
      const resolved = useLoopback(controller, { hooksPort, webhookPort: 0, ca: '' });
      if (JSON.stringify(resolved) !== JSON.stringify(controller)) await admin.replace(resolved);
    }
    return controllers.length > 0;
  }

  async function reportAvailable({ apiVersion, kind, metadata, spec, status }: AnyObject): Promise<void> {
    if (status?.observedGeneration === metadata.generation && status.availableReplicas === spec.replicas) return;
    const { replicas } = spec;
    const condition = (type: string, reason: string) => ({ type, status: 'True', reason });
    const { name, namespace } = metadata;
    await admin.patchStatus(
      { apiVersion, kind, metadata: { name, namespace } },
      {
        observedGeneration: metadata.generation,
        ...{ replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas },
        conditions: [
          condition('Available', 'MinimumReplicasAvailable'),
          condition('Progressing', 'NewReplicaSetAvailable'),
        ],
      },
    );
  }

  const looking = repeat(LOOK_MS, look, ({ stack }) => appendFileSync(join(cluster.dir, 'node.log'), `${stack}\n`));
  return {
    /** Kills the server. After `release` it is restarted, as by a kubelet. */
    hold: async () => {
      isHeld = true;
      await server?.child.stop();
      server = undefined;
      network.webhookPort = undefined;
    },
    release: () => {
      isHeld = false;
    },
    stop: async () => {
      await looking.stop();
      await server?.child.stop();
    },
  };
}

export type Node = ReturnType<typeof startNode>;

/**
 * All files change in one step, as the kubelet has it: the folder is a link to those of this version of the Secret or
 * ConfigMap. Empty while an optional one does not exist.
 */
function mount(folder: string, found: AnyObject | undefined, encoding: 'base64' | 'utf8'): void {
  const version = `${folder}-${found?.metadata.resourceVersion ?? 'absent'}`;
  if (existsSync(folder) && readlinkSync(folder) === version) return;
  mkdirSync(version, { recursive: true });
  for (const [key, value] of Object.entries<string>(found?.data ?? {}))
    writeFileSync(join(version, key), Buffer.from(value, encoding));
  symlinkSync(version, `${version}.link`);
  renameSync(`${version}.link`, folder);
}
