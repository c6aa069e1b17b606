/** A program of one Go module under dev/tools, built once for this machine into the user's cache, under the hash of what pins it. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { REPOSITORY } from '../../repository.ts';
import { withLock } from './cache.ts';
import { requireGo, runGo } from './goTool.ts';

/** `module` is a folder of dev/tools, `program` the package that it pins. Resolves to the path of the binary. */
export async function provideGoBinary(module: string, program: string): Promise<string> {
  const folder = join(REPOSITORY, 'dev/tools', module);
  const pins = ['go.mod', 'go.sum'].map((file) => readFileSync(join(folder, file), 'utf8'));
  const key = createHash('sha256').update(pins.join('\n')).digest('hex').slice(0, 16);
  const name = basename(folder);
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'rollout-hooks', `${name}-${key}`);
  const binary = join(cache, name);
  if (existsSync(binary)) return binary;
  await withLock(
    cache,
    () => {},
    async (work) => {
      if (existsSync(binary)) return;
      requireGo(name);
      const built = join(work, name);
      const args = ['build', '-buildvcs=false', '-o', built, program];
      await runGo({ purpose: `Building ${name}`, cwd: folder, args });
      renameSync(built, binary);
    },
  );
  return binary;
}
