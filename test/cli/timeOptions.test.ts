/** The times of one closure on the command line. */
import { expect, it } from 'vitest';
import type { Context } from '../../cli/command/command.ts';
import { closedSpanOf } from '../../cli/command/timeOptions.ts';

it.each([
  ['a Wednesday', '2026-11-25T10:00:00Z'],
  ['the Saturday between them', '2026-11-28T10:00:00Z'],
])('--until is the first such time after --at, on %s too', (_, now) => {
  const context = { now: () => Date.parse(now), timeZone: 'Europe/Berlin' } as Context;
  const { at, until } = closedSpanOf(context, { at: 'Fri 18:00', until: 'Mon 08:00' });
  expect(until! - at!).toBe(62 * 3_600_000);
});
