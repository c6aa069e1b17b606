/** Starts a cluster for all files of the project `cluster`, in a temporary directory. */
import type { TestProject } from 'vitest/node';
import { User } from '../../../dev/actors/user.ts';
import { provideKubeStateMetrics } from '../../../dev/local/monitoring/kubeStateMetrics.ts';
import { logToStderr } from '../../../dev/local/process/log.ts';
import { provideRegistry } from '../../../dev/local/registry/realRegistry.ts';
import { type ConnectionData, connectionData } from './connection.ts';
import { startTestCluster, type TestCluster } from './testCluster.ts';
import { changeWebhooks } from './webhooks.ts';

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
  // No write fails because the machine is busy. Those of a server that doesn't answer are in test/faults.
  const admin = new User(cluster.accessOf('admin'));
  if (!process.env.WITHOUT_HOOKS) await changeWebhooks(admin, (webhook) => ({ ...webhook, timeoutSeconds: 30 }));
  void cluster.died.then((problem) => {
    logToStderr([problem.message, ...problem.details].join('\n  '));
  });
  project.provide('cluster', connectionData(cluster));
}

export async function teardown(): Promise<void> {
  await cluster?.dispose();
}
