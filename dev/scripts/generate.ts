/** `npm run generate`: writes every generated file of this repository. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { program } from '../local/process/options.ts';
import { REPOSITORY } from '../repository.ts';
import { cataloguePages } from './generate-catalogues.ts';
import { commandPage } from './generate-cli-docs.ts';
import { referencePage } from './generate-reference.ts';
import { typeFiles } from './generate-types.ts';

const ABOUT =
  'Writes api/generated and docs/reference/fields.md from the CRDs, docs/reference from lists in the code, and docs/cli.md from the commands.';

const { check } = program('npm run generate --', ABOUT)
  .option('--check', 'only compare; exit 1 when a file is out of date')
  .parse()
  .opts<{ check?: true }>();
const all = [await typeFiles(), await referencePage(), await cataloguePages(), await commandPage()];
let stale = false;
for (const [path, generated] of all.flat()) {
  const file = join(REPOSITORY, path);
  const before = await readFile(file, 'utf8').catch(() => '');
  const text = path.endsWith('.md') ? headOf(path, before) + generated : generated;
  if (before === text) continue;
  if (check) {
    console.error(`${path} is out of date: run npm run generate`);
    stale = true;
    continue;
  }
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}
process.exit(stale ? 1 : 0);

/** The beginning of a page, up to the mark. */
function headOf(path: string, page: string): string {
  const [head] = /^.*?<!-- From here on written by .*? -->\n\n/s.exec(page) ?? [];
  if (head === undefined) throw new Error(`${path} has no mark for what is generated`);
  return head;
}
