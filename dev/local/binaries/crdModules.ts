/** CRDs of other projects, from their Go modules. */
import { cpSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Log } from '../process/log.ts';
import { controlPlaneCache, madeOnce } from './cache.ts';
import { moduleFolder } from './goBinary.ts';
import { type GoModuleName, goModule } from './goModules.ts';
import { requireGo } from './goTool.ts';

interface CrdModule {
  module: GoModuleName;
  /** The API group of all its kinds. */
  group: string;
  crds: string;
  /** The needed files in the folder; all if absent. */
  files?: readonly string[];
}

/** Flux's CRDs. dev/local/install/crds has small CRDs for Image, which has none in a Go module. */
const FLUX_MODULES: readonly CrdModule[] = [
  { module: 'kustomize-controller', group: 'kustomize.toolkit.fluxcd.io', crds: 'config/crd/bases' },
  { module: 'source-controller', group: 'source.toolkit.fluxcd.io', crds: 'config/crd/bases' },
  { module: 'helm-controller', group: 'helm.toolkit.fluxcd.io', crds: 'config/crd/bases' },
];

/** CRDs for the Certificate of components/cert-manager. */
export const CERT_MANAGER: CrdModule = { module: 'cert-manager', group: 'cert-manager.io', crds: 'deploy/crds' };

/** CRDs for the ServiceMonitor and the PrometheusRule of components/monitoring. */
export const PROMETHEUS_OPERATOR: CrdModule = {
  module: 'prometheus-operator',
  group: 'monitoring.coreos.com',
  crds: 'example/prometheus-operator-crd',
  files: ['monitoring.coreos.com_prometheusrules.yaml', 'monitoring.coreos.com_servicemonitors.yaml'],
};

/** CRDs for the Providers and Alerts of manifests/examples/notifications.yaml. */
export const NOTIFICATION_CONTROLLER: CrdModule = {
  module: 'notification-controller',
  group: 'notification.toolkit.fluxcd.io',
  crds: 'config/crd/bases',
};

/** Folders with the CRDs' YAML, from the cache or downloaded into it. */
export async function provideCrds(log: Log, modules: readonly CrdModule[] = FLUX_MODULES): Promise<string[]> {
  const cache = join(controlPlaneCache(), 'flux-crds');
  const folders: string[] = [];
  for (const each of modules) {
    const name = `${each.module}@${goModule(each.module).version}`;
    folders.push(await madeOnce(cache, name, (folder) => download(each, folder, log), log));
  }
  return folders;
}

async function download({ module, crds, files }: CrdModule, folder: string, log: Log): Promise<void> {
  const name = basename(folder);
  requireGo(`The CRDs of ${name}`);
  log(`Downloading the CRDs of ${name}`);
  const source = join(await moduleFolder(goModule(module), dirname(folder)), crds);
  const isWanted = (file: string) => file === source || !files || files.includes(basename(file));
  cpSync(source, folder, { recursive: true, filter: isWanted });
}
