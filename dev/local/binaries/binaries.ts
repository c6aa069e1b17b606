/** The three binaries of the control plane, found or built, and kubectl: built once from dev/tools/go.mod. */
import { execFileSync } from 'node:child_process';
import { accessSync, constants, readFileSync, renameSync } from 'node:fs';
import { delimiter, join } from 'node:path';
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

/** Finds each binary in KUBEBUILDER_ASSETS, PATH or the cache, and builds the missing ones. */
export async function provideBinaries(log: Log): Promise<Binaries> {
  const cache = controlPlaneCache();
  const { KUBEBUILDER_ASSETS, PATH = '' } = process.env;
  const folders = [
    ...(KUBEBUILDER_ASSETS ? [KUBEBUILDER_ASSETS] : []),
    ...PATH.split(delimiter).filter(Boolean),
    cache,
  ];
  const find = () => Object.fromEntries(BINARY_NAMES.map((name) => [name, findIn(folders, name)]));
  let binaries = find();
  if (missingOf(binaries).length > 0) {
    await withLock(cache, log, async (work) => {
      binaries = find();
      const missing = missingOf(binaries);
      if (missing.length > 0) await build(missing, work, cache, log);
    });
    binaries = find();
  }
  return binaries as Binaries;
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

const missingOf = (binaries: Record<string, string | undefined>) => BINARY_NAMES.filter((name) => !binaries[name]);

function findIn(folders: string[], name: BinaryName): string | undefined {
  return folders.map((folder) => join(folder, name)).find((file) => canUse(file, name));
}

function canUse(file: string, name: BinaryName): boolean {
  try {
    accessSync(file, constants.X_OK);
    return isUsable(name, execFileSync(file, ['--version'], { encoding: 'utf8', timeout: 20_000 }));
  } catch {
    return false;
  }
}

/**
 * Whether a binary with this `--version` output (`etcd Version: 3.6.16`, `Kubernetes v1.36.3`) is new enough:
 * Kubernetes must have selectable fields of custom resources. v0.0.0, a build from source without a version, is
 * accepted.
 */
export function isUsable(binary: BinaryName, versionOutput: string): boolean {
  if (binary === 'etcd') return versionOutput.includes('etcd Version: 3.');
  const [, major, minor] = /^Kubernetes v(\d+)\.(\d+)\./.exec(versionOutput) ?? [];
  return major === '0' || (major === '1' && Number(minor) >= 32);
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
