/** A control plane of a test file's own, for what breaks it or takes long. */
import { afterAll } from 'vitest';
import type { ClusterOptions } from '../../../dev/local/cluster.ts';
import { type ClusterView, viewCluster } from './cluster.ts';
import { startTestCluster, type TestCluster } from './testCluster.ts';

/** To be awaited at the top of the file, which ends the cluster after its last test. */
export async function ownCluster(
  options?: Partial<ClusterOptions>,
): Promise<{ cluster: TestCluster; view: ClusterView }> {
  const cluster = await startTestCluster(options);
  afterAll(() => cluster.dispose());
  return { cluster, view: viewCluster(cluster) };
}
