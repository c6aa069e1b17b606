/** The three binaries of the control plane, found or built, and kubectl: built once from dev/tools/go.mod. */
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY } from '../../repository.ts';
import type { Log } from '../process/log.ts';
import { controlPlaneCache, madeOnce, withLock } from './cache.ts';
import { requireGo, runGo } from './goTool.ts';

const PACKAGES = {
  etcd: 'go.etcd.io/etcd/server/v3',
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
  'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
} as const;

type BinaryName = keyof typeof PACKAGES;
export type Binaries = Record<BinaryName, string>;
const BINARY_NAMES = Object.keys(PACKAGES) as BinaryName[];

/** Finds each binary in KUBEBUILDER_ASSETS or the cache, and builds the missing ones. */
export async function provideBinaries(log: Log): Promise<Binaries> {
  const cache = controlPlaneCache();
  const folders = [process.env.KUBEBUILDER_ASSETS, cache].filter((folder) => folder !== undefined);
  const find = (name: BinaryName) => folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
  const missing = () => BINARY_NAMES.filter((name) => !find(name));
  if (missing().length > 0) {
    await withLock(cache, log, async (work) => {
      if (missing().length > 0) await build(missing(), work, cache, log);
    });
  }
  return Object.fromEntries(BINARY_NAMES.map((name) => [name, find(name)])) as Binaries;
}

/** kubectl, of the version of the control plane. Resolves to its path. */
export function provideKubectl(log: Log = () => {}): Promise<string> {
  const build = async (built: string) => {
    requireGo('kubectl');
    log('Building kubectl with Go, once for this machine: about a minute on two cores');
    await buildPackages(['k8s.io/kubernetes/cmd/kubectl'], built, 'Building kubectl', log);
  };
  return madeOnce(controlPlaneCache(), 'kubectl', build, log);
}

async function build(names: BinaryName[], work: string, cache: string, log: Log): Promise<void> {
  const what = names.join(', ');
  requireGo(what);
  log(`Building ${what} with Go, once for this machine: about five minutes on two cores`);
  const all = names.map((name) => PACKAGES[name]);
  await buildPackages(all, `${work}/`, `Building ${what}`, log);
  for (const name of names) {
    // go names a binary after the last part of its package; etcd's is `server`.
    const built = join(work, name === 'etcd' ? 'server' : name);
    renameSync(built, join(cache, name));
  }
  log(`Later starts find them in ${cache}`);
}

function buildPackages(packages: string[], output: string, purpose: string, log: Log): Promise<string> {
  const args = ['build', '-buildvcs=false', `-ldflags=${versionFlags()}`, '-o', output, ...packages];
  return runGo({ purpose, cwd: join(REPOSITORY, 'dev/tools'), args, log });
}

/** Linker flags that set the version, which is v0.0.0 otherwise. */
function versionFlags(): string {
  const goMod = readFileSync(join(REPOSITORY, 'dev/tools/go.mod'), 'utf8');
  const version = /k8s\.io\/kubernetes (v\S+)/.exec(goMod)?.[1] ?? 'v0.0.0';
  const [major, minor] = version.slice(1).split('.');
  const set = (name: string, value = '') => `-X k8s.io/component-base/version.${name}=${value}`;
  return ['-s -w', set('gitVersion', version), set('gitMajor', major), set('gitMinor', minor)].join(' ');
}
