/** The source files of the repository and what each imports, read from their text. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { REPOSITORY } from '../../dev/repository.ts';

interface Source {
  path: string;
  lines: number;
  /** Paths in the repository. */
  files: string[];
  /** Names of packages without paths; Node's modules with `node:`. */
  packages: string[];
}

const STATIC = /^(?:import|export)\s(?:[^'";]*?\sfrom\s)?'([^']+)'/gm;
const DYNAMIC = /\bimport\('([^']+)'\)/g;

function git(...args: string[]): string[] {
  return execFileSync('git', args, { cwd: REPOSITORY, encoding: 'utf8' }).trim().split('\n');
}

function read(path: string): Source {
  const text = readFileSync(join(REPOSITORY, path), 'utf8');
  const specifiers = [...text.matchAll(STATIC), ...text.matchAll(DYNAMIC)].map(([, specifier = '']) => specifier);
  const [files, packages] = [specifiers.filter(isRelative), specifiers.filter((specifier) => !isRelative(specifier))];
  return {
    path,
    lines: text.trimEnd().split('\n').length,
    files: [...new Set(files.map((file) => normalize(join(dirname(path), file))))],
    packages: [...new Set(packages.map(packageOf))],
  };
}

function isRelative(specifier: string): boolean {
  return specifier.startsWith('.');
}

function packageOf(specifier: string): string {
  const names = specifier.startsWith('@') ? 2 : 1;
  return specifier.split('/').slice(0, names).join('/');
}

/** Files in Git or about to be added, without generated ones. */
export const SOURCES: Source[] = git('ls-files', '--cached', '--others', '--exclude-standard', '*.ts', '*.tsx', '*.mjs')
  .filter((path) => !path.startsWith('api/generated/') && existsSync(join(REPOSITORY, path)))
  .map(read);

/** The cycles of a graph, each once, as a path. */
export function cycles(graph: ReadonlyMap<string, Iterable<string>>): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (node: string, way: string[]): void => {
    const start = way.indexOf(node);
    if (start >= 0) found.push([...way.slice(start), node].join(' → '));
    if (start >= 0 || done.has(node)) return;
    for (const next of graph.get(node) ?? []) visit(next, [...way, node]);
    done.add(node);
  };
  for (const node of graph.keys()) visit(node, []);
  return found;
}
