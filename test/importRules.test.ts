/** The import rules of docs/architecture.md, and the rules by which Biome keeps core and client pure. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cycles, SOURCES } from './support/sources.ts';
import { temporaryFolder } from './support/temporaryFolder.ts';

const ROOT = join(import.meta.dirname, '..');

/** Packages of programs; the client library of Kubernetes is for server/cluster, connection/kube and dev. */
const ANY = /^(?!@kubernetes)/;

/**
 * What the files of a folder import beside files of the folder: other folders and files, and packages. The longest
 * folder counts.
 */
const MAY_IMPORT: Record<string, [files: string, packages?: RegExp]> = {
  // The vocabulary.
  api: [''],
  // Pure: time, randomness and effects are arguments.
  core: ['api', /^(semver|re2js|temporal-polyfill|ajv|@noble.hashes)$/],
  client: ['api core'],
  // Entry points translate JSON to core and back; effects are ports (api/ports.ts).
  hooks: ['api core live', /^ajv$/],
  webhooks: ['api core live', /^ajv$/],
  live: ['api core'],
  receiver: ['api core', /^express$/],
  copy: ['api core'],
  audit: ['api core'],
  // Implements the ports, and decides nothing.
  server: ['api core/collection core/kube core/text', ANY],
  'server/cluster': ['api core/collection core/kube core/text server', /./],
  // Programs of a cluster join the folders.
  'main.ts': ['api core hooks webhooks server', ANY],
  'receiver/main.ts': ['api core receiver server', ANY],
  'copy/main.ts': ['api core copy server', ANY],
  'audit/main.ts': ['api core audit server', ANY],
  // The command and the page's server, and what they share.
  connection: ['api core client', ANY],
  'connection/kube': ['api core client server/cluster', /./],
  cli: ['api core client connection page/local.ts page/assets.ts', ANY],
  page: ['api core client connection server/http server/yield.ts', ANY],
  'page/inCluster': ['api core client connection page server', ANY],
  // Runs in a browser, and gets everything else from page/ over HTTP.
  ui: ['api core client', /^(preact|@preact.signals|@dagrejs.dagre)$/],
  // Tests import the development tools, never the other way round.
  dev: ['api core client hooks webhooks live receiver copy audit server connection cli page ui', /./],
};

const isIn = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);
const ruleOf = (path: string) =>
  Object.keys(MAY_IMPORT)
    .filter((folder) => isIn(path, folder))
    .toSorted((a, b) => b.length - a.length)[0];

it.each(Object.entries(MAY_IMPORT))('the imports of %s', (folder, [others, packages]) => {
  const files = SOURCES.filter(({ path }) => ruleOf(path) === folder);
  expect(files.length).toBeGreaterThan(0);
  const allowed = [folder, ...others.split(' ').filter(Boolean)];
  const wrong = files.flatMap((file) => [
    ...file.files.filter((other) => !allowed.some((one) => isIn(other, one))).map((other) => `${file.path}: ${other}`),
    ...file.packages.filter((name) => !packages?.test(name)).map((name) => `${file.path}: ${name}`),
  ]);
  expect(wrong).toEqual([]);
});

it('no hook or webhook imports another folder’s hook', () => {
  const wrong = SOURCES.filter(({ path }) => /^(hooks|webhooks)\//.test(path)).flatMap(({ path, files }) =>
    files.filter((file) => file.endsWith('Hook.ts') && !file.startsWith(dirname(path))),
  );
  expect(wrong).toEqual([]);
});

const forbidden: [file: string, line: string, rule: string][] = [
  ['core/gate/e.ts', 'export const now = Date.now();', 'noRestrictedGlobals'],
  ['core/gate/f.ts', 'export const now = new Date();', 'plugin'],
  ['core/kube/time.ts', 'export const now = new Date();', 'plugin'],
  ['core/kube/a/time.ts', 'export const at = new Date(0);', 'noRestrictedGlobals'],
  ['core/gate/g.ts', 'export const dice = Math.random();', 'noJsRestrictedProperties'],
  ['core/gate/h.ts', 'export async function wait() {}', 'plugin'],
  ['core/gate/i.ts', 'export const wait = async () => 1;', 'plugin'],
  ['core/gate/j.ts', 'setTimeout(() => {}, 1);', 'noRestrictedGlobals'],
  ['core/gate/k.ts', 'export const bytes = Buffer.from([]);', 'noRestrictedGlobals'],
  ['core/gate/l.ts', 'export const home = process.env;', 'noRestrictedGlobals'],
  ['core/gate/m.ts', "export const page = fetch('x');", 'noRestrictedGlobals'],
  ['core/calendar/n.ts', 'export const now = Temporal.Now.instant();', 'noJsRestrictedProperties'],
  ['client/explain/c.ts', 'export const now = Date.now();', 'noRestrictedGlobals'],
];

const folder = temporaryFolder('walls-');
const problems = lint(forbidden);

describe('Biome refuses', () => {
  it.each(forbidden)('%s: %s', (file, _, rule) => {
    expect(problems.get(file)?.join(' ')).toContain(rule);
  });
});

const SMALL_FILE_LINES = 20;

describe('the folders', () => {
  it('no cycle of files', () => {
    expect(cycles(new Map(SOURCES.map(({ path, files }) => [path, files])))).toEqual([]);
  });

  it('no cycle of folders', () => {
    expect(cycles(importedFolders())).toEqual([]);
  });

  it(`no file of up to ${SMALL_FILE_LINES} lines has one importer`, () => {
    const product = SOURCES.filter(({ path }) => !path.startsWith('test/'));
    const importers = (file: string) => product.filter(({ files }) => files.includes(file)).length;
    const small = product.filter(({ path, lines }) => lines <= SMALL_FILE_LINES && importers(path) === 1);
    expect(small.map(({ path }) => path)).toEqual([]);
  });
});

/**
 * The folders that each folder imports. A route table (index.ts) imports the folders below it, and counts as a folder
 * of its own.
 */
function importedFolders(): Map<string, Set<string>> {
  const folderOf = (path: string) => (basename(path) === 'index.ts' ? path : dirname(path));
  const found = new Map<string, Set<string>>();
  for (const { path, files } of SOURCES) {
    const elsewhere = files.filter((file) => dirname(file) !== dirname(path));
    found.set(folderOf(path), new Set([...(found.get(folderOf(path)) ?? []), ...elsewhere.map(folderOf)]));
  }
  return found;
}

/** Categories of the errors, by file. */
function lint(files: readonly (readonly [file: string, text: string, ...rest: string[]])[]): Map<string, string[]> {
  for (const file of ['biome.json', 'dev/scripts/pure.grit']) cpSync(join(ROOT, file), join(folder, file));
  for (const [file, text] of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), `${text}\n`);
  }
  const found = new Map<string, string[]>();
  for (const { category, location } of report().diagnostics) {
    const path = location.path.replace(/^\.\//, '');
    found.set(path, [...(found.get(path) ?? []), category]);
  }
  return found;
}

function report(): { diagnostics: { category: string; location: { path: string } }[] } {
  const args = [
    'lint',
    '--reporter=json',
    '--diagnostic-level=error',
    '--max-diagnostics=none',
    '--vcs-enabled=false',
    '.',
  ];
  try {
    return JSON.parse(
      execFileSync(join(ROOT, 'node_modules/.bin/biome'), args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' }),
    );
  } catch (error) {
    // Biome exits with an error, as expected.
    return JSON.parse((error as { stdout: string }).stdout);
  }
}
