import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fileLines } from '../../connection/read/fileLines.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

it('a line ends at a line feed only; an incomplete last line is left out of a file that is being written', async () => {
  const file = join(temporaryFolder('lines-'), 'lines');
  writeFileSync(file, '{"a":"\u2028\u2029\r"}\n{"b":1}\n{"torn');
  const complete = ['{"a":"\u2028\u2029\r"}', '{"b":1}'];
  expect(await linesOf(file)).toEqual([...complete, '{"torn']);
  expect(await linesOf(file, { isBeingWritten: true })).toEqual(complete);
});

async function linesOf(...args: Parameters<typeof fileLines>): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of fileLines(...args)) lines.push(line);
  return lines;
}
