/** The lists of docs/extending.md name what is there, and leave out nothing that all things of a kind have in common. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as annotations from '../../api/annotations.ts';
import { GOVERNED_KINDS } from '../../api/kinds.ts';
import { COUNTERS } from '../../api/metrics.ts';
import { LIMITS } from '../../core/limits.ts';
import { HOOKS } from '../../hooks/index.ts';
import { ENVIRONMENT } from '../../server/config.ts';
import { WEBHOOKS } from '../../webhooks/index.ts';
import { objectsBelow } from '../manifests/files.ts';
import { crdFields } from './fields.ts';
import { ROOT, readPage } from './tables.ts';

const PATH = /^(?:[\w.-]+\/)+[\w.-]+\.\w+$/;

/** Title of each list → its text. */
const LISTS = new Map(
  readPage('extending.md')
    .split(/^## /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')), section]),
);

const codesIn = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code!);
const filesIn = (text: string) => codesIn(text).filter((code) => PATH.test(code));
/** At the top of a file: what a block names for itself is nobody else's. */
const definition = (symbol: string) =>
  new RegExp(`^(?:export )?(?:async )?(?:function|const|interface|type|class) ${symbol}\\b`, 'm');
const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8');

describe.each([...LISTS])('%s', (_, list) => {
  it('names files and folders that are there', () => {
    const paths = [...filesIn(list), ...codesIn(list).filter((code) => /^[\w-]+\/[\w/-]*$/.test(code))];
    const routes = new Set(['flux']);
    expect(filesIn(list).length).toBeGreaterThan(2);
    expect(paths.filter((path) => !routes.has(path) && !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('names symbols that their files define', () => {
    for (const [, file, symbol] of list.matchAll(/`([^`]+\.ts)`\s+`(\w+)`/g)) {
      expect(textOf(file!), `${symbol} in ${file}`).toMatch(definition(symbol!));
    }
  });

  it('is numbered in order', () => {
    const numbers = [...list.matchAll(/^(\d+)\. /gm)].map(([, number]) => Number(number));
    expect(numbers).toEqual(numbers.map((_, i) => i + 1));
  });
});

/** What people write: nothing generated, and nothing that tests of one thing, or the story of a change, would have to mention. */
const FILES = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: ROOT })
  .toString()
  .trim()
  .split('\n')
  .filter((file) => /\.(ts|md|ya?ml|json)$/.test(file) && existsSync(join(ROOT, file)))
  .filter(
    (file) =>
      !/^(docs\/(?:extending|reference)\.md|docs\/reference\/.*|CHANGELOG\.md|package-lock\.json|test\/docs\/extending\.test\.ts)$/.test(
        file,
      ),
  )
  .map((file) => ({ file, text: textOf(file) }));

/** Things of a kind, each by the words that mention it. */
const word = (...words: string[]) => new RegExp(words.map((each) => `(?<![\\w-])${each}(?![\\w-])`).join('|'));
const constantOf = (key: string) => Object.entries(annotations).find(([, value]) => value === key)![0];
const THINGS: [title: string, things: RegExp[]][] = Object.entries({
  'A kind of Flux that Gates hold': GOVERNED_KINDS.map(({ kind, resource }) => word(kind, resource)),
  'A request annotation on a Rollout': annotations.ONE_SHOT.map((key) => word(key, constantOf(key))),
  'A field of Gate, or of another kind of ours': crdFields('gating.toolkit.fluxcd.io_gates', 'spec')
    .filter(({ path }) => /^\w+$/.test(path))
    .map(({ path }) => word(path)),
  "A field of a Rollout's history": crdFields('kuberik.com_rollouts', 'status')
    .filter(({ path }) => /^history\[\]\.\w+(\[\])?$/.test(path))
    .map(({ path }) => word(path.slice('history[].'.length).replace('[]', ''))),
  'A metric': Object.keys(COUNTERS).map((name) => word(name)),
  'A limit': Object.keys(LIMITS).map((name) => word(name)),
  'A setting': Object.keys(ENVIRONMENT).map((name) => word(name)),
  'A hook': HOOKS.map(({ name }) => word(name)),
  'An admission route': Object.keys(WEBHOOKS).map((name) => new RegExp(`\\b${name}\\b`)),
});
THINGS.push(['A hook', objectsBelow('controllers').map(({ metadata }) => word(metadata.name))]);

it.each(THINGS)('%s: every file that mentions each of them is in the list', (title, things) => {
  expect(things.length).toBeGreaterThan(2);
  const common = FILES.filter(({ text }) => things.every((thing) => thing.test(text))).map(({ file }) => file);
  expect(common.length).toBeGreaterThan(0);
  const listed = filesIn(LISTS.get(title)!);
  expect(common.filter((file) => !listed.includes(file))).toEqual([]);
});
