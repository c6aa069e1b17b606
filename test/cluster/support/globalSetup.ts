/** Starts a cluster for all files of the project `cluster`, in a temporary directory. */
import type { TestProject } from 'vitest/node';
import { User } from '../../../dev/actors/user.ts';
import type { AnyObject } from '../../../dev/client/send.ts';
import { provideKubeStateMetrics } from '../../../dev/local/monitoring/kubeStateMetrics.ts';
import { logToStderr } from '../../../dev/local/process/log.ts';
import { provideRegistry } from '../../../dev/local/registry/realRegistry.ts';
import { type ConnectionData, connectionData } from './connection.ts';
import { startTestCluster, type TestCluster } from './testCluster.ts';

declare module 'vitest' {
  interface ProvidedContext {
    cluster: ConnectionData;
  }
}

let cluster: TestCluster | undefined;

export async function setup(project: TestProject): Promise<void> {
  // One after another, before any test: while others run, a build takes longer than a test may.
  await provideRegistry(logToStderr);
  await provideKubeStateMetrics(logToStderr);
  // WITHOUT_HOOKS is for work on the harness, or on a hook server that doesn't start yet.
  cluster = await startTestCluster({ log: logToStderr, hooks: !process.env.WITHOUT_HOOKS });
  if (!process.env.WITHOUT_HOOKS) await waitLongForWebhooks(cluster);
  void cluster.died.then((problem) => {
    logToStderr([problem.message, ...problem.details].join('\n  '));
  });
  project.provide('cluster', connectionData(cluster));
}

/** No write fails because the machine is busy. Those of a server that doesn't answer are in test/faults. */
async function waitLongForWebhooks({ accessOf }: TestCluster): Promise<void> {
  const admin = new User(accessOf('admin'));
  for (const kind of ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']) {
    const configuration = { apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata: { name: 'rollout-hooks' } };
    const { webhooks } = (await admin.get(configuration)) as AnyObject;
    const patient = webhooks.map((webhook: AnyObject) => ({ ...webhook, timeoutSeconds: 30 }));
    await admin.mergePatch(configuration, { webhooks: patient });
  }
}

export async function teardown(): Promise<void> {
  await cluster?.dispose();
}
