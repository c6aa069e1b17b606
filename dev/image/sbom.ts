import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inTemporaryDirectory } from '../local/process/temporaryDirectory.ts';
import { REPOSITORY } from '../repository.ts';

/** The npm packages in the image, with versions, licences and checksums, as an SPDX document in JSON. */
export function imageSbom(): Promise<string> {
  const { devDependencies: _, ...manifest } = jsonIn('package.json');
  const lock = jsonIn('package-lock.json');
  const { devDependencies: __, ...root } = lock.packages[''];
  // `npm sbom --omit=dev` of the whole leaves out what a devDependency needs too: it is asked of a project without any.
  const kept = Object.entries<{ dev?: boolean }>(lock.packages).filter(([path, { dev }]) => path !== '' && !dev);
  return inTemporaryDirectory('sbom-', (dir) => {
    writeFileSync(join(dir, 'package.json'), JSON.stringify(manifest));
    const packages = { '': root, ...Object.fromEntries(kept) };
    writeFileSync(join(dir, 'package-lock.json'), JSON.stringify({ ...lock, packages }));
    const args = ['sbom', '--sbom-format=spdx', '--package-lock-only', '--loglevel=error'];
    return execFileSync('npm', args, { cwd: dir, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  });
}

const jsonIn = (file: string) => JSON.parse(readFileSync(join(REPOSITORY, file), 'utf8'));
