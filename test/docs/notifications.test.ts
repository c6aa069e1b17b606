/** docs/notifications.md lists what people are told, and everything there is to tell is an Event with a row of its own. */
import { expect, it } from 'vitest';
import { NOTIFIED } from '../../api/notifications.ts';
import { codeIn, TABLES, table } from './tables.ts';

it('the table of notifications is that of api/notifications.ts', () => {
  const documented = table('notifications').map(({ reason, severity }) => [codeIn(reason), severity]);
  expect(Object.fromEntries(documented)).toEqual(NOTIFIED);
  expect(documented).toHaveLength(Object.keys(NOTIFIED).length);
});

it('everything that is told is an Event of the objects it is told of', () => {
  const EVENTS: Record<string, string> = { budget: 'RolloutBudget', 'what it was bypassed for': 'Gate' };
  for (const { reason, of = '' } of table('notifications')) {
    for (const kind of of.split(', ').filter((each) => each !== 'Gate' || !/Appro/.test(reason!))) {
      const rows = TABLES.find(({ name }) => name === `events ${EVENTS[kind] ?? kind}`)!.rows;
      expect(
        rows.map((row) => row.reason),
        kind,
      ).toContain(reason);
    }
  }
});
