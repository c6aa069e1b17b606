/** Files are readable in two minutes: none is longer than this without a reason, and none is left from a merge. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const MOST_LINES = 400;

/** Why a file may be longer. */
const REASONS: Record<string, string> = {
  'test/client/explain/kinds.yaml': 'a list of objects with their explanations, each a few lines of data',
  'test/scenario/rollout/gaps.yaml': 'a list of scenarios, each a few lines of data',
};

const FOLDERS = [
  'api',
  'core',
  'client',
  'hooks',
  'webhooks',
  'live',
  'receiver',
  'copy',
  'audit',
  'connection',
  'cli',
  'page',
  'server',
  'test',
];
const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...FOLDERS], {
  cwd: ROOT,
});
const long = tracked
  .toString()
  .split('\n')
  .filter(
    (file) => /\.(ts|mjs|ya?ml|json)$/.test(file) && !file.includes('/generated/') && existsSync(join(ROOT, file)),
  )
  .filter((file) => readFileSync(join(ROOT, file), 'utf8').split('\n').length > MOST_LINES + 1);

it(`no file has more than ${MOST_LINES} lines without a reason`, () => {
  expect(long.filter((file) => !REASONS[file])).toEqual([]);
});

it('no reason is left for a file that is short, or gone', () => {
  expect(Object.keys(REASONS).filter((file) => !long.includes(file))).toEqual([]);
});

it('no file is left from a merge', () => {
  expect(execFileSync('git', ['ls-files', '*.orig', '*.rej'], { cwd: ROOT }).toString()).toBe('');
});
