/** A program of one Go module under dev/tools, built once for this machine into the user's cache, under the hash of what pins it. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { REPOSITORY } from '../../repository.ts';
import { withLock } from './cache.ts';
import { requireGo, runGo } from './goTool.ts';

export interface GoBinaryOptions {
  /** Of the binary, where a module pins several; the folder's by default. */
  name?: string;
  /** Build tags. */
  tags?: string;
}

/** The path of a binary that was built before; undefined where it was not. `module` is a folder of dev/tools. */
export function cachedGoBinary(module: string, name: string = basename(module)): string | undefined {
  const binary = join(cacheOf(module), name);
  return existsSync(binary) ? binary : undefined;
}

/** `module` is a folder of dev/tools, `program` the package that it pins. Resolves to the path of the binary. */
export async function provideGoBinary(
  module: string,
  program: string,
  { name = basename(module), tags }: GoBinaryOptions = {},
): Promise<string> {
  const cached = cachedGoBinary(module, name);
  if (cached) return cached;
  const cache = cacheOf(module);
  const binary = join(cache, name);
  await withLock(
    cache,
    () => {},
    async (work) => {
      if (existsSync(binary)) return;
      requireGo(name);
      const built = join(work, name);
      const args = ['build', '-buildvcs=false', ...(tags ? ['-tags', tags] : []), '-o', built, program];
      await runGo({ purpose: `Building ${name}`, cwd: join(REPOSITORY, 'dev/tools', module), args });
      renameSync(built, binary);
    },
  );
  return binary;
}

function cacheOf(module: string): string {
  const folder = join(REPOSITORY, 'dev/tools', module);
  const pins = ['go.mod', 'go.sum'].map((file) => readFileSync(join(folder, file), 'utf8'));
  const key = createHash('sha256').update(pins.join('\n')).digest('hex').slice(0, 16);
  const base = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  return join(base, 'rollout-hooks', `${basename(folder)}-${key}`);
}
