/** The files of the page. Imports nothing of ours: the stage of the image that builds them lacks the rest. */
import { extname } from 'node:path';

/** By path, such as `/index.html`. */
export type Assets = ReadonlyMap<string, { type: string; bytes: Uint8Array }>;

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.woff2': 'font/woff2',
  '.svg': 'image/svg+xml',
};

/** The media type of a file. */
export function typeOf(path: string): string {
  return TYPES[extname(path)] ?? 'application/octet-stream';
}
