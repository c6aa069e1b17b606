/** A control plane for one test file, which breaks it or takes long. */
import { afterAll } from 'vitest';
import type { ClusterOptions } from '../../../dev/local/cluster.ts';
import { type ClusterView, viewCluster } from './cluster.ts';
import { startTestCluster, type TestCluster } from './testCluster.ts';

/** Await it at the top of the file. The cluster ends after the file's last test. */
export async function ownCluster(
  options?: Partial<ClusterOptions>,
): Promise<{ cluster: TestCluster; view: ClusterView }> {
  const cluster = await startTestCluster(options);
  afterAll(() => cluster.dispose());
  return { cluster, view: viewCluster(cluster) };
}
