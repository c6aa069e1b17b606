/** Where a test is looked for: test/ has the folders of the sources, and beside them the few that are listed. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
/** What is tested here is in no folder of the sources. */
const OWN = ['cluster', 'faults', 'long', 'scenario', 'support', 'repository'];

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'test'], { cwd: ROOT })
  .toString()
  .split('\n')
  .filter((file) => existsSync(join(ROOT, file)));
const folders = [...new Set(files.map((file) => dirname(file).split('/').slice(1).join('/')))].filter(Boolean);

it('every folder of test/ is a folder of the sources, or one of its own', () => {
  expect(folders).toContain('core/gate');
  const lost = folders.filter(
    (folder) => !OWN.includes(folder.split('/')[0]!) && !existsSync(join(ROOT, folder.replace(/\/golden$/, ''))),
  );
  expect(lost).toEqual([]);
});

it('no folder of its own is one of the sources', () => {
  expect(OWN.filter((folder) => existsSync(join(ROOT, folder)))).toEqual([]);
});
