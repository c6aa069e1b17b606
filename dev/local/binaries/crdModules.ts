/** CRDs of others, out of their Go modules. */
import { cpSync, existsSync, renameSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Log } from '../process/log.ts';
import { cacheDirectory, withLock } from './cache.ts';
import { requireGo, runGo } from './goTool.ts';

/** The one place that pins Flux's versions. Image and Helm have no CRDs in a Go module: dev/local/install/crds has small ones. */
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

/** For the Certificate of components/cert-manager. */
export const CERT_MANAGER: CrdModule = {
  path: 'github.com/cert-manager/cert-manager',
  version: 'v1.19.2',
  group: 'cert-manager.io',
  crds: 'deploy/crds',
};

/** For the ServiceMonitor and the PrometheusRule of components/monitoring. */
export const PROMETHEUS_OPERATOR: CrdModule = {
  path: 'github.com/prometheus-operator/prometheus-operator',
  version: 'v0.85.0',
  group: 'monitoring.coreos.com',
  crds: 'example/prometheus-operator-crd',
  files: ['monitoring.coreos.com_prometheusrules.yaml', 'monitoring.coreos.com_servicemonitors.yaml'],
};

/** For the Providers and Alerts of manifests/examples/notifications.yaml. */
export const NOTIFICATION_CONTROLLER: CrdModule = {
  path: 'github.com/fluxcd/notification-controller',
  version: 'v1.9.3',
  group: 'notification.toolkit.fluxcd.io',
  crds: 'config/crd/bases',
};

interface CrdModule {
  path: string;
  version: string;
  /** Of all kinds in it. */
  group: string;
  /** The folder with the CRDs. */
  crds: string;
  /** Those of them that are needed; all when absent. */
  files?: readonly string[];
}

/** Folders with the CRDs' YAML, from the cache or downloaded into it. */
export async function provideCrds(log: Log, modules: readonly CrdModule[] = FLUX_MODULES): Promise<string[]> {
  const cache = join(cacheDirectory(process.env), 'flux-crds');
  const waiting = () => log(`Another process is downloading CRDs to ${cache}; waiting for it`);
  const folders = modules.map((module) => ({ module, folder: join(cache, nameOf(module)) }));
  if (folders.some(({ folder }) => !existsSync(folder))) {
    await withLock(cache, waiting, async (work) => {
      for (const { module, folder } of folders) if (!existsSync(folder)) await download(module, folder, work, log);
    });
  }
  return folders.map(({ folder }) => folder);
}

const nameOf = ({ path, version }: CrdModule) => `${path.split('/').at(-1)}@${version}`;

async function download(module: CrdModule, folder: string, work: string, log: Log): Promise<void> {
  const name = nameOf(module);
  requireGo(`The CRDs of ${name}`);
  log(`Downloading the CRDs of ${name}`);
  const answer = await runGo({
    purpose: `Downloading ${name}`,
    // Outside any module: the versions are those named here.
    cwd: work,
    args: ['mod', 'download', '-json', `${module.path}@${module.version}`],
  });
  const { Dir } = JSON.parse(answer) as { Dir: string };
  const copy = join(work, name);
  const crds = join(Dir, module.crds);
  cpSync(crds, copy, {
    recursive: true,
    filter: (path) => path === crds || !module.files || module.files.includes(basename(path)),
  });
  renameSync(copy, folder);
}
