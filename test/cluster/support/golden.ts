/** Outputs as files: what differs from run to run is masked, the rest has to be the same to the letter. */
import { join } from 'node:path';
import { expect } from 'vitest';

const FOLDER = join(import.meta.dirname, '../golden');
const RFC3339 = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z/g;
const CLOCK = /\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) |\d{1,2} [A-Z][a-z]{2} \d{4} )?\d{2}:\d{2}(?::\d{2})?\b/g;
const AGE = /\b(?:\d+[ywdhms]){1,2}\b/g;
/** An age of less than a second; `, not now` is no age. */
const JUST_NOW = /(?<!not )\bnow(?= *$| {2})/gm;
const UID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;

/** Columns are as wide as their ages: of more spaces than part two columns, three stay. */
export function masked(text: string, namespace: string): string {
  // The uid goes before the ages: a part of one may look like `3d9h`.
  return text
    .replaceAll(namespace, 'NAMESPACE')
    .replace(UID, 'UID')
    .replace(RFC3339, 'TIME')
    .replace(CLOCK, 'TIME')
    .replace(JUST_NOW, 'AGE ago')
    .replace(AGE, 'AGE')
    .replace(/(?<=\S) {4,}/g, '   ');
}

/** Written where there is none, unless CI is set; `vitest -u` writes it anew. */
export async function expectGolden(name: string, text: string, namespace: string): Promise<void> {
  await expect(masked(text, namespace)).toMatchFileSnapshot(join(FOLDER, `${name}.txt`));
}
