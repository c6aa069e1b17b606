import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const { scripts, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  scripts: Record<string, string>;
  devDependencies: Record<string, string>;
};

test('the tests run on the Node of package.json, not on the one of the machine', () => {
  expect(process.version).toBe(`v${devDependencies.node}`);
});

// A shell caches the path of `node`: in a fresh clone that is the machine's, from before the installation.
test.each(Object.entries(scripts).filter(([, script]) => script.includes('dev/scripts/bootstrap.mjs')))(
  'npm run %s starts nothing by a bare name once it has installed Node',
  (_, script) => {
    const afterwards = script.split('&&').slice(1);
    for (const command of afterwards) expect(command.trim()).toMatch(/^(exec node_modules\/\.bin\/node|npm run) /);
  },
);
