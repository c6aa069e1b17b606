/** Builds a program of a Go module once, into the user's cache, keyed by the pins of the module (goModules.ts). */
import { appendFileSync, chmodSync, cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Log } from '../process/log.ts';
import { Problem } from '../process/problem.ts';
import { cacheOf, madeOnce } from './cache.ts';
import { type GoModule, type GoModuleName, goModule } from './goModules.ts';
import { requireGo, runGo } from './goTool.ts';

interface GoBinaryOptions {
  /** The program's folder in its module, if that isn't the root: `cmd/registry`. */
  program?: string;
  /** Name of the binary, if the module has several; the module's name by default. */
  name?: string;
  tags?: string;
  log?: Log | undefined;
}

/** The path of a binary in the cache; undefined if it wasn't built yet. */
export function cachedGoBinary(module: GoModuleName, name: string = module): string | undefined {
  const binary = join(cacheFor(module), name);
  return existsSync(binary) ? binary : undefined;
}

/** Builds the binary unless the cache has it. Resolves to the path. */
export async function provideGoBinary(
  module: GoModuleName,
  { program = '.', name = module, tags, log = () => {} }: GoBinaryOptions = {},
): Promise<string> {
  const build = async (built: string) => {
    requireGo(name);
    log(`Building ${name}, once on this machine: about three minutes on two cores`);
    const cwd = join(dirname(built), 'module');
    await unpack(goModule(module), cwd);
    // Without vendor folders, of which a module has only a part.
    const args = [
      'build',
      '-mod=readonly',
      '-buildvcs=false',
      ...(tags ? ['-tags', tags] : []),
      '-o',
      built,
      `./${program}`,
    ];
    await runGo({ purpose: `Building ${name}`, cwd, args, log });
  };
  return madeOnce(cacheFor(module), name, build, log);
}

/** The module's folder in Go's module cache, downloaded if it lacks it. `cwd`: any folder outside a Go module. */
export async function moduleFolder({ path, version, sum }: GoModule, cwd: string): Promise<string> {
  const args = ['mod', 'download', '-json', `${path}@${version}`];
  const { Dir, Sum } = JSON.parse(await runGo({ purpose: `Downloading ${path}@${version}`, cwd, args }));
  if (Sum !== sum) throw new Problem(`${path}@${version} has the checksum ${Sum}, and goModules.ts expects ${sum}.`);
  return Dir;
}

/** Copies the module to a folder, complete and with its replacement, so that Go builds it as its main module. */
async function unpack(module: GoModule, folder: string): Promise<void> {
  const { nested = {}, replacement, embedded } = module;
  copyWritable(await moduleFolder(module, dirname(folder)), folder);
  for (const [name, sum] of Object.entries(nested)) {
    const part = { path: `${module.path}/${name}`, version: module.version, sum };
    copyWritable(await moduleFolder(part, dirname(folder)), join(folder, name));
  }
  if (replacement) {
    const { path, version, sums } = replacement;
    const args = ['mod', 'edit', '-replace', `${path}=${path}@${version}`];
    await runGo({ purpose: `Replacing ${path}`, cwd: folder, args });
    const lines = [`${path} ${version} ${sums[0]}`, `${path} ${version}/go.mod ${sums[1]}`];
    appendFileSync(join(folder, 'go.sum'), `${lines.join('\n')}\n`);
  }
  if (embedded) {
    mkdirSync(dirname(join(folder, embedded)), { recursive: true });
    writeFileSync(join(folder, embedded), '');
  }
}

/** Folders of Go's module cache are read-only. */
function copyWritable(from: string, to: string): void {
  cpSync(from, to, { recursive: true });
  chmodSync(to, 0o755);
  for (const entry of readdirSync(to, { recursive: true, withFileTypes: true }))
    chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644);
}

function cacheFor(module: GoModuleName): string {
  return cacheOf(module, JSON.stringify(goModule(module)));
}
