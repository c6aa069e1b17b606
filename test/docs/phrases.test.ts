/** Docs, manifests and the product's texts have none of the phrases of phrases.yaml. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { ROOT } from './tables.ts';

interface Banned {
  phrase: string;
  write: string;
  atMost?: number;
}

const PHRASES: Banned[] = parse(readFileSync(join(ROOT, 'test/docs/phrases.yaml'), 'utf8'));

/** Generated from code or YAML, which are searched themselves; CHANGELOG.md is history. */
const GENERATED = /^(?:CHANGELOG\.md|docs\/(?:cli|reference)\.md|docs\/reference\/[^/]+\.md|api\/generated\/.*)$/;
const PAGE = /\.md$/;
const MANIFEST = /^(?:manifests\/.*\.ya?ml|docs\/reference\/.*\.yaml)$/;
const CODE = /^(?:api|core|hooks|webhooks|receiver|copy|client|connection|cli|page|ui|server)\/.*\.tsx?$/;

/** Pages quote messages and commands in code: those are texts of the product. */
const withoutCode = (text: string) => text.replaceAll(/^( *)```[\s\S]*?^\1```$/gm, '').replaceAll(/`[^`\n]*`/g, '');
/** The tests that show a row are cited by their titles. */
const withoutTitles = (text: string) => text.replaceAll(/^ +test\/.*: \[.*$/gm, '');
const withoutComments = (text: string) => text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|\s)\/\/.*/g, '$1');

const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: ROOT });
const FILES = listed
  .toString()
  .trim()
  .split('\n')
  .filter((file) => !GENERATED.test(file) && existsSync(join(ROOT, file)));

function linesOf(kind: RegExp, prose: (text: string) => string): { file: string; line: string }[] {
  return FILES.filter((file) => kind.test(file)).flatMap((file) =>
    prose(readFileSync(join(ROOT, file), 'utf8'))
      .split('\n')
      .map((line) => ({ file, line: line.trim() })),
  );
}

const written = [...linesOf(PAGE, withoutCode), ...linesOf(MANIFEST, withoutTitles)];
const coded = linesOf(CODE, withoutComments);

it.each(PHRASES)('"$phrase" is written as: $write', ({ phrase, atMost = 0 }) => {
  const pattern = new RegExp(`\\b(?:${phrase})\\b`, 'i');
  const having = (lines: typeof written) =>
    lines.filter(({ line }) => pattern.test(line)).map(({ file, line }) => `${file}: ${line}`);
  expect(having(written)).toEqual([]);
  const left = having(coded);
  expect(left.length, left.join('\n')).toBeLessThanOrEqual(atMost);
});
