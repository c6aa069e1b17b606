/** A cluster before the first step of docs/install.md: with the kinds of Flux and cert-manager, and nodes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CERT_MANAGER, provideCrds } from '../../../dev/local/binaries/crdModules.ts';
import { installKinds } from '../../../dev/local/install/kinds.ts';
import { type ClusterView, viewCluster } from '../../cluster/support/cluster.ts';
import { startTestCluster, type TestCluster } from '../../cluster/support/testCluster.ts';
import { startNetwork } from './network.ts';
import { type Node, startNode } from './node.ts';

export interface NewCluster extends ClusterView {
  cluster: TestCluster;
  node: Node;
  dispose(): Promise<void>;
}

export async function startNewCluster(): Promise<NewCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'net-'));
  const network = await startNetwork(folder);
  const cluster = await startTestCluster({ bare: true, hooks: false, apiServerFlags: network.flags });
  const view = viewCluster(cluster);
  await installKinds(view.admin.access, [], await provideCrds(() => {}, [CERT_MANAGER]));
  const node = startNode(cluster, view, network);
  const dispose = async () => {
    await node.stop();
    await cluster.dispose();
    network.close();
    rmSync(folder, { recursive: true });
  };
  return { ...view, cluster, node, dispose };
}
