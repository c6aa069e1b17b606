/** A cluster on this machine: control plane, kinds, rights, hook server and driver. Used by `up`, tests and bench. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { provideBinaries } from './binaries/binaries.ts';
import { provideCrds } from './binaries/crdModules.ts';
import { CONTROL_PLANE, type ControlPlaneProcess, startControlPlane } from './controlPlane/controlPlane.ts';
import { USERS, type UserName } from './controlPlane/users.ts';
import { requireMetacontroller, startDriver } from './hooks/driver.ts';
import { type HookPorts, startHookServer } from './hooks/hookServer.ts';
import { installControllers, installRights, installUsers, installWebhooks } from './install/install.ts';
import { renderInstallation } from './install/installation.ts';
import { installKinds } from './install/kinds.ts';
import { type CopyPods, runCopyPods } from './jobs/copyPods.ts';
import { claimDirectory, type RunningChild, superviseChildren } from './process/childProcess.ts';
import type { Log } from './process/log.ts';
import { freePort, requirePort } from './process/ports.ts';

export interface ClusterOptions {
  dir: string;
  /** Port of the API server; a free one by default. */
  port?: number;
  /** Path of a Metacontroller binary; without it the engine runs. */
  metacontroller?: string;
  /** False starts only the API server with all kinds: no hook server, driver, webhooks or controllers. */
  hooks?: boolean;
  /** True leaves out the components of optional features, as in most clusters. */
  plain?: boolean;
  /** True installs nothing of ours or Metacontroller's: the cluster before the first step of docs/install.md. */
  bare?: boolean;
  apiServerFlags?: readonly string[];
  /** Settings of the hook server, such as ON_FAILURE. */
  hookEnv?: Record<string, string>;
  /** Rules of an audit Policy, for DIR/audit.log; metadata of every request by default. */
  auditRules?: object[];
  /** Starts hook servers of any number and names instead of `startHooks`. Resolves to the ports of their balancer. */
  serveHooks?: (startReplica: StartReplica) => Promise<HookPorts>;
  log: Log;
}

export type StartReplica = (name: string, ports: HookPorts, env?: Record<string, string>) => Promise<RunningChild>;

/** Components of manifests/components that authenticate callers. */
const SECURING = ['authenticated-hooks', 'authenticated-webhook'];
/** Components of optional features. */
export const FOR_FEATURES = [
  'health-jobs',
  'health-of-canaries',
  'release-config-map',
  'release-copies',
  'resource-set-inputs',
  'write-back',
];

export async function startCluster(options: ClusterOptions) {
  const { log, hooks = true } = options;
  const dir = resolve(options.dir);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  if (hooks && options.metacontroller) requireMetacontroller(options.metacontroller);
  const release = await claimDirectory(dir, log);
  const { running, died, watch } = superviseChildren();
  let copyPods: CopyPods | undefined;
  const stop = async () => {
    const plane: readonly string[] = CONTROL_PLANE;
    const others = [...running.values()].filter(({ name }) => !plane.includes(name));
    await copyPods?.stop();
    await Promise.all(others.map((child) => child.stop()));
    for (const name of plane.toReversed()) await running.get(name)?.stop();
    release();
  };

  try {
    if (options.port) await requirePort(options.port, '--port');
    const binaries = await provideBinaries(log);
    const fluxCrds = await provideCrds(log);
    const installation = await renderInstallation(options.plain ? SECURING : [...SECURING, ...FOR_FEATURES]);
    log('Starting etcd and kube-apiserver');
    const { port = 0, auditRules, apiServerFlags } = options;
    const plane = await startControlPlane({ dir, port, binaries, auditRules, apiServerFlags });
    plane.children.forEach(watch);
    const startAgain = async (name: ControlPlaneProcess) => watch(await plane.start(name));
    const admin = plane.accessOf('admin');
    log('Installing kinds and rights');
    await installKinds(admin, options.bare ? [] : installation.kinds, fluxCrds);
    const rights = options.bare ? installUsers(admin) : installRights(admin, installation);
    await Promise.all([rights, startAgain('kube-controller-manager')]);

    const certificateFile = join(dir, 'pki/webhook.crt');
    const keyFile = join(dir, 'pki/webhook.key');
    writeFileSync(certificateFile, plane.webhookCertificate.certificate);
    writeFileSync(keyFile, plane.webhookCertificate.key, { mode: 0o600 });
    const hooksToken = randomBytes(32).toString('hex');
    const hooksTokenFile = join(dir, 'pki/hooks.token');
    writeFileSync(hooksTokenFile, hooksToken, { mode: 0o600 });
    const server = { certificateFile, keyFile, ca: plane.ca, clientCaFile: plane.webhookClientCa, hooksTokenFile };
    const startReplica: StartReplica = async (name, ports, env = options.hookEnv) =>
      watch(
        await startHookServer({
          dir,
          name,
          ...server,
          ...ports,
          env: { COPY_IMAGE: 'rollout-hooks:local', ALLOW_LOCAL_REGISTRIES: 'true', ...env },
        }),
      );
    const ports = { hooksPort: await freePort(), webhookPort: await freePort() };
    const cluster = {
      dir,
      url: plane.url,
      etcdUrl: plane.etcdUrl,
      accessOf: plane.accessOf,
      /** Path of a user's kubeconfig. */
      kubeconfigOf: (user: UserName) => join(dir, USERS[user].file),
      /** Running now, by name: etcd, kube-apiserver, kube-controller-manager, hooks, engine or metacontroller. */
      child: (name: string) => running.get(name),
      children: () => [...running.values()],
      /** Starts the hook server again, on the same ports. */
      startHooks: (env?: Record<string, string>) => startReplica('hooks', ports, env),
      startDriver: async () => watch(await startDriver({ ...options, dir })),
      /** Starts a process of the control plane again, with the same ports and data. */
      startAgain,
      driver: () => running.get('engine') ?? running.get('metacontroller'),
      hooks: () => running.get('hooks'),
      /** Resolves when a process ends by itself. */
      died,
      stop,
    };
    if (options.bare || !hooks) return cluster;
    log('Starting the hook server');
    const front = options.serveHooks ? await options.serveHooks(startReplica) : ports;
    if (!options.serveHooks) await cluster.startHooks();
    await installWebhooks(admin, installation, { ...front, ca: plane.ca });
    await installControllers(admin, installation, { ...front, ca: plane.ca, hooksToken });
    log(options.metacontroller ? `Starting ${options.metacontroller}` : 'Starting the engine');
    await cluster.startDriver();
    log('Jobs that copy releases run on this machine');
    copyPods = runCopyPods(admin, dir, log);
    return cluster;
  } catch (error) {
    await stop();
    throw error;
  }
}

export type LocalCluster = Awaited<ReturnType<typeof startCluster>>;
