/** The real kustomize, on a kustomization as docs/install.md has its reader write one. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { REPOSITORY } from '../../repository.ts';
import { provideGoBinary } from '../binaries/goBinary.ts';

export interface Kustomization {
  /** Folders of this repository: `manifests/overlays/cert-manager`. */
  resources: readonly string[];
  /** Likewise: `manifests/components/cert-manager`. */
  components?: readonly string[];
  images?: readonly { name: string; newName?: string; newTag?: string; digest?: string }[];
}

export const provideKustomize = (): Promise<string> =>
  provideGoBinary('kustomize', 'sigs.k8s.io/kustomize/kustomize/v5');

/** What `kustomize build` writes: YAML, with what others need first. */
export async function kustomizeBuild({ resources, components = [], images = [] }: Kustomization): Promise<string> {
  const program = await provideKustomize();
  // kustomize resolves links before it compares paths.
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'kustomization-')));
  const fromThere = (path: string) => relative(folder, realpathSync(join(REPOSITORY, path)));
  try {
    const kustomization = { resources: resources.map(fromThere), components: components.map(fromThere), images };
    writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization));
    return execFileSync(program, ['build', folder], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
