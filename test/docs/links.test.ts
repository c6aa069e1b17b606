/** Links in every page have a target, and the index of docs/ has every page. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from './tables.ts';

// Also files that are not committed yet, without ignored ones.
const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], { cwd: ROOT });
const FILES = listed
  .toString()
  .trim()
  .split('\n')
  .filter((file) => existsSync(join(ROOT, file)));
const INDEX = 'docs/README.md';
const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8').replaceAll('\r', '');

interface Link {
  text: string;
  /** From the root of the repository. */
  file: string;
  anchor: string | undefined;
}

function linksIn(file: string): Link[] {
  const links = withoutCode(textOf(file)).matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)/g);
  return [...links].map(([text, path = '', anchor]) => ({
    text,
    file: path === '' ? file : relative(ROOT, join(ROOT, dirname(file), path)),
    anchor,
  }));
}

it.each(FILES)('the links of %s', (file) => {
  for (const link of linksIn(file)) {
    expect(existsSync(join(ROOT, link.file)), link.text).toBe(true);
    if (link.anchor !== undefined) expect(anchorsOf(textOf(link.file)), link.text).toContain(link.anchor);
  }
});

describe(INDEX, () => {
  const linked = new Set(linksIn(INDEX).map(({ file }) => file));
  const pages = FILES.filter((file) => file.startsWith('docs/') && !file.startsWith('docs/adr/') && file !== INDEX);

  it.each(pages)('leads to %s', (page) => {
    expect(linked).toContain(page);
  });
});

it("each decision has its file's number, which no other has", () => {
  const names = readdirSync(join(ROOT, 'docs/adr'));
  const numbers = names.map((name) => Number(name.slice(0, 4)));
  const titled = names.map((name) => Number(/^# (\d+)\. /.exec(textOf(`docs/adr/${name}`))?.[1]));
  expect(titled).toEqual(numbers);
  expect(new Set(numbers).size).toBe(numbers.length);
});

/** The anchors that GitHub makes of headings. */
function anchorsOf(markdown: string): string[] {
  return [...withoutCode(markdown).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** A line with # in a code block isn't a heading. */
function withoutCode(markdown: string): string {
  return markdown.replaceAll(/^( *)```[\s\S]*?^\1```$/gm, '');
}
