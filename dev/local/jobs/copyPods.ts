/**
 * Runs the Pods of copies on this machine in place of a kubelet: the command with its arguments, Secrets as folders,
 * and the result in the Pod's status. kube-controller-manager handles the Jobs.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { COPY_LABEL } from '../../../api/annotations.ts';
import type { Access } from '../../client/kubeconfig.ts';
import { type AnyObject, ApiError, send } from '../../client/send.ts';
import { REPOSITORY } from '../../repository.ts';
import type { Log } from '../process/log.ts';
import { repeat } from '../process/repeat.ts';

const POLL_MS = 500;
const KILLED_EXIT_CODE = 137;

/** @param dir folder for Secrets while a Pod runs */
export function runCopyPods(admin: Access, dir: string, log: Log) {
  const running = new Map<string, ChildProcess>();
  let isStopping = false;

  async function poll(): Promise<void> {
    const query = { labelSelector: COPY_LABEL };
    const { items } = (await send<{ items: AnyObject[] }>(admin, 'GET', '/api/v1/pods', { query })).object;
    const wanted = items.filter(({ metadata, status }) => !metadata.deletionTimestamp && !isOver(status?.phase));
    for (const [uid, child] of running) {
      if (!wanted.some(({ metadata }) => metadata.uid === uid)) child.kill('SIGKILL');
    }
    for (const pod of wanted) if (!running.has(pod.metadata.uid!)) await start(pod);
  }

  async function start(pod: AnyObject): Promise<void> {
    const { uid = '', namespace, name } = pod.metadata;
    const folder = join(dir, 'pods', uid);
    if (!(await mountSecrets(admin, pod, folder))) return;
    const terminationLog = join(folder, 'termination-log');
    writeFileSync(terminationLog, '');
    log(`Copying for Pod ${namespace}/${name}, on this machine`);
    const startedAt = new Date().toISOString();
    await report(admin, pod, { phase: 'Running', startTime: startedAt });
    const [container] = pod.spec.containers;
    const args = container.args.map((arg: string) => arg.replace('=/etc/rollout-hooks/', `=${folder}/`));
    const child = spawn(process.execPath, ['copy/main.ts', ...args, `--termination-log=${terminationLog}`], {
      cwd: REPOSITORY,
      env: {
        ...process.env,
        ...Object.fromEntries(
          (container.env ?? []).map(({ name, value }: { name: string; value: string }) => [name, value]),
        ),
      },
      stdio: 'ignore',
    });
    running.set(uid, child);
    child.on('close', async (code) => {
      const exitCode = code ?? KILLED_EXIT_CODE;
      const message = readFileSync(terminationLog, 'utf8');
      rmSync(folder, { recursive: true });
      const terminated = { exitCode, message, startedAt, finishedAt: new Date().toISOString() };
      const { image } = container;
      const status = { name: container.name, image, imageID: '', ready: false, restartCount: 0, state: { terminated } };
      const ended = { phase: exitCode === 0 ? 'Succeeded' : 'Failed', containerStatuses: [status] };
      if (!isStopping) await report(admin, pod, ended).catch(() => {});
      running.delete(uid);
    });
  }

  // A poll fails while the API server is down.
  const polling = repeat(POLL_MS, poll);
  return {
    async stop() {
      isStopping = true;
      for (const child of running.values()) child.kill('SIGKILL');
      await polling.stop();
    },
  };
}

export type CopyPods = ReturnType<typeof runCopyPods>;

const isOver = (phase: string | undefined) => phase === 'Succeeded' || phase === 'Failed';

/**
 * Writes the Pod's Secrets into folders named after the volumes. False if a Secret is missing: the Pod waits for it.
 */
async function mountSecrets(admin: Access, { metadata, spec }: AnyObject, folder: string): Promise<boolean> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const { name, secret } of spec.volumes ?? []) {
    const path = `/api/v1/namespaces/${metadata.namespace}/secrets/${secret.secretName}`;
    const found = await send(admin, 'GET', path).catch((error) => {
      if (error instanceof ApiError && error.code === 404) return undefined;
      throw error;
    });
    if (!found) return false;
    mkdirSync(join(folder, name), { recursive: true });
    for (const [key, value] of Object.entries<string>(found.object.data ?? {})) {
      writeFileSync(join(folder, name, key), Buffer.from(value, 'base64'), { mode: 0o600 });
    }
  }
  return true;
}

async function report(admin: Access, { metadata }: AnyObject, status: object): Promise<void> {
  const path = `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}/status`;
  await send(admin, 'PATCH', path, { body: { status }, contentType: 'application/merge-patch+json' });
}
