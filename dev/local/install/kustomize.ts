/** Runs kustomize on a kustomization in the form of docs/install.md. */
import { execFileSync } from 'node:child_process';
import { existsSync, realpathSync, writeFileSync } from 'node:fs';
import { delimiter, join, relative, resolve } from 'node:path';
import { PRODUCT } from '../../repository.ts';
import { provideGoBinary } from '../binaries/goBinary.ts';
import { inTemporaryDirectory } from '../process/temporaryDirectory.ts';

export interface Kustomization {
  /** Folders in this repository, such as `manifests/overlays/cert-manager`, or absolute paths. */
  resources: readonly string[];
  /** Folders of components, such as `manifests/components/cert-manager`. */
  components?: readonly string[];
  images?: readonly { name: string; newName?: string; newTag?: string; digest?: string }[];
}

/** The pinned kustomize, or the one in kubectl if Go is missing. */
async function kustomizeCommand(): Promise<[program: string, verb: string]> {
  try {
    return [await provideGoBinary('kustomize', 'sigs.k8s.io/kustomize/kustomize/v5'), 'build'];
  } catch (error) {
    if (isOnPath('go') || !isOnPath('kubectl')) throw error;
    return ['kubectl', 'kustomize'];
  }
}

const isOnPath = (program: string) =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));

/** The YAML of `kustomize build`, in the order of dependencies. */
export async function kustomizeBuild({ resources, components = [], images = [] }: Kustomization): Promise<string> {
  const [program, verb] = await kustomizeCommand();
  return inTemporaryDirectory('kustomization-', (folder) => {
    // kustomize resolves links before it compares paths.
    const fromThere = (path: string) => relative(folder, realpathSync(resolve(PRODUCT, path)));
    const kustomization = { resources: resources.map(fromThere), components: components.map(fromThere), images };
    writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization));
    return execFileSync(program, [verb, folder], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  });
}
