/** Bundles cli/main.ts into dist/cli: a package without dependencies, with two names for one program. */
import { chmod, copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { ownTarget } from '../local/binaries/nodeBinary.ts';
import { program } from '../local/process/options.ts';
import { REPOSITORY } from '../repository.ts';
import { writePage } from './build-page.ts';
import { BINS, buildExecutable } from './executable.ts';
import { NOTICES, noticesOf, noticesText } from './notices.ts';

const ABOUT =
  'Bundles the command into a folder: `npm pack` there makes a package that needs nothing else and runs on Node 20 and newer.';

/**
 * Modules left out of the bundle: client-node's generated client and undici, which needs Node 22. The command only uses
 * its kubeconfig.
 */
const LEFT_OUT = /^undici$|\/gen\/index\.js$/;

export async function buildCli(out: string): Promise<{ bytes: number }> {
  const { name, version, license } = JSON.parse(await readFile(join(REPOSITORY, 'package.json'), 'utf8'));
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  const { metafile } = await build({
    entryPoints: [join(REPOSITORY, 'cli/main.ts')],
    outfile: join(out, 'rollouts.js'),
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    minify: true,
    keepNames: true,
    metafile: true,
    absWorkingDir: REPOSITORY,
    legalComments: 'none',
    logLevel: 'silent',
    // CommonJS packages in the bundle ask for Node's own modules this way.
    banner: {
      js: "import { createRequire as createRequire_ } from 'node:module'; const require = createRequire_(import.meta.url);",
    },
    plugins: [
      {
        name: 'left-out',
        setup(builder) {
          builder.onResolve({ filter: LEFT_OUT }, ({ path }) => ({ path, namespace: 'left-out' }));
          builder.onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({
            contents: 'export const Agent = 0, ProxyAgent = 0, createConfiguration = 0, ServerConfiguration = 0;',
          }));
        },
      },
    ],
  });
  const page = await writePage(join(out, 'page'));
  for (const bin of BINS) {
    await writeFile(join(out, `${bin}.js`), "#!/usr/bin/env node\nawait import('./rollouts.js');\n");
    await chmod(join(out, `${bin}.js`), 0o755);
  }
  const manifest = {
    name: `${name}-cli`,
    version,
    description: 'kubectl rollouts and flux rollouts: see and steer Rollouts and Gates',
    license,
    type: 'module',
    engines: { node: '>=20' },
    bin: Object.fromEntries(BINS.map((bin) => [bin, `${bin}.js`])),
  };
  await writeFile(join(out, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  await copyFile(join(REPOSITORY, 'LICENSE'), join(out, 'LICENSE'));
  await writeFile(join(out, NOTICES), noticesText(noticesOf([metafile, page])));
  const [output] = Object.values(metafile.outputs);
  return { bytes: output?.bytes ?? 0 };
}

if (import.meta.main) {
  const { out, executable } = program('npm run build:cli --', ABOUT)
    .option('--out <dir>', 'the folder', join(REPOSITORY, 'dist/cli'))
    .option('--executable', 'also make an executable for the platform of this machine, in DIR-PLATFORM-ARCH')
    .parse()
    .opts<{ out: string; executable?: true }>();
  process.stderr.write('bundling cli/main.ts …\n');
  const { bytes } = await buildCli(out);
  process.stderr.write(`${out}: ${Math.round(bytes / 1024)} kB; pack it with: npm pack ${out}\n`);
  if (executable) {
    const target = ownTarget();
    const folder = `${out}-${target}`;
    process.stderr.write('putting it into Node …\n');
    await buildExecutable(out, folder, target);
    process.stderr.write(`${folder}: put its files on your PATH\n`);
  }
}
