/** The image has the files that its programs need, and its build context has no others. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { parseDockerfile, type Stage } from '../../dev/image/dockerfile.ts';

const ROOT = join(import.meta.dirname, '../..');
const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8');

const stages = parseDockerfile(textOf('Dockerfile'));
/** Sources of COPY, without those from another stage. */
const sourcesOf = ({ steps }: Stage) =>
  steps.flatMap((step) => (step.does === 'copy' && step.from === undefined ? step.sources : []));
const copied = sourcesOf(stages.at(-1)!);
const ignored = textOf('.dockerignore')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));

/** Files and packages that programs load, by imports and as threads. */
function loadedBy(...programs: string[]): { files: Set<string>; packages: Set<string> } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const visit = (file: string) => {
    if (files.has(file)) return;
    files.add(file);
    const text = textOf(file);
    const statements = text.matchAll(
      /^(?:import|export)\s(?!type\s)(?:[^'";]*?\sfrom\s)?'([^']+)';|\bimport\('([^']+)'\)/gm,
    );
    const threads = text.matchAll(/new URL\('([^']+)', import\.meta\.url\)/g);
    for (const [, first, second] of [...statements, ...threads]) {
      const specifier = first ?? second;
      if (specifier!.startsWith('.')) visit(relative(ROOT, join(ROOT, dirname(file), specifier!)));
      else if (!specifier!.startsWith('node:')) {
        packages.add(specifier!.split('/', specifier!.startsWith('@') ? 2 : 1).join('/'));
      }
    }
  };
  for (const program of programs) visit(program);
  return { files, packages };
}

const loaded = loadedBy('main.ts', 'copy/main.ts', 'audit/main.ts', 'page/inCluster/main.ts');

it('every file that the programs load is copied', () => {
  expect(loaded.files.size).toBeGreaterThan(100);
  const missing = [...loaded.files].filter(
    (file) => !copied.some((source) => file === source || file.startsWith(`${source}/`)),
  );
  expect(missing).toEqual([]);
});

it('every package that the programs load is installed with them, and no other', () => {
  const { dependencies } = JSON.parse(textOf('package.json'));
  expect([...loaded.packages].sort()).toEqual(Object.keys(dependencies).sort());
});

it('every folder that is copied has something that a program loads', () => {
  const folders = copied.filter((source) => statSync(join(ROOT, source)).isDirectory());
  const idle = folders.filter((folder) => ![...loaded.files].some((file) => file.startsWith(`${folder}/`)));
  expect(idle).toEqual([]);
});

it('nothing of the command is loaded', () => {
  expect([...loaded.files].filter((file) => file.startsWith('cli/'))).toEqual([]);
});

it('.dockerignore includes exactly the copied files', () => {
  expect(ignored[0]).toBe('*');
  const sent = new Set(stages.flatMap(sourcesOf));
  expect([...new Set(ignored.slice(1))].sort()).toEqual([...sent].map((source) => `!${source}`).sort());
  for (const source of sent) expect(existsSync(join(ROOT, source)), source).toBe(true);
});
