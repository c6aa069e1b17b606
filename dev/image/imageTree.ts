/**
 * What the Dockerfile describes, as a file tree: built with npm and this machine's Node, without Docker. Of Debian it has the
 * libraries that Node loads and nothing else, which is less than the image has: what runs in it runs in the image too.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { REPOSITORY } from '../repository.ts';
import { parseDockerfile, type Stage } from './dockerfile.ts';

export interface ImageTree {
  /** The folder that is `/` in the image. */
  root: string;
  env: Record<string, string>;
  workdir: string;
  /** `uid:gid` */
  user: string;
  entrypoint: string[];
  ports: number[];
}

/** What the images that ours is made from bring along, of what ours uses: path in the image → path on this machine. */
const BASES: Record<string, () => Record<string, string>> = {
  'node:24-bookworm-slim': () => {
    const node = realpathSync(join(REPOSITORY, 'node_modules/node/bin/node'));
    // The npm package of Node brings no licence; the image has it here.
    return { '/usr/local/bin/node': node, '/usr/local/LICENSE': join(REPOSITORY, 'LICENSE') };
  },
  'debian:bookworm-slim': () => librariesOf(join(REPOSITORY, 'node_modules/node/bin/node')),
};

/** Docker's own default. */
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Builds the last stage of the Dockerfile below `dir`, which has to be empty. */
export function buildImageTree(dir: string): ImageTree {
  const stages = parseDockerfile(readFileSync(join(REPOSITORY, 'Dockerfile'), 'utf8'));
  const built = new Map<string, ImageTree>();
  let last: ImageTree | undefined;
  for (const [i, stage] of stages.entries()) {
    last = buildStage(stage, join(dir, `stage-${i}`), built);
    built.set(stage.name, last);
  }
  if (!last) throw new Error('the Dockerfile has no FROM');
  return last;
}

function buildStage({ base, steps }: Stage, root: string, built: ReadonlyMap<string, ImageTree>): ImageTree {
  const files = BASES[base]?.();
  if (!files) throw new Error(`dev/image/imageTree.ts does not know what the image ${base} brings along`);
  for (const [path, source] of Object.entries(files)) put(source, join(root, path));
  const tree: ImageTree = { root, env: { PATH }, workdir: '/', user: '0:0', entrypoint: [], ports: [] };
  const at = (path: string) => join(root, resolve(tree.workdir, path));
  for (const step of steps) {
    if (step.does === 'workdir') {
      tree.workdir = step.dir;
      mkdirSync(at('.'), { recursive: true });
    } else if (step.does === 'copy') {
      const from = step.from === undefined ? REPOSITORY : rootOf(step.from, built);
      for (const source of step.sources) copy(join(from, source), at(step.to), step.to.endsWith('/'));
    } else if (step.does === 'run') {
      execFileSync('sh', ['-c', step.script], { cwd: at('.'), stdio: ['ignore', 'ignore', 'inherit'], env: npmEnv() });
    } else if (step.does === 'env') tree.env[step.name] = step.value;
    else if (step.does === 'user') tree.user = step.user;
    else if (step.does === 'entrypoint') tree.entrypoint = step.command;
    else tree.ports = step.ports;
  }
  return tree;
}

function rootOf(name: string, built: ReadonlyMap<string, ImageTree>): string {
  const stage = built.get(name);
  if (!stage) throw new Error(`COPY --from=${name}: the Dockerfile has no such stage before it`);
  return stage.root;
}

/** As COPY does: of a folder its content, of a file itself. */
function copy(source: string, to: string, intoFolder: boolean): void {
  const isFile = statSync(source).isFile();
  put(source, isFile && intoFolder ? join(to, basename(source)) : to);
}

function put(source: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(source, to, { recursive: true, verbatimSymlinks: true });
}

/** Of this machine's npm, which has most packages in its cache from the installation of this clone. */
function npmEnv(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^npm_|^NODE_/.test(name));
  return { ...Object.fromEntries(own), npm_config_prefer_offline: 'true', npm_config_loglevel: 'error' };
}

/** As this machine's loader finds them, where the program looks for them. */
function librariesOf(program: string): Record<string, string> {
  const listed = execFileSync('ldd', [program], { encoding: 'utf8' });
  const paths = [...listed.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, path]) => path!);
  if (paths.length === 0) throw new Error(`ldd ${program} names no library: ${listed}`);
  return Object.fromEntries(paths.map((path) => [path, realpathSync(path)]));
}
