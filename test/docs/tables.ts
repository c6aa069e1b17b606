/**
 * The pages of docs/ and their tables. A table to be compared with the code follows a comment `<!-- table: NAME -->`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');
const DOCS = join(ROOT, 'docs');

/** Column title → cell, in Markdown. */
export type Row = Record<string, string>;

export interface Table {
  name: string;
  page: string;
  rows: Row[];
}

/** Paths below docs/, without those of adr/. */
export const PAGES: readonly string[] = [
  ...readdirSync(DOCS),
  ...readdirSync(join(DOCS, 'reference')).map((name) => `reference/${name}`),
].filter((name) => name.endsWith('.md'));

export function readPage(page: string): string {
  return readFileSync(join(DOCS, page), 'utf8');
}

export const TABLES: readonly Table[] = PAGES.flatMap((page) => {
  const sections = readPage(page).split('<!-- table: ').slice(1);
  return sections.map((section) => {
    const end = section.indexOf(' -->\n');
    return { name: section.slice(0, end), page, rows: rowsOf(section.slice(end + ' -->\n'.length)) };
  });
});

/** The one table of this name. */
export function table(name: string): Row[] {
  const found = TABLES.filter((candidate) => candidate.name === name);
  if (found.length !== 1) throw new Error(`docs/ has ${found.length} tables marked <!-- table: ${name} -->`);
  return found[0]!.rows;
}

/** Cells of the first table in the text. */
export function rowsOf(markdown: string): Row[] {
  const lines = markdown.split('\n');
  const start = lines.findIndex((line) => line.startsWith('|'));
  const end = lines.findIndex((line, i) => i > start && !line.startsWith('|'));
  const [titles = [], , ...rows] = lines.slice(start, end < 0 ? undefined : end).map(cellsOf);
  return rows.map((cells) => Object.fromEntries(titles.map((title, i) => [title, cells[i] ?? ''])));
}

/** `ReleasesUpdated` of "`ReleasesUpdated`". @throws if the cell isn't code */
export function codeIn(cell: string | undefined): string {
  const code = /^`([^`]+)`$/.exec(cell ?? '')?.[1];
  if (code === undefined) throw new Error(`expected one word of code, not: ${cell}`);
  return code;
}

function cellsOf(line: string): string[] {
  return line
    .slice(1, line.lastIndexOf('|'))
    .split('|')
    .map((cell) => cell.trim());
}
