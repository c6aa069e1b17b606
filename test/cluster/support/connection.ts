/** The connection of test workers, which are other processes, to the cluster of globalSetup, as plain data. */

import type { Access } from '../../../dev/client/kubeconfig.ts';
import type { LocalCluster } from '../../../dev/local/cluster.ts';
import { USERS, type UserName } from '../../../dev/local/controlPlane/users.ts';

export interface ConnectionData {
  dir: string;
  access: Record<UserName, Access>;
}

export function connectionData(cluster: LocalCluster): ConnectionData {
  const names = Object.keys(USERS) as UserName[];
  const access = Object.fromEntries(names.map((name) => [name, cluster.accessOf(name)])) as Record<UserName, Access>;
  return { dir: cluster.dir, access };
}
