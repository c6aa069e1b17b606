/** The clusters that the page in a cluster shows: its own, and one for each kubeconfig in a mounted folder. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Selected, selectCluster } from '../../connection/kube/kubeconfig.ts';
import { type FileLog, watchFiles } from '../../server/fileWatch.ts';
import type { ShareObject } from '../views.ts';
import { createSharedObjects } from './sharedObjects.ts';

export interface ShownCluster {
  name: string;
  /** The kubeconfig, with a user who may impersonate users and groups. */
  config: Selected['config'];
  /** Shares objects in memory among all readers of the cluster. */
  share: ShareObject;
}

interface ClustersOptions {
  own: ShownCluster;
  /** A folder with a kubeconfig for each further cluster, in a file with the cluster's name; undefined: none. */
  folder: string | undefined;
  onChange(): void;
  log: FileLog;
}

/** The clusters, the own one first, read again when files change. @throws Error for a file that is no kubeconfig */
export function watchClusters({ own, folder, onChange, log }: ClustersOptions) {
  if (folder === undefined) return { current: () => [own], stop: () => {} };
  const { current, stop } = watchFiles({
    what: `kubeconfigs in ${folder}`,
    read: (before?: ReadClusters) => readClusters(folder, own, before),
    isSame: (a, b) => a === b,
    onChange,
    log,
  });
  return { current: () => current().clusters, stop };
}

interface ReadClusters {
  /** The contents of all files, to detect a change. */
  text: string;
  clusters: readonly ShownCluster[];
}

function readClusters(folder: string, own: ShownCluster, before: ReadClusters | undefined): ReadClusters {
  if (!existsSync(folder)) throw new Error(`UI_CLUSTERS=${folder} does not exist: mount a folder, or unset it`);
  const names = readdirSync(folder)
    // The folder of a mounted Secret also has hidden folders, with its versions.
    .filter((name) => !name.startsWith('.'))
    .sort();
  const text = JSON.stringify(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
  if (text === before?.text) return before;
  if (names.includes(own.name))
    throw new Error(`${join(folder, own.name)} has the name of the page's own cluster: set another UI_CLUSTER_NAME`);
  return { text, clusters: [own, ...names.map((name) => readCluster(folder, name))] };
}

function readCluster(folder: string, name: string): ShownCluster {
  const file = join(folder, name);
  const { config, server } = selectCluster({ kubeconfig: file }, {});
  if (!URL.canParse(server)) throw new Error(`${file} has a server that is not a URL: ${server}`);
  return { name, config, share: createSharedObjects() };
}
