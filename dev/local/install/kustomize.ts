/** The real kustomize, on a kustomization as docs/install.md has its reader write one. */
import { execFileSync } from 'node:child_process';
import { existsSync, realpathSync, writeFileSync } from 'node:fs';
import { delimiter, join, relative, resolve } from 'node:path';
import { PRODUCT } from '../../repository.ts';
import { provideGoBinary } from '../binaries/goBinary.ts';
import { inTemporaryDirectory } from '../process/temporaryDirectory.ts';

export interface Kustomization {
  /** Folders of this repository, as `manifests/overlays/cert-manager`, or absolute ones. */
  resources: readonly string[];
  /** Likewise: `manifests/components/cert-manager`. */
  components?: readonly string[];
  images?: readonly { name: string; newName?: string; newTag?: string; digest?: string }[];
}

/** The pinned one. Where there is no Go to build it: the one in kubectl, which whoever has a cluster has. */
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

/** What `kustomize build` writes: YAML, with what others need first. */
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
