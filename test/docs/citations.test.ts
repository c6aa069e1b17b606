/**
 * Everything that comments, docs, tests and manifests cite exists: files, rows of docs/reference/writes.md and
 * docs/facts.md, ADRs.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { SOURCES } from '../support/sources.ts';
import { codeIn, ROOT, readPage, rowsOf, table } from './tables.ts';

const SELF = 'test/docs/citations.test.ts';

const TREE = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
}).split('\n');

/** Every text file of the repository that isn't generated. */
const FILES = TREE.filter((file) => /\.(tsx?|mjs|md|ya?ml|json|grit|go|sh)$|^Dockerfile$/.test(file))
  .filter((file) => file !== SELF && file !== 'package-lock.json' && existsSync(join(ROOT, file)))
  .map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }));

/** Names of documents that aren't in the repository. */
const ELSEWHERE = [
  /\bDESIGN\b/,
  /\bSEAM[S]\b/,
  /\b[Rr]eference,? sections? \d/,
  /\((?:the )?reference \d/,
  /\bquirks? Q\d/,
  /\.\.\/shared\b/,
  /\bfindings\//,
  /\bhardening\.md\b/,
  /\bhouse\.md\b/,
  /\bseeds\/README/,
  /\bissue \d+\b/,
  /\[(?:[CHMKL]\d+|Low)\]/,
];

/**
 * Paths from the root, as people write them: `core/gate/gateTimeline.ts`, `manifests/crds`.
 * A path that begins with a folder of dev/ lacks its beginning.
 */
const FOLDERS = [...new Set(TREE.flatMap((file) => /^(?:dev\/)?([a-z]+)\//.exec(file)?.[1] ?? []))].join('|');
const PATH = new RegExp(
  `(?<![\\w./:@*-])(?:${FOLDERS})/[\\w./-]*\\w\\.(?:tsx?|mjs|md|ya?ml|json|grit|go|sh|sum|mod)\\b`,
  'g',
);

/** Files that intentionally name missing files. */
const INVENTS_FILES = ['test/importRules.test.ts', 'CHANGELOG.md'];

const CITED_ROW = /docs\/(?:reference\/writes|facts)\.md, ((?:[WMF]\d+)(?:(?:,| and| to) [WMF]\d+)*)/g;
const CITED_ADR = /\bADRs? (\d+)((?:(?:,| and) \d+)*)/g;
const CITED_QUIRK = /\bQ(\d+)\b/g;

/** Files that decide a write, and tests of it: test file → cases. */
interface Proof {
  decidedIn: string[];
  shownBy: Record<string, string[]>;
}

const pages = ['architecture.md', 'reference/writes.md', 'facts.md'].map(readPage).join('\n');
const sections: Record<string, Record<string, Proof>> = parse(
  readFileSync(join(ROOT, 'docs/reference/writes.yaml'), 'utf8'),
);
const writes = Object.values(sections).flatMap((rows) => Object.entries(rows));
const catalogue = (name: string): Record<string, Pick<Proof, 'shownBy'>> =>
  parse(readFileSync(join(ROOT, `docs/reference/${name}.yaml`), 'utf8'));
const quirks = catalogue('quirks');
const facts = readPage('facts.md')
  .split('\n## ')
  .slice(1)
  .flatMap((section) => rowsOf(section).map((row) => row['']!));
const rowIds = [...writes.map(([id]) => id), ...facts];

describe('every cited file, row and record exists', () => {
  it.each(ELSEWHERE.map((pattern) => [pattern]))('%s', (pattern) => {
    expect(linesWith(pattern)).toEqual([]);
  });

  it('a file', () => {
    const wrong = FILES.filter(({ file }) => !INVENTS_FILES.includes(file)).flatMap(({ file, text }) =>
      [...text.matchAll(PATH)].filter(([path]) => !isThere(path, file)).map(([path]) => `${file}: ${path}`),
    );
    expect(wrong).toEqual([]);
  });

  it('a symbol of a file', () => {
    const pairs = FILES.filter(({ file }) => file.endsWith('.md') && file !== 'CHANGELOG.md').flatMap(({ text }) => [
      ...text.matchAll(/`([^`\s]+\.tsx?)`\s+`(\w+)`/g),
    ]);
    const defines = (file: string, symbol: string) =>
      new RegExp(`^(?:export )?(?:async )?(?:function|const|interface|type|class) ${symbol}\\b`, 'm').test(
        readFileSync(join(ROOT, file), 'utf8'),
      );
    expect(pairs.length).toBeGreaterThan(20);
    expect(pairs.filter(([, file, symbol]) => !defines(file!, symbol!)).map(([pair]) => pair)).toEqual([]);
  });

  it('a row of docs/reference/writes.md or docs/facts.md', () => {
    const cited = citations(CITED_ROW, ([, ids]) => ids!.match(/[WMF]\d+/g) ?? []);
    expect(cited.filter(({ id }) => !rowIds.includes(id))).toEqual([]);
  });

  it('a record of a decision', () => {
    const known = readdirSync(join(ROOT, 'docs/adr')).map((name) => String(Number(name.slice(0, 4))));
    const cited = citations(CITED_ADR, ([, first, more]) => [first!, ...(more!.match(/\d+/g) ?? [])]);
    expect(cited.length).toBeGreaterThan(0);
    expect(cited.filter(({ id }) => !known.includes(id))).toEqual([]);
  });

  it('a quirk of the Go controller', () => {
    const known = rowsOf(readPage('reference/quirks.md')).map((row) => row['']!.slice(1));
    expect(citations(CITED_QUIRK, ([, id]) => [id!]).filter(({ id }) => !known.includes(id))).toEqual([]);
  });
});

describe('docs/architecture.md', () => {
  it('has every row once', () => {
    expect(rowIds.filter((id, i) => rowIds.indexOf(id) !== i)).toEqual([]);
    expect(rowIds.filter((id) => !/^[WMF]\d+$/.test(id))).toEqual([]);
  });

  it('cites, with writes.md and facts.md, their rows', () => {
    const own = [...pages.matchAll(/(?<![\w`./])[WMF]\d+\b/g)].map(([id]) => id);
    expect(own.filter((id) => !rowIds.includes(id))).toEqual([]);
  });

  it('lists the folders of core and client, each below those that it imports', () => {
    const isListed = (folder: string) => /^(?:core|client)\//.test(folder);
    const folders = table('core').map(({ folder }) => codeIn(folder));
    const imported = (folder: string) =>
      SOURCES.filter(({ path }) => dirname(path) === folder)
        .flatMap(({ files }) => files.map(dirname))
        .filter((other) => isListed(other) && other !== folder);
    const there = SOURCES.map(({ path }) => dirname(path)).filter(isListed);
    expect([...folders].sort()).toEqual([...new Set(there)].sort());
    for (const [i, folder] of folders.entries())
      expect(folders.slice(0, i), folder).toEqual(expect.arrayContaining(imported(folder)));
  });
});

describe('the catalogues of docs/reference', () => {
  it.each(writes)('write %s is decided in the named file and function', (_, { decidedIn }) => {
    const isThere = (cited: string) => {
      const [file, name] = cited.split('#');
      if (!existsSync(join(ROOT, file!))) return false;
      return name === undefined || readFileSync(join(ROOT, file!), 'utf8').includes(`function ${name}(`);
    };
    expect(decidedIn.filter((cited) => !isThere(cited))).toEqual([]);
  });

  it('have each quirk of the Go controller, Q1 to Q36', () => {
    expect(Object.keys(quirks)).toEqual(Array.from({ length: 36 }, (_, i) => `Q${i + 1}`));
  });

  const shown = [...writes, ...Object.entries({ ...quirks, ...catalogue('differences') })];
  it.each(shown)('%s: the tests that show it are there', (_, { shownBy }) => {
    expect(Object.keys(shownBy).length).toBeGreaterThan(0);
    for (const [file, cases] of Object.entries(shownBy)) {
      expect(cases.length, `${file} without a case`).toBeGreaterThan(0);
      for (const text of cases) expect(readFileSync(join(ROOT, file), 'utf8'), `${file}: ${text}`).toContain(text);
    }
  });
});

/** Resolved from the root, from the file's folder, or from manifests/ or docs/. */
function isThere(path: string, file: string): boolean {
  return ['', dirname(file), 'manifests', 'docs'].some((from) => existsSync(join(ROOT, from, path)));
}

/** `file: line`, of every line that has it. */
function linesWith(pattern: RegExp): string[] {
  return FILES.flatMap(({ file, text }) =>
    text
      .split('\n')
      .filter((line) => pattern.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  );
}

function citations(pattern: RegExp, idsOf: (match: RegExpExecArray) => string[]): { file: string; id: string }[] {
  return FILES.flatMap(({ file, text }) =>
    [...text.matchAll(pattern)].flatMap((match) => idsOf(match).map((id) => ({ file, id }))),
  );
}
