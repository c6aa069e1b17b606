/** Command lines are on their own lines in the output of commands; explained.ts checks the texts of scenarios. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commandInside } from '../../support/commands.ts';

const TESTS = join(import.meta.dirname, '../..');
const goldens = ['cli/golden', 'cluster/golden'].flatMap((folder) =>
  readdirSync(join(TESTS, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.txt'))
    .map((file) => `${folder}/${file}`),
);

it.each(goldens)('golden %s', (file) => {
  const printed = readFileSync(join(TESTS, file), 'utf8').split('\n');
  // The command line, its examples and its options are not messages.
  const messages = printed.filter((line) => !/^\s*(\$|#|\+|-- )|^Usage:|--help/.test(line));
  expect(messages.filter((line) => commandInside(line) !== undefined)).toEqual([]);
});

it.each([
  ['To open: kubectl -n shop annotate gate/a b=c.', true],
  ['it goes on (kubectl rollouts open gate/a)', true],
  ['To open it:\n  kubectl -n shop annotate gate/a b=c', false],
  ['what kubectl and flux have added stays', false],
])('%j has a command inside a sentence: %s', (text, is) => {
  expect(commandInside(text) !== undefined).toBe(is);
});
