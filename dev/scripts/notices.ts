/** The license texts of bundled packages, for a file in the bundle's folder. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { REPOSITORY } from '../repository.ts';

/** Name of the file with the texts. */
export const NOTICES = 'THIRD_PARTY_NOTICES.txt';

interface Notice {
  name: string;
  version: string;
  /** SPDX. */
  license: string;
  text: string;
}

/** Licenses that only require their text. A person must read any other license first. */
const READ = new Set(['Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'OFL-1.1']);
const LICENSE_FILE = /^(licen[cs]e|copying|notice)(\.(md|txt))?$/i;

/** The license of every package in an output, by name. @throws for a package without a known license */
export function noticesOf(metafiles: readonly Metafile[]): Notice[] {
  const inputs = metafiles.flatMap(({ outputs }) =>
    Object.values(outputs).flatMap(({ inputs: parts }) =>
      Object.entries(parts).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
    ),
  );
  const folders = inputs.flatMap((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
  return [...new Set(folders)].map(noticeOf).sort((a, b) => (a.name < b.name ? -1 : 1));
}

function noticeOf(folder: string): Notice {
  const path = join(REPOSITORY, folder);
  const { name, version, license } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
  const files = readdirSync(path).filter((file) => LICENSE_FILE.test(file));
  if (!READ.has(license) || files.length === 0) {
    throw new Error(
      `${folder} is bundled: its license is ${JSON.stringify(license)} and its license files are ${files.join(', ') || 'none'}. Read them, then dev/scripts/notices.ts.`,
    );
  }
  return {
    name,
    version,
    license,
    text: files.map((file) => readFileSync(join(path, file), 'utf8').trim()).join('\n\n'),
  };
}

export function noticesText(notices: readonly Notice[]): string {
  const parts = notices.map(
    ({ name, version, license, text }) => `${'='.repeat(80)}\n${name} ${version} (${license})\n\n${text}\n`,
  );
  return ['This program contains the following packages, each under its own license.\n', ...parts].join('\n');
}
