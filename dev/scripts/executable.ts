/** Builds the command as a single executable: bundle and page inside Node's binary, by Node's --build-sea. */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { copyFile, link, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { ownTarget, provideNode, type Target } from '../local/binaries/nodeBinary.ts';
import { Problem } from '../local/process/problem.ts';
import { inTemporaryDirectory } from '../local/process/temporaryDirectory.ts';
import { NOTICES } from './notices.ts';

/** The names of one program: kubectl asks for completions by an executable of its own. */
export const BINS = ['kubectl-rollouts', 'flux-rollouts', 'kubectl_complete-rollouts'] as const;

/** The licenses in a release's archive. */
const TEXTS = ['LICENSE', NOTICES] as const;

/** `kubectl-rollouts`, on Windows with `.exe`. */
function fileName(bin: (typeof BINS)[number], target: Target): string {
  return target.startsWith('win32') ? `${bin}.exe` : bin;
}

/**
 * Builds the executable from the bundle `built` into the folder `out`. @throws Problem if this machine can't build it
 */
export async function buildExecutable(built: string, out: string, target: Target): Promise<void> {
  const own = ownTarget();
  // What is added to Node's binary breaks its signature, and macOS runs nothing without one.
  if (target.startsWith('darwin') && own !== target) {
    throw new Problem(`An executable for ${target} has to be signed, and only macOS can do that: build it there.`);
  }
  const [builder, node] = [await provideNode(own), await provideNode(target)];
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  const [first, ...others] = BINS;
  const program = join(out, fileName(first, target));
  await inject(builder.program, node.program, built, program);
  if (target.startsWith('darwin')) execFileSync('codesign', ['--sign', '-', '--force', program]);
  for (const bin of others) await link(program, join(out, fileName(bin, target)));
  await copyFile(join(built, 'LICENSE'), join(out, 'LICENSE'));
  const notices = await readFile(join(built, NOTICES), 'utf8');
  // One text for all platforms, which the package for Windows lacks.
  const ofNode = await readFile(join(builder.folder, 'LICENSE'), 'utf8');
  await writeFile(join(out, NOTICES), `${notices}\n${'='.repeat(80)}\nNode.js\n\n${ofNode}`);
}

/** Packs the executable under one name only, since neither krew nor Flux unpacks links. */
export function packExecutable(folder: string, archive: string, target: Target): void {
  const files = [fileName('flux-rollouts', target), ...TEXTS];
  const [command, ...options] = archive.endsWith('.zip') ? ['zip', '-qX', archive] : ['tar', '-czf', archive];
  rmSync(archive, { force: true });
  execFileSync(command!, [...options, ...files], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Puts the command into the binary `node`, with `builder`, a Node of the same version. */
async function inject(builder: string, node: string, built: string, output: string): Promise<void> {
  const assets = await assetsOf(built);
  await inTemporaryDirectory('executable-', async (work) => {
    const config = join(work, 'config.json');
    const settings = {
      main: join(built, 'rollouts.js'),
      mainFormat: 'module',
      executable: node,
      output,
      disableExperimentalSEAWarning: true,
      // V8 loads a code cache only on the platform that wrote it.
      useCodeCache: builder === node,
      // NODE_OPTIONS is for the Node of whoever calls it.
      execArgvExtension: 'none',
      assets,
    };
    await writeFile(config, JSON.stringify(settings));
    execFileSync(builder, ['--build-sea', config], { stdio: ['ignore', 'ignore', 'inherit'] });
  });
}

/** Files that cli/files.ts reads, by their path below the bundle's folder. */
async function assetsOf(built: string): Promise<Record<string, string>> {
  const entries = await readdir(join(built, 'page'), { recursive: true, withFileTypes: true });
  const page = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const files = [join(built, 'package.json'), ...page];
  return Object.fromEntries(files.map((file) => [relative(built, file).split(sep).join('/'), file]));
}
