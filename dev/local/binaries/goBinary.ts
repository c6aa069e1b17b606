/** Builds a program of a Go module under dev/tools once, into the user's cache, keyed by go.mod and go.sum. */
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { REPOSITORY } from '../../repository.ts';
import type { Log } from '../process/log.ts';
import { cacheOfPins, madeOnce } from './cache.ts';
import { requireGo, runGo } from './goTool.ts';

interface GoBinaryOptions {
  /** Name of the binary, if the module has several; the folder's name by default. */
  name?: string;
  /** Build tags. */
  tags?: string;
  /** A generated file that the program embeds and its module lacks: replaced by an empty file. */
  embedded?: { module: string; file: string };
  /** Gets progress lines. */
  log?: Log | undefined;
}

/** The path of a binary in the cache; undefined if it wasn't built yet. `module` is a folder of dev/tools. */
export function cachedGoBinary(module: string, name: string = basename(module)): string | undefined {
  const binary = join(cacheOf(module), name);
  return existsSync(binary) ? binary : undefined;
}

/** Builds the binary unless the cache has it. `module` is a folder of dev/tools, `program` a package. Resolves to the path. */
export async function provideGoBinary(
  module: string,
  program: string,
  { name = basename(module), tags, embedded, log = () => {} }: GoBinaryOptions = {},
): Promise<string> {
  const waiting = () => log(`Another process is building ${name}; waiting for it`);
  const build = async (built: string) => {
    requireGo(name);
    log(`Building ${name}, once on this machine: about three minutes on two cores`);
    const start = performance.now();
    const args = ['build', '-buildvcs=false', ...(tags ? ['-tags', tags] : []), '-o', built, program];
    const pins = join(REPOSITORY, 'dev/tools', module);
    const cwd = embedded ? await withEmbedded(embedded, pins, dirname(built)) : pins;
    await runGo({ purpose: `Building ${name}`, cwd, args });
    log(`Built ${name} in ${Math.round((performance.now() - start) / 1000)} s`);
  };
  return madeOnce(cacheOf(module), name, build, waiting);
}

/** Copies the module, adds the embedded file, and replaces the module by the copy. Resolves to the folder to build in. */
async function withEmbedded(
  { module, file }: NonNullable<GoBinaryOptions['embedded']>,
  pins: string,
  work: string,
): Promise<string> {
  const [folder, copy] = [join(work, 'pins'), join(work, 'module')];
  cpSync(pins, folder, { recursive: true });
  cpSync(await downloaded(module, pins), copy, { recursive: true });
  // Folders of the module cache are read-only.
  for (const entry of readdirSync(copy, { recursive: true, withFileTypes: true }))
    if (entry.isDirectory()) chmodSync(join(entry.parentPath, entry.name), 0o755);
  chmodSync(copy, 0o755);
  mkdirSync(dirname(join(copy, file)), { recursive: true });
  writeFileSync(join(copy, file), '');
  const args = ['mod', 'edit', '-replace', `${module}=${copy}`];
  await runGo({ purpose: `Replacing ${module}`, cwd: folder, args });
  return folder;
}

/** The folder of `module` in Go's module cache, in the version that a folder of dev/tools pins. */
export function moduleFolder(pins: string, module: string): Promise<string> {
  return downloaded(module, join(REPOSITORY, 'dev/tools', pins));
}

async function downloaded(module: string, cwd: string): Promise<string> {
  const args = ['mod', 'download', '-json', module];
  const answer = JSON.parse(await runGo({ purpose: `Downloading ${module}`, cwd, args }));
  return (answer as { Dir: string }).Dir;
}

function cacheOf(module: string): string {
  const folder = join(REPOSITORY, 'dev/tools', module);
  return cacheOfPins(
    basename(folder),
    ['go.mod', 'go.sum'].map((file) => join(folder, file)),
  );
}
