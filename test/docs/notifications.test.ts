/** docs/notifications.md lists all notifications, and each is an Event with a row of its own. */
import { expect, it } from 'vitest';
import { NOTIFIED } from '../../api/notifications.ts';
import { codeIn, TABLES, table } from './tables.ts';

const rows = table('notifications').map(({ severity, of = '', reasons = '' }) => ({
  severity,
  kinds: of.split(', '),
  reasons: reasons.split(', ').map(codeIn),
}));

it('the table of notifications is that of api/notifications.ts', () => {
  const documented = rows.flatMap(({ severity, reasons }) => reasons.map((reason) => [reason, severity]));
  expect(Object.fromEntries(documented)).toEqual(NOTIFIED);
  expect(documented).toHaveLength(Object.keys(NOTIFIED).length);
});

it('everything that is sent is an Event of the objects it is about', () => {
  const EVENTS: Record<string, string> = { budget: 'RolloutBudget', 'what was bypassed': 'Gate' };
  for (const { kinds, reasons } of rows) {
    for (const kind of kinds) {
      // A Gate with approvals has the Events of a RolloutGate.
      const names = [`events ${EVENTS[kind] ?? kind}`, ...(kind === 'Gate' ? ['events RolloutGate'] : [])];
      const documented = TABLES.filter(({ name }) => names.includes(name)).flatMap((each) => each.rows);
      expect(documented.map(({ reason }) => codeIn(reason))).toEqual(expect.arrayContaining(reasons));
    }
  }
});
