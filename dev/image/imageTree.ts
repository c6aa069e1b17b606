/**
 * What the Dockerfile describes, as a file tree: built with npm and this machine's Node, without Docker. Of Debian it
 * has the libraries that Node loads and nothing else, which is less than the image has: what runs in it runs in the
 * image too.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { cacheOf, madeOnce } from '../local/binaries/cache.ts';
import { REPOSITORY } from '../repository.ts';
import { parseDockerfile, type Stage, type Step } from './dockerfile.ts';

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

/** Folders of earlier stages, by name. */
type Roots = ReadonlyMap<string, string>;

/** Files of the base images that ours uses: path in the image → path on this machine. */
const BASES: Record<string, () => Record<string, string>> = {
  'node:24-bookworm-slim': () => {
    const node = realpathSync(join(REPOSITORY, 'node_modules/node/bin/node'));
    // The npm package of Node brings no licence; the image has it here.
    return { '/usr/local/bin/node': node, '/usr/local/LICENSE': join(REPOSITORY, 'LICENSE') };
  },
  'debian:bookworm-slim': () => librariesOf(join(REPOSITORY, 'node_modules/node/bin/node')),
};

/** Docker's default PATH. */
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * Builds the last stage of the Dockerfile below `dir`, which has to be empty. A stage that runs something is built once
 * for this machine, into the user's cache, under the hash of all that goes into it.
 */
export async function buildImageTree(dir: string): Promise<ImageTree> {
  const stages = parseDockerfile(readFileSync(join(REPOSITORY, 'Dockerfile'), 'utf8'));
  const last = stages.pop();
  if (!last) throw new Error('the Dockerfile has no FROM');
  const roots = new Map<string, string>();
  for (const [i, stage] of stages.entries()) {
    const runs = runsSomething(stage.steps);
    const root = runs ? await buildOnce(stage, roots) : buildStage(stage, join(dir, `stage-${i}`), roots).root;
    roots.set(stage.name, root);
  }
  return buildStage(last, join(dir, 'image'), roots);
}

const runsSomething = (steps: readonly Step[]) => steps.some(({ does }) => does === 'run');

async function buildOnce(stage: Stage, roots: Roots): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(stage));
  for (const step of stage.steps) {
    if (step.does !== 'copy') continue;
    if (step.from !== undefined)
      throw new Error(`${stage.name}: a stage that runs something copies from this repository only`);
    for (const file of step.sources.flatMap(filesOf)) hash.update(file).update(readFileSync(join(REPOSITORY, file)));
  }
  const cache = cacheOf(`image-${hash.digest('hex').slice(0, 16)}`);
  return madeOnce(cache, 'root', (root) => {
    buildStage(stage, root, roots);
  });
}

/** The file, or all files of the folder, in a stable order. */
function filesOf(source: string): string[] {
  if (statSync(join(REPOSITORY, source)).isFile()) return [source];
  return readdirSync(join(REPOSITORY, source), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(REPOSITORY, join(entry.parentPath, entry.name)))
    .sort();
}

function buildStage({ base, steps }: Stage, root: string, roots: Roots): ImageTree {
  const files = BASES[base]?.();
  if (!files) throw new Error(`dev/image/imageTree.ts does not know what the image ${base} brings along`);
  // What is run is run with this machine's programs.
  if (!runsSomething(steps)) for (const [path, source] of Object.entries(files)) put(source, join(root, path));
  const tree: ImageTree = { root, env: { PATH }, workdir: '/', user: '0:0', entrypoint: [], ports: [] };
  const at = (path: string) => join(root, resolve(tree.workdir, path));
  for (const step of steps) {
    if (step.does === 'workdir') {
      tree.workdir = step.dir;
      mkdirSync(at('.'), { recursive: true });
    } else if (step.does === 'copy') {
      const from = step.from === undefined ? REPOSITORY : rootOf(step.from, roots);
      for (const source of step.sources) copy(join(from, source), at(step.to), step.to.endsWith('/'));
    } else if (step.does === 'run') {
      execFileSync('sh', ['-c', step.script], {
        cwd: at('.'),
        stdio: ['ignore', 'ignore', 'inherit'],
        env: runEnv(step.script),
      });
    } else if (step.does === 'env') tree.env[step.name] = step.value;
    else if (step.does === 'user') tree.user = step.user;
    else if (step.does === 'entrypoint') tree.entrypoint = step.command;
    else tree.ports = step.ports;
  }
  return tree;
}

function rootOf(name: string, roots: Roots): string {
  const root = roots.get(name);
  if (root === undefined) throw new Error(`COPY --from=${name}: the Dockerfile has no such stage before it`);
  return root;
}

/** Copies a file, or the content of a folder, as COPY does. */
function copy(source: string, to: string, intoFolder: boolean): void {
  const isFile = statSync(source).isFile();
  put(source, isFile && intoFolder ? join(to, basename(source)) : to);
}

function put(source: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(source, to, { recursive: true, verbatimSymlinks: true });
}

/** Environment in which RUN uses this machine's npm, whose cache has most packages, and this clone's Node. */
function runEnv(script: string): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^npm_|^NODE_/.test(name));
  const node = dirname(realpathSync(join(REPOSITORY, 'node_modules/node/bin/node')));
  return {
    ...Object.fromEntries(own),
    ...(script.startsWith('node ') && { PATH: `${node}:${process.env.PATH}` }),
    npm_config_prefer_offline: 'true',
    npm_config_loglevel: 'error',
  };
}

/** The libraries of a program, by the path at which it looks for them, from this machine's loader. */
function librariesOf(program: string): Record<string, string> {
  const listed = execFileSync('ldd', [program], { encoding: 'utf8' });
  const paths = [...listed.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, path]) => path!);
  if (paths.length === 0) throw new Error(`ldd ${program} names no library: ${listed}`);
  return Object.fromEntries(paths.map((path) => [path, realpathSync(path)]));
}
