/** `node dev/scripts/build-page.ts FOLDER`: writes the page's files, as the image has them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Metafile } from 'esbuild';
import { bundlePage } from '../page/buildPage.ts';
import { NOTICES, noticesOf, noticesText } from './notices.ts';

/** Writes the files. Resolves to esbuild's metafile. */
export async function writePage(folder: string): Promise<Metafile> {
  const { assets, metafile } = await bundlePage();
  for (const [path, { bytes }] of assets) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  }
  return metafile;
}

if (import.meta.main) {
  const folder = process.argv[2] ?? '';
  const metafile = await writePage(folder);
  writeFileSync(join(folder, NOTICES), noticesText(noticesOf([metafile])));
}
