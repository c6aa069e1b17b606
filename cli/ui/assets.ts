/** The files of the page, by the path at which the browser asks for them. */
import { extname } from 'node:path';
import { ownFile, ownFiles } from '../files.ts';

export type Assets = ReadonlyMap<string, { type: string; bytes: Uint8Array }>;

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.woff2': 'font/woff2',
  '.svg': 'image/svg+xml',
};

export function typeOf(path: string): string {
  return TYPES[extname(path)] ?? 'application/octet-stream';
}

/** As npm run build:cli has made them; none where it has not. They are few and small, and are read once. */
export function readAssets(): Assets {
  return new Map(
    ownFiles('page').map((file) => {
      const path = file.slice('page'.length);
      return [path, { type: typeOf(path), bytes: ownFile(file)! }] as const;
    }),
  );
}
