/** What the licenses of bundled packages ask for: their texts, beside the bundle. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { REPOSITORY } from '../repository.ts';

/** The file that has them. */
export const NOTICES = 'THIRD_PARTY_NOTICES.txt';

export interface Notice {
  name: string;
  version: string;
  /** SPDX. */
  license: string;
  text: string;
}

/** All of them ask for their text, and for nothing that a bundle could not do. Another one is for a person to read first. */
const READ = new Set(['Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'OFL-1.1']);
const LICENSE_FILE = /^(licen[cs]e|copying|notice)(\.(md|txt))?$/i;

/** Of every package that has a part in an output, by name. @throws for one without a license that is known. */
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
