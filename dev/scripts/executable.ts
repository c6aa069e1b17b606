/** The command as one executable that needs no Node: the bundle and the page inside of Node's own binary, by Node's own --build-sea. */
import { execFileSync } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { provideNode } from '../local/binaries/nodeBinary.ts';
import { NOTICES } from './notices.ts';

/** The names of one program: kubectl asks for completions by an executable of its own. */
export const BINS = ['kubectl-rollouts', 'flux-rollouts', 'kubectl_complete-rollouts'] as const;

/** `built`: what buildCli has made. Fills the folder `out`, for the platform of this machine. @throws Problem where Node makes none for it. */
export async function buildExecutable(built: string, out: string): Promise<void> {
  const node = await provideNode();
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  const [program, ...others] = BINS;
  await inject(join(node, 'bin/node'), built, join(out, program));
  for (const name of others) await symlink(program, join(out, name));
  await copyFile(join(built, 'LICENSE'), join(out, 'LICENSE'));
  const notices = await readFile(join(built, NOTICES), 'utf8');
  const ofNode = await readFile(join(node, 'LICENSE'), 'utf8');
  await writeFile(join(out, NOTICES), `${notices}\n${'='.repeat(80)}\nNode.js\n\n${ofNode}`);
}

async function inject(node: string, built: string, output: string): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), 'executable-'));
  try {
    const config = join(work, 'config.json');
    const settings = {
      main: join(built, 'rollouts.js'),
      mainFormat: 'module',
      output,
      disableExperimentalSEAWarning: true,
      useCodeCache: true,
      // NODE_OPTIONS is for the Node of whoever calls it.
      execArgvExtension: 'none',
      assets: await assetsOf(built),
    };
    await writeFile(config, JSON.stringify(settings));
    execFileSync(node, ['--build-sea', config], { stdio: ['ignore', 'ignore', 'inherit'] });
    // What was added broke Node's own signature, and macOS runs nothing without one.
    if (process.platform === 'darwin') execFileSync('codesign', ['--sign', '-', '--force', output]);
  } finally {
    await rm(work, { recursive: true });
  }
}

/** What cli/files.ts reads, by its path below the bundle's folder. */
async function assetsOf(built: string): Promise<Record<string, string>> {
  const entries = await readdir(join(built, 'page'), { recursive: true, withFileTypes: true });
  const page = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const files = [join(built, 'package.json'), ...page];
  return Object.fromEntries(files.map((file) => [relative(built, file).split(sep).join('/'), file]));
}
