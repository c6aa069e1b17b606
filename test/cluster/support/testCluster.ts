/** A cluster in a temporary directory: one shared by globalSetup, and separate ones for fault tests and bench. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ClusterOptions, type LocalCluster, startCluster } from '../../../dev/local/cluster.ts';
import { supervisorLock } from '../../../dev/local/process/childProcess.ts';
import { holderOf } from '../../../dev/local/process/lock.ts';

const PREFIX = 'rollout-hooks-cluster-';

export interface TestCluster extends LocalCluster {
  /** Stops everything and removes the directory; keeps it when KEEP_TEST_CLUSTER is set, for its logs. */
  dispose(): Promise<void>;
}

/** The environment variable METACONTROLLER selects a real Metacontroller instead of the engine. */
export async function startTestCluster(options: Partial<ClusterOptions> = {}): Promise<TestCluster> {
  removeAbandoned();
  const dir = mkdtempSync(join(tmpdir(), PREFIX));
  const metacontroller = process.env.METACONTROLLER || undefined;
  const cluster = await startCluster({ dir, metacontroller, log: () => {}, ...options });
  const dispose = async () => {
    await cluster.stop();
    if (!process.env.KEEP_TEST_CLUSTER) rmSync(dir, { recursive: true, force: true });
  };
  return { ...cluster, dispose };
}

/** Removes the directories of killed test runs. */
function removeAbandoned(): void {
  if (process.env.KEEP_TEST_CLUSTER) return;
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(PREFIX))) {
    const dir = join(tmpdir(), name);
    const lock = supervisorLock(dir);
    // Another run is just creating or removing a directory without a lock.
    if (existsSync(lock) && !holderOf(lock)) rmSync(dir, { recursive: true, force: true });
  }
}
