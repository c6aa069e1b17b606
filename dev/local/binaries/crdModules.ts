/** CRDs of other projects, from their Go modules. */
import { cpSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Log } from '../process/log.ts';
import { controlPlaneCache, madeOnce } from './cache.ts';
import { requireGo, runGo } from './goTool.ts';

/** Flux's CRDs, with their versions, which are pinned here only. dev/local/install/crds has small CRDs for Image and Helm, which have none in a Go module. */
export const FLUX_MODULES = [
  {
    path: 'github.com/fluxcd/kustomize-controller',
    version: 'v1.9.6',
    group: 'kustomize.toolkit.fluxcd.io',
    crds: 'config/crd/bases',
  },
  {
    path: 'github.com/fluxcd/source-controller',
    version: 'v1.9.6',
    group: 'source.toolkit.fluxcd.io',
    crds: 'config/crd/bases',
  },
] as const;

/** CRDs for the Certificate of components/cert-manager. */
export const CERT_MANAGER: CrdModule = {
  path: 'github.com/cert-manager/cert-manager',
  version: 'v1.19.2',
  group: 'cert-manager.io',
  crds: 'deploy/crds',
};

/** CRDs for the ServiceMonitor and the PrometheusRule of components/monitoring. */
export const PROMETHEUS_OPERATOR: CrdModule = {
  path: 'github.com/prometheus-operator/prometheus-operator',
  version: 'v0.85.0',
  group: 'monitoring.coreos.com',
  crds: 'example/prometheus-operator-crd',
  files: ['monitoring.coreos.com_prometheusrules.yaml', 'monitoring.coreos.com_servicemonitors.yaml'],
};

/** CRDs for the Providers and Alerts of manifests/examples/notifications.yaml. */
export const NOTIFICATION_CONTROLLER: CrdModule = {
  path: 'github.com/fluxcd/notification-controller',
  version: 'v1.9.3',
  group: 'notification.toolkit.fluxcd.io',
  crds: 'config/crd/bases',
};

interface CrdModule {
  path: string;
  version: string;
  /** The API group of all its kinds. */
  group: string;
  /** The folder with the CRDs. */
  crds: string;
  /** The needed files in the folder; all if absent. */
  files?: readonly string[];
}

/** Folders with the CRDs' YAML, from the cache or downloaded into it. */
export async function provideCrds(log: Log, modules: readonly CrdModule[] = FLUX_MODULES): Promise<string[]> {
  const cache = join(controlPlaneCache(), 'flux-crds');
  const waiting = () => log(`Another process is downloading CRDs to ${cache}; waiting for it`);
  const folders: string[] = [];
  for (const module of modules) {
    const name = `${basename(module.path)}@${module.version}`;
    folders.push(await madeOnce(cache, name, (folder) => download(module, folder, log), waiting));
  }
  return folders;
}

async function download({ path, version, crds, files }: CrdModule, folder: string, log: Log): Promise<void> {
  const name = basename(folder);
  requireGo(`The CRDs of ${name}`);
  log(`Downloading the CRDs of ${name}`);
  const answer = await runGo({
    purpose: `Downloading ${name}`,
    // Outside any module, so that the versions above are used.
    cwd: dirname(folder),
    args: ['mod', 'download', '-json', `${path}@${version}`],
  });
  const { Dir } = JSON.parse(answer) as { Dir: string };
  const source = join(Dir, crds);
  const isWanted = (file: string) => file === source || !files || files.includes(basename(file));
  cpSync(source, folder, { recursive: true, filter: isWanted });
}
