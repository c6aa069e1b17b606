/** `npm run up -- --kubeconfig FILE`, with a bare control plane as the existing API server. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { requireReach } from '../../dev/local/existing/clusterChecks.ts';
import { installWebhooks, removeHooks } from '../../dev/local/install/install.ts';
import { renderInstallation } from '../../dev/local/install/installation.ts';
import { freePort } from '../../dev/local/process/ports.ts';
import { REPOSITORY } from '../../dev/repository.ts';
import {
  type AnyObject,
  type ClusterView,
  kustomization,
  rollout,
  viewCluster,
  waitFor,
} from '../cluster/support/cluster.ts';
import { startTestCluster, type TestCluster } from '../cluster/support/testCluster.ts';
import { history, variablesArrive } from '../cluster/support/versions.ts';

const CONFIGURATIONS = [
  ['admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration'],
  ['admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration'],
  ['metacontroller.k8s.io/v1alpha1', 'CompositeController'],
  ['metacontroller.k8s.io/v1alpha1', 'DecoratorController'],
] as const;

let bare: TestCluster;
let view: ClusterView;
const cleanups: (() => unknown)[] = [];
beforeAll(async () => {
  bare = await startTestCluster({ hooks: false });
  view = viewCluster(bare);
});
afterAll(() => bare?.dispose());
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const configurations = async (): Promise<string[]> => {
  const lists = await Promise.all(CONFIGURATIONS.map(([apiVersion, kind]) => view.admin.list(apiVersion, kind)));
  return lists.flatMap((list, i) =>
    list.map(({ metadata }: AnyObject) => `${CONFIGURATIONS[i]?.[1]} ${metadata.name}`),
  );
};

/** The process of `up`, with its output and end. */
function up(kubeconfig: string): {
  child: ChildProcess;
  stdout(): string;
  ended: Promise<{ code: number | null; stderr: string }>;
} {
  const dir = mkdtempSync(join(tmpdir(), 'rollout-hooks-up-'));
  const args = ['dev/local/up.ts', '--kubeconfig', kubeconfig, '--dir', dir];
  const child = spawn(process.execPath, args, { cwd: REPOSITORY, stdio: ['ignore', 'pipe', 'pipe'] });
  const written = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (written.stdout += chunk));
  child.stderr.on('data', (chunk) => (written.stderr += chunk));
  const ended = new Promise<{ code: number | null; stderr: string }>((resolve) => {
    child.once('close', (code) => resolve({ code, stderr: written.stderr }));
  });
  cleanups.push(async () => {
    child.kill('SIGTERM');
    await ended;
    rmSync(dir, { recursive: true });
  });
  return { child, stdout: () => written.stdout, ended };
}

describe('up --kubeconfig', () => {
  it('serves the cluster of that file until it ends, and then removes its webhooks and controllers', async () => {
    const { admin, newNamespace, publish } = view;
    const running = up(bare.kubeconfigOf('admin'));
    await waitFor(
      async () => running.stdout() === `ready kubeconfig=${bare.kubeconfigOf('admin')}\n`,
      'the ready line',
    );

    const ns = await newNamespace();
    await admin.create(rollout(ns, 'app'));
    await admin.create(kustomization(ns, 'app', { variables: { APP_VERSION: 'app' } }));
    await publish(ns, 'app', '1.0.0');
    await variablesArrive(admin, ns, 'app', { APP_VERSION: '1.0.0' });

    const second = await up(bare.kubeconfigOf('admin')).ended;
    expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining('another `npm run up`') });

    running.child.kill('SIGTERM');
    expect((await running.ended).code).toBe(0);
    expect(await configurations()).toEqual([]);
    expect(await history(admin, ns, 'app')).toEqual([[1, '1.0.0']]);
  });

  it('a signal during the start leaves no webhook and no controller', async () => {
    const running = up(bare.kubeconfigOf('admin'));
    await waitFor(async () => (await configurations()).length > 0, 'the first configuration');
    running.child.kill('SIGINT');
    expect((await running.ended).code).toBe(0);
    expect(await configurations()).toEqual([]);
  });
});

describe('up --kubeconfig refuses', () => {
  const failsWith = async (kubeconfig: string, sentence: string) => {
    const before = await configurations();
    const { code, stderr } = await up(kubeconfig).ended;
    expect(stderr).toContain(sentence);
    expect(code).toBe(1);
    expect(await configurations()).toEqual(before);
  };

  it('a file that is not there', () => failsWith('/nowhere/config', '/nowhere/config cannot be used as a kubeconfig'));

  it('a user who is not cluster admin', () =>
    failsWith(bare.kubeconfigOf('developer'), 'developer.kubeconfig is not cluster admin'));

  it('a cluster in which rollout-hooks is installed', async () => {
    const installed = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'rollout-hooks' },
      webhooks: [
        {
          name: 'gate.admission.kuberik.com',
          clientConfig: { service: { name: 'rollout-hooks', namespace: 'rollout-hooks' } },
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
        },
      ],
    };
    await view.admin.create(installed);
    cleanups.push(() => view.admin.remove(installed));
    await failsWith(bare.kubeconfigOf('admin'), 'ValidatingWebhookConfiguration rollout-hooks');
  });

  it('a cluster with a Metacontroller that drives other controllers', async () => {
    const foreign = {
      apiVersion: 'metacontroller.k8s.io/v1alpha1',
      kind: 'DecoratorController',
      metadata: { name: 'of-somebody' },
      spec: {
        resources: [{ apiVersion: 'v1', resource: 'configmaps' }],
        hooks: { sync: { webhook: { url: 'http://x/' } } },
      },
    };
    await view.admin.create(foreign);
    cleanups.push(() => view.admin.remove(foreign));
    await failsWith(bare.kubeconfigOf('admin'), 'DecoratorController of-somebody');
  });

  it('a hook server that the API server cannot reach', async () => {
    const server = createServer((socket) => socket.destroy());
    const webhookPort = await freePort();
    await new Promise<void>((listening) => server.listen(webhookPort, '127.0.0.1', listening));
    cleanups.push(() => server.close());
    const access = bare.accessOf('admin');
    cleanups.push(() => removeHooks(access));
    await installWebhooks(access, await renderInstallation([]), { hooksPort: webhookPort, webhookPort, ca: access.ca });
    await expect(requireReach(access, 1_000)).rejects.toMatchObject({
      name: 'Problem',
      message: expect.stringContaining('cannot reach the webhook on this machine'),
    });
  });
});
