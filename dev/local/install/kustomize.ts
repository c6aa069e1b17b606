/** Runs `kubectl kustomize` on a kustomization in the form of docs/install.md. */
import { execFileSync } from 'node:child_process';
import { existsSync, realpathSync, writeFileSync } from 'node:fs';
import { delimiter, join, relative, resolve } from 'node:path';
import { PRODUCT } from '../../repository.ts';
import { provideKubectl } from '../binaries/binaries.ts';
import { inTemporaryDirectory } from '../process/temporaryDirectory.ts';

interface Kustomization {
  /** Folders in this repository, such as `manifests/overlays/cert-manager`, or absolute paths. */
  resources: readonly string[];
  /** Folders of components, such as `manifests/components/cert-manager`. */
  components?: readonly string[];
  images?: readonly { name: string; newName?: string; newTag?: string; digest?: string }[];
}

/** The pinned kubectl, or that on the PATH if Go is missing. */
export async function kubectlCommand(): Promise<string> {
  try {
    return await provideKubectl();
  } catch (error) {
    if (isOnPath('go') || !isOnPath('kubectl')) throw error;
    return 'kubectl';
  }
}

export const isOnPath = (program: string) =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));

/** The YAML of `kustomize build`, in the order of dependencies. */
export async function kustomizeBuild({ resources, components = [], images = [] }: Kustomization): Promise<string> {
  const kubectl = await kubectlCommand();
  return inTemporaryDirectory('kustomization-', (folder) => {
    // kustomize resolves links before it compares paths.
    const fromThere = (path: string) => relative(folder, realpathSync(resolve(PRODUCT, path)));
    const kustomization = { resources: resources.map(fromThere), components: components.map(fromThere), images };
    writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization));
    return execFileSync(kubectl, ['kustomize', folder], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  });
}
