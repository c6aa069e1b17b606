/** A line of a comment fits into 120 columns: Biome formats code only. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const MOST_COLUMNS = 120;

/** A line that is a comment, or a part of one. Rows of tables can't be broken. */
const COMMENT = /^\s*(?:\/\/|\/\*|\*(?! \|))/;

const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: ROOT });
const files = tracked
  .toString()
  .split('\n')
  .filter((file) => /\.(tsx?|mjs)$/.test(file) && !file.includes('/generated/') && existsSync(join(ROOT, file)));

const isTooLong = (line: string) => line.length > MOST_COLUMNS && COMMENT.test(line);

it(`no line of a comment has more than ${MOST_COLUMNS} columns`, () => {
  const long = files.flatMap((file) =>
    readFileSync(join(ROOT, file), 'utf8')
      .split('\n')
      .filter(isTooLong)
      .map((line) => ({ file, line })),
  );
  expect(long).toEqual([]);
});
