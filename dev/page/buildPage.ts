/**
 * Bundles ui/ into the files that page/ serves: a document, a script, a style sheet and two fonts. Names have a hash,
 * so that browsers can cache them.
 */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { type Assets, typeOf } from '../../page/assets.ts';
import { REPOSITORY } from '../repository.ts';

const UI = join(REPOSITORY, 'ui');

export async function buildPage(): Promise<Assets> {
  return (await bundlePage()).assets;
}

/** The bundled files, with esbuild's metafile. */
export async function bundlePage(): Promise<{ assets: Assets; metafile: Metafile }> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: REPOSITORY,
    metafile: true,
    entryPoints: [join(UI, 'main.tsx'), join(UI, 'style/main.css')],
    outdir: '/assets',
    entryNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    bundle: true,
    minify: true,
    format: 'esm',
    target: ['es2022', 'chrome123', 'firefox128', 'safari17.5'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.woff2': 'file' },
    publicPath: '/assets',
    write: false,
    legalComments: 'none',
    logLevel: 'error',
  });
  const files = outputFiles.map(
    ({ path, contents }) => [`/assets/${basename(path)}`, { type: typeOf(path), bytes: contents }] as const,
  );
  const pathOf = (type: string) => files.find(([path]) => path.endsWith(type))?.[0] ?? '';
  const html = readFileSync(join(UI, 'index.html'), 'utf8')
    .replace('%STYLE%', pathOf('.css'))
    .replace('%SCRIPT%', pathOf('.js'));
  const assets = new Map([...files, ['/index.html', { type: typeOf('index.html'), bytes: Buffer.from(html) }]]);
  return { assets, metafile };
}
