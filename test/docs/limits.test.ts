/** docs/security.md lists every limit, with its number. */
import { expect, it } from 'vitest';
import { LIMITS } from '../../core/limits.ts';
import { codeIn, table } from './support/tables.ts';

it('the table of limits is that of core/limits.ts', () => {
  const documented = table('limits').map(({ limit, value }) => [codeIn(limit), Number(value?.replaceAll(',', ''))]);
  expect(Object.fromEntries(documented)).toEqual(LIMITS);
});

it('the table of tenancy says who reaches what by which right', () => {
  for (const row of table('tenancy')) expect(Object.values(row).every((cell) => cell !== '')).toBe(true);
  expect(table('tenancy').length).toBeGreaterThan(0);
});
