import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { expect, it } from 'vitest';
import { instantOf, isTimeZone, localDay } from '../../../core/calendar/localTime.ts';

/** Zones that skip a midnight, show one twice, skip a whole day, or turn by half an hour. */
const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/Sao_Paulo',
  'America/Havana',
  'Pacific/Apia',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'Asia/Kathmandu',
  'Asia/Beirut',
  'Antarctica/Troll',
];
const DAY_MS = 86_400_000;

/** The definition, without caching and shortcuts. */
function reference(day: number, minutes: number, timeZone: string): number {
  const wall = new Temporal.PlainDate(1970, 1, 1)
    .add({ days: day })
    .toPlainDateTime({ hour: Math.floor(minutes / 60), minute: minutes % 60 });
  const zoned = wall.toZonedDateTime(timeZone, { disambiguation: 'earlier' });
  if (zoned.toPlainDateTime().equals(wall)) return zoned.epochMilliseconds;
  return zoned.getTimeZoneTransition('next')!.epochMilliseconds;
}

const zone = fc.constantFrom(...ZONES);
/** From 2000 to 2040; a quarter are near the end of a month, when clocks change. */
const day = fc.integer({ min: 10_957, max: 25_567 });

it('a time of day is the instant in Temporal', () => {
  fc.assert(
    fc.property(zone, day, fc.integer({ min: 0, max: 1439 }), (timeZone, on, minutes) => {
      expect(instantOf(on, minutes, timeZone)).toBe(reference(on, minutes, timeZone));
    }),
    { numRuns: 1000 },
  );
});

it('on every day on which a clock turns, for every half hour', () => {
  for (const timeZone of ZONES) {
    let at: Temporal.ZonedDateTime | null = Temporal.ZonedDateTime.from(`2009-01-01T00:00[${timeZone}]`);
    for (let turn = 0; at && turn < 8; turn++) {
      at = at.getTimeZoneTransition('next');
      const turned = at && Math.floor(at.epochMilliseconds / DAY_MS);
      for (const on of turned === null ? [] : [turned - 1, turned, turned + 1]) {
        for (let minutes = 0; minutes < 1440; minutes += 30) {
          expect(instantOf(on, minutes, timeZone), `${timeZone} ${on} ${minutes}`).toBe(
            reference(on, minutes, timeZone),
          );
        }
      }
    }
  }
});

it('the local day of an instant is the one in Temporal', () => {
  fc.assert(
    fc.property(zone, fc.integer({ min: -1e12, max: 4e12 }), (timeZone, at) => {
      const date = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone).toPlainDate();
      const days = new Temporal.PlainDate(1970, 1, 1).until(date, { largestUnit: 'days' }).days;
      expect(localDay(at, timeZone)).toBe(days);
    }),
    { numRuns: 500 },
  );
});

it.each([...Intl.supportedValuesOf('timeZone'), 'UTC', 'EST', 'US/Pacific', 'PST8PDT', 'JST', 'IST', 'ACT'])(
  '%s is no time zone, or has local days',
  (name) => {
    if (isTimeZone(name)) expect(localDay(0, name)).toBeOneOf([-1, 0]);
  },
);

it.each(['+01:00', 'Local', 'Mars/Olympus', 'x'.repeat(300_000), ''])('%.20s is no time zone', (name) => {
  expect(isTimeZone(name)).toBe(false);
});
