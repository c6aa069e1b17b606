/** The death of any process of a cluster, and its return with the same ports and the same data. */
import type { LocalCluster } from '../../../dev/local/cluster.ts';

export const MORTALS = ['hooks', 'driver', 'kube-apiserver', 'etcd', 'kube-controller-manager'] as const;
export type Mortal = (typeof MORTALS)[number];

export async function restart(cluster: LocalCluster, name: Mortal): Promise<void> {
  const child = name === 'hooks' || name === 'driver' ? cluster[name]() : cluster.child(name);
  if (!child) throw new Error(`${name} is not running`);
  child.kill('SIGKILL');
  await child.exited;
  if (name === 'hooks') await cluster.startHooks();
  else if (name === 'driver') await cluster.startDriver();
  else await cluster.startAgain(name);
}
