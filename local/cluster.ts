/** A whole cluster on this machine: control plane, kinds, rights, hook server and driver. Used by `up`, tests and bench. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { provideBinaries } from './binaries.ts';
import type { RunningChild } from './childProcess.ts';
import { superviseChildren } from './children.ts';
import { startControlPlane } from './controlPlane.ts';
import { claimDirectory, releaseDirectory } from './directory.ts';
import { requireMetacontroller, startDriver } from './driver.ts';
import { provideFluxCrds } from './fluxCrds.ts';
import { startHookServer } from './hookServer.ts';
import { installControllers, installRights, installWebhooks, removeHooks } from './install.ts';
import { installKinds } from './kinds.ts';
import type { Log } from './log.ts';
import { freePort, requirePort } from './ports.ts';
import type { Problem } from './problem.ts';
import { type Access, USERS, type UserName } from './users.ts';

export interface ClusterOptions {
  dir: string;
  /** Of the API server; a free one by default. */
  port?: number;
  /** Path of a Metacontroller binary, to use it instead of the engine. */
  metacontroller?: string;
  /** False: API server and kinds only; no hook server, no driver, nothing that calls them. */
  hooks?: boolean;
  /** Settings of the hook server, such as ON_FAILURE. */
  hookEnv?: Record<string, string>;
  /** See DriverOptions. */
  customizeCacheSeconds?: number;
  log: Log;
}

export interface LocalCluster {
  dir: string;
  url: string;
  accessOf(user: UserName): Access;
  /** Path of a user's kubeconfig. */
  kubeconfigOf(user: UserName): string;
  /** Running now, by name: etcd, kube-apiserver, kube-controller-manager, hooks, engine or metacontroller. */
  child(name: string): RunningChild | undefined;
  children(): RunningChild[];
  /** Starts the hook server again after its handle was stopped or killed; same ports. */
  startHooks(env?: Record<string, string>): Promise<RunningChild>;
  /** Starts the driver again after its handle was stopped or killed. */
  startDriver(): Promise<RunningChild>;
  driver(): RunningChild | undefined;
  hooks(): RunningChild | undefined;
  /** Resolves when a process ends by itself. */
  died: Promise<Problem>;
  /** Ends every process. */
  stop(): Promise<void>;
}

export async function startCluster(options: ClusterOptions): Promise<LocalCluster> {
  const { log, hooks = true } = options;
  const dir = resolve(options.dir);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  if (hooks && options.metacontroller) requireMetacontroller(options.metacontroller);
  await claimDirectory(dir, log);
  const { running, died, watch } = superviseChildren();
  let plane: Awaited<ReturnType<typeof startControlPlane>> | undefined;
  const stop = async () => {
    await Promise.all(['engine', 'metacontroller', 'hooks'].map((name) => running.get(name)?.stop()));
    await plane?.stop();
    releaseDirectory(dir);
  };

  try {
    if (options.port) await requirePort(options.port, '--port');
    const binaries = await provideBinaries(log);
    const fluxCrds = await provideFluxCrds(log);
    log('Starting etcd and kube-apiserver');
    const started = await startControlPlane(dir, options.port ?? 0, binaries);
    plane = started;
    started.children.forEach(watch);
    const admin = started.accessOf('admin');
    log('Installing kinds and rights');
    await installKinds(admin, fluxCrds);
    await Promise.all([installRights(admin), started.startControllerManager().then(watch)]);

    const certificateFile = join(dir, 'pki/webhook.crt');
    const keyFile = join(dir, 'pki/webhook.key');
    writeFileSync(certificateFile, started.webhookCertificate.certificate);
    writeFileSync(keyFile, started.webhookCertificate.key, { mode: 0o600 });
    const server = { hooksPort: await freePort(), webhookPort: await freePort(), ca: started.ca };
    const cluster: LocalCluster = {
      dir,
      url: started.url,
      accessOf: started.accessOf,
      kubeconfigOf: (user) => join(dir, USERS[user].file),
      child: (name) => running.get(name),
      children: () => [...running.values()],
      startHooks: async (env = options.hookEnv) =>
        watch(await startHookServer({ dir, ...server, certificateFile, keyFile, env })),
      startDriver: async () => watch(await startDriver({ ...options, dir })),
      driver: () => running.get('engine') ?? running.get('metacontroller'),
      hooks: () => running.get('hooks'),
      died,
      stop,
    };
    if (!hooks) {
      await removeHooks(admin);
      return cluster;
    }
    log('Starting the hook server');
    await cluster.startHooks();
    await installWebhooks(admin, server);
    await installControllers(admin, server);
    log(options.metacontroller ? `Starting ${options.metacontroller}` : 'Starting the engine');
    await cluster.startDriver();
    return cluster;
  } catch (error) {
    await stop();
    throw error;
  }
}
