/** The files that come with the program: inside a single executable, otherwise next to the bundle. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The assets of an executable; absent before Node 20.16, which runs no executables. */
const sea = process.getBuiltinModule?.('node:sea');
const inside = sea?.isSea() ? sea : undefined;

/** The bytes of a file, by its path below the folder of the program's files; undefined if it was not built. */
export function ownFile(path: string): Uint8Array | undefined {
  if (inside) return inside.getAssetKeys().includes(path) ? new Uint8Array(inside.getRawAsset(path)) : undefined;
  const file = join(folder(), path);
  return existsSync(file) ? readFileSync(file) : undefined;
}

/** The paths of all files below a folder of the program's files. */
export function ownFiles(name: string): string[] {
  if (inside) return inside.getAssetKeys().filter((path) => path.startsWith(`${name}/`));
  const root = join(folder(), name);
  if (!existsSync(root)) return [];
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder(), join(entry.parentPath, entry.name)).split(sep).join('/'));
}

/** The folder of the program's files: that of the bundle, or in the repository the output of npm run build:cli. */
function folder(): string {
  const beside = fileURLToPath(new URL('.', import.meta.url));
  return existsSync(join(beside, 'package.json')) ? beside : join(beside, '../dist/cli');
}
