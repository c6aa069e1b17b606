/** package.json compared with imports. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { REPOSITORY } from '../../dev/repository.ts';
import { SOURCES } from '../support/sources.ts';

const { dependencies, devDependencies } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8'));

/** Used without an import: programs, types, fonts of a style sheet, and a script for a browser. */
const NAMED = [
  '@biomejs/biome',
  '@fontsource-variable/inter',
  '@fontsource-variable/jetbrains-mono',
  '@types/node',
  'axe-core',
  'node',
  'typescript',
];

const packagesOf = (isChosen: (path: string) => boolean) =>
  new Set(
    SOURCES.filter(({ path }) => isChosen(path))
      .flatMap(({ packages }) => packages)
      .filter((name) => !name.startsWith('node:')),
  );
/**
 * Whether a file belongs to a program that runs in a cluster. Command and page are bundled: their imports aren't
 * installed in the image.
 */
const isProduct = (path: string) => !/^(cli\/(?!kube\/|read\/)|(dev|test|ui)\/|vitest\.config\.ts$)/.test(path);
const product = packagesOf(isProduct);
const everywhere = packagesOf(() => true);

/** `@types/express` is used where `express` is. */
const typed = (name: string) => name.replace('@types/', '');

it('the dependencies are the product’s imports', () => {
  expect(Object.keys(dependencies).sort()).toEqual([...product].sort());
});

it('the devDependencies are the other imports', () => {
  const used = (name: string) => everywhere.has(typed(name)) || NAMED.includes(name);
  expect(Object.keys(devDependencies).filter((name) => !used(name))).toEqual([]);
  const undeclared = [...everywhere].filter((name) => !product.has(name) && !(name in devDependencies));
  expect(undeclared).toEqual([]);
});
