/** The licenses of bundled packages are beside the bundle. */
import type { Metafile } from 'esbuild';
import { expect, it } from 'vitest';
import { noticesOf, noticesText } from '../../../dev/scripts/notices.ts';

const bundled = (inputs: Record<string, number>): Metafile => ({
  inputs: {},
  outputs: {
    'out.js': {
      bytes: 0,
      imports: [],
      exports: [],
      inputs: Object.fromEntries(Object.entries(inputs).map(([path, bytesInOutput]) => [path, { bytesInOutput }])),
    },
  },
});

it('names each package that has a part in an output once, with its text', () => {
  const notices = noticesOf([
    bundled({ 'cli/main.ts': 9, 'node_modules/yaml/dist/index.js': 5, 'node_modules/yaml/dist/nodes/Node.js': 5 }),
    bundled({ 'node_modules/@preact/signals/dist/signals.mjs': 7, 'node_modules/commander/index.js': 0 }),
  ]);
  expect(notices.map(({ name, license }) => `${name} ${license}`)).toEqual(['@preact/signals MIT', 'yaml ISC']);
  expect(noticesText(notices)).toContain('Permission to use, copy, modify, and/or distribute this software');
});

it('names the copy of a package that another one brings', () => {
  const [notice] = noticesOf([bundled({ 'node_modules/wrap-ansi/node_modules/ansi-styles/index.js': 1 })]);
  expect(notice).toMatchObject({ name: 'ansi-styles', license: 'MIT' });
});

it('refuses to bundle a package with an unknown license', () => {
  expect(() =>
    noticesOf([bundled({ 'node_modules/typescript/lib/version.cjs': 1, 'node_modules/axe-core/axe.js': 1 })]),
  ).toThrow(/^node_modules\/axe-core is bundled: its license is "MPL-2.0"/);
});
