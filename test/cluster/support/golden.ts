/** Compares outputs with files. Parts that vary between runs are masked. */
import { join } from 'node:path';
import { expect } from 'vitest';

const FOLDER = join(import.meta.dirname, '../golden');
const RFC3339 = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z/g;
const CLOCK = /\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) |\d{1,2} [A-Z][a-z]{2} \d{4} )?\d{2}:\d{2}(?::\d{2})?\b/g;
const AGE = /\b(?:\d+[ywdhms]){1,3}\b/g;
/** An age below a second. */
const JUST_NOW = /\bnow(?= *$| {2})/gm;
const UID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;

/** Column widths depend on ages: three or more spaces become three. */
export function masked(text: string, namespace: string): string {
  // The uid is masked before ages, because a part of it can look like `3d9h`.
  return text
    .replaceAll(namespace, 'NAMESPACE')
    .replace(UID, 'UID')
    .replace(RFC3339, 'TIME')
    .replace(CLOCK, 'TIME')
    .replace(JUST_NOW, 'AGE ago')
    .replace(AGE, 'AGE')
    .replace(/(?<=\S) {4,}/g, '   ');
}

/** Writes a missing file, unless CI is set; `vitest -u` writes all of them. */
export async function expectGolden(name: string, text: string, namespace: string): Promise<void> {
  await expect(masked(text, namespace)).toMatchFileSnapshot(join(FOLDER, `${name}.txt`));
}
