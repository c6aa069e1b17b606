import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { linesOf } from '../../../dev/local/auditLog.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';

it('a line ends at a line feed only; an incomplete last line is left out', async () => {
  const file = join(temporaryFolder('lines-'), 'lines');
  writeFileSync(file, '{"a":"\u2028\u2029\r"}\n{"b":1}\n{"torn');
  const lines: string[] = [];
  for await (const line of linesOf(file)) lines.push(line);
  expect(lines).toEqual(['{"a":"\u2028\u2029\r"}', '{"b":1}']);
});
