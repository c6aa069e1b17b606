/** docs/security.md lists every limit, with its number. */
import { expect, it } from 'vitest';
import { COPY_LIMITS } from '../../core/copy/limits.ts';
import { LIMITS } from '../../core/limits.ts';
import { RECEIVER_LIMITS } from '../../receiver/index.ts';
import { SERVER_LIMITS } from '../../server/http/limits.ts';
import { codeIn, table } from './tables.ts';

it.each([
  ['limits', 'core/limits.ts', LIMITS],
  ['copy-limits', 'core/copy/limits.ts', COPY_LIMITS],
  ['server-limits', 'server/http/limits.ts and receiver/index.ts', { ...SERVER_LIMITS, ...RECEIVER_LIMITS }],
])('the table of %s is that of %s', (name, _file, limits) => {
  const documented = table(name).map(({ limit, value }) => [codeIn(limit), Number(value?.replaceAll(',', ''))]);
  expect(Object.fromEntries(documented)).toEqual(limits);
});

it('the table of tenancy says who reaches what by which right', () => {
  for (const row of table('tenancy')) expect(Object.values(row).every((cell) => cell !== '')).toBe(true);
  expect(table('tenancy').length).toBeGreaterThan(0);
});
