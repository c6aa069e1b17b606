/** Links between the pages lead somewhere. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { PAGES, ROOT } from './support/tables.ts';

const FILES = [
  'README.md',
  'CONTRIBUTING.md',
  ...PAGES.map((page) => `docs/${page}`),
  ...readdirSync(join(ROOT, 'docs/adr')).map((name) => `docs/adr/${name}`),
];

it.each(FILES)('%s', (file) => {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const links = [...text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
  for (const [link, path = '', anchor] of links) {
    const target = path === '' ? join(ROOT, file) : join(ROOT, dirname(file), path);
    expect(existsSync(target), `${link} in ${file}`).toBe(true);
    if (anchor !== undefined) expect(anchorsOf(readFileSync(target, 'utf8')), `${link} in ${file}`).toContain(anchor);
  }
});

it('the records of decisions are numbered without a gap', () => {
  const numbers = readdirSync(join(ROOT, 'docs/adr')).map((name) => Number(name.slice(0, 4)));
  expect(numbers.sort((a, b) => a - b)).toEqual(numbers.map((_, i) => i + 1));
});

/** As GitHub makes them of headings. */
function anchorsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
