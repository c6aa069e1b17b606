/** Serves an existing cluster with hooks on this machine: `up --kubeconfig`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Access } from '../../client/kubeconfig.ts';
import { createAuthority } from '../controlPlane/certificates.ts';
import { requestToken } from '../controlPlane/serviceAccount.ts';
import { kubeconfigOf, USERS } from '../controlPlane/users.ts';
import { requireMetacontroller, startDriver } from '../hooks/driver.ts';
import { startHookServer } from '../hooks/hookServer.ts';
import {
  installControllers,
  installServiceAccounts,
  installWebhooks,
  MANAGED_BY,
  removeHooks,
} from '../install/install.ts';
import { renderInstallation } from '../install/installation.ts';
import { installMissingKinds } from '../install/kinds.ts';
import { claimDirectory, superviseChildren } from '../process/childProcess.ts';
import type { Log } from '../process/log.ts';
import { freePort } from '../process/ports.ts';
import { Problem } from '../process/problem.ts';
import { requireAdmin, requireFree, requireReach } from './clusterChecks.ts';

interface ExistingClusterOptions {
  /** Path of a kubeconfig whose current user is cluster admin. */
  kubeconfig: string;
  /** Directory of logs, keys and the kubeconfigs of the two ServiceAccounts. */
  dir: string;
  /** Path of a Metacontroller binary, to use it instead of the engine. */
  metacontroller?: string;
  log: Log;
}

export interface ServedCluster {
  /** Resolves when a process ends by itself. */
  died: Promise<Problem>;
  /** Removes webhooks and controllers, and ends every process. Kinds, rights and objects stay. */
  stop(): Promise<void>;
}

/**
 * Components of manifests/components. authenticated-hooks isn't among them: it lets Metacontroller read the cluster's
 * Secrets.
 */
const COMPONENTS = ['health-jobs', 'release-config-map', 'release-copies', 'write-back'];

export async function serveCluster(options: ExistingClusterOptions): Promise<ServedCluster> {
  const { log, kubeconfig, metacontroller } = options;
  const dir = resolve(options.dir);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  if (metacontroller) requireMetacontroller(metacontroller);
  const admin = await requireAdmin(kubeconfig);
  const release = await claimDirectory(dir, log);
  const { running, died, watch } = superviseChildren();
  let installed = false;
  const stop = async () => {
    try {
      // Before all else: a webhook that fails closed without a server blocks the cluster.
      if (installed) await removeHooks(admin).catch((error) => refuse(error, kubeconfig));
    } finally {
      await Promise.all([...running.values()].map((child) => child.stop()));
      release();
    }
  };
  try {
    await requireFree(admin);
    log(`Installing kinds and rights at ${admin.url}`);
    const installation = await renderInstallation(COMPONENTS);
    await installMissingKinds(admin, installation.kinds, log);
    await installServiceAccounts(admin, installation);
    await writeServiceAccounts(admin, dir);

    const authority = await createAuthority(Date.now());
    const serving = await authority.issue('rollout-hooks');
    const certificateFile = join(dir, 'webhook.crt');
    const keyFile = join(dir, 'webhook.key');
    writeFileSync(certificateFile, serving.certificate);
    writeFileSync(keyFile, serving.key, { mode: 0o600 });
    const server = { hooksPort: await freePort(), webhookPort: await freePort(), ca: authority.certificate };
    log('Starting the hook server');
    watch(await startHookServer({ dir, ...server, certificateFile, keyFile }));
    installed = true;
    await installWebhooks(admin, installation, server);
    await requireReach(admin);
    await installControllers(admin, installation, server);
    log(metacontroller ? `Starting ${metacontroller}` : 'Starting the engine');
    watch(await startDriver({ dir, metacontroller }));
    return { died, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Writes kubeconfigs of Metacontroller's and the hook server's ServiceAccounts, so that both act under their real
 * names.
 */
async function writeServiceAccounts(admin: Access, dir: string): Promise<void> {
  for (const user of ['metacontroller', 'hooks'] as const) {
    const [, , namespace, name] = USERS[user].userName.split(':');
    const token = await requestToken({ access: admin }, { namespace: namespace!, name: name! });
    const text = kubeconfigOf(user, { url: admin.url, ca: admin.ca, token });
    writeFileSync(join(dir, USERS[user].file), text, { mode: 0o600 });
  }
}

function refuse(error: Error, kubeconfig: string): never {
  const [label] = Object.entries(MANAGED_BY).map((pair) => pair.join('='));
  const kinds =
    'mutatingwebhookconfigurations,validatingwebhookconfigurations,compositecontrollers,decoratorcontrollers';
  throw new Problem(
    `What points at this machine could not be removed (${error.message}): do it with kubectl --kubeconfig ${kubeconfig} delete ${kinds} -l ${label}, or writes of Rollouts, Gates and the Flux objects they concern are refused.`,
  );
}
