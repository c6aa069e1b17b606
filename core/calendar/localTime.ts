/**
 * Wall-clock times of a time zone as instants. Days are counted from 1970-01-01. A time that the clock skips means the
 * moment of the jump; a time that it shows twice means the first one. So a later wall-clock time is never an earlier
 * instant.
 */
import { Temporal } from 'temporal-polyfill';
import type { EpochMs } from '../../api/kubernetes.ts';
import { Memo } from '../collection/memo.ts';
import { DAY_MS } from '../kube/time.ts';

const EPOCH = new Temporal.PlainDate(1970, 1, 1);
const MINUTE_MS = 60_000;
/** A cache of instants: time zone arithmetic takes a hundred times as long as the rest of an evaluation. */
const instants = new Memo<EpochMs>(20_000);
const zones = new Memo<boolean>(1000);

/**
 * Whether the text is the name of a time zone. Offsets, which have no daylight saving time, are rejected, as in Go. So
 * are old abbreviations such as `PST`, which Intl accepts and Temporal rejects.
 */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name) || name === 'Local' || name.length > 100) return false;
  return zones.get(name, () => {
    try {
      new Temporal.ZonedDateTime(0n, name);
      return true;
    } catch {
      return false;
    }
  });
}

/** The local day of an instant. */
export function localDay(at: EpochMs, timeZone: string): number {
  const offset =
    timeZone === 'UTC'
      ? 0
      : Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone).offsetNanoseconds / 1_000_000;
  return Math.floor((at + offset) / DAY_MS);
}

export function startOfDay(day: number, timeZone: string): EpochMs {
  if (timeZone === 'UTC') return day * DAY_MS;
  return exactInstant(day, 0, timeZone);
}

/** The instant at which the clock shows `minutes` after midnight. */
export function instantOf(day: number, minutes: number, timeZone: string): EpochMs {
  const start = startOfDay(day, timeZone);
  if (minutes === 0) return start;
  const isPlain = startOfDay(day + 1, timeZone) - start === DAY_MS;
  return isPlain ? start + minutes * MINUTE_MS : exactInstant(day, minutes, timeZone);
}

function exactInstant(day: number, minutes: number, timeZone: string): EpochMs {
  return instants.get(`${timeZone} ${day} ${minutes}`, () => computeInstant(day, minutes, timeZone));
}

function computeInstant(day: number, minutes: number, timeZone: string): EpochMs {
  const time = { hour: Math.floor(minutes / 60), minute: minutes % 60 };
  const wall = EPOCH.add({ days: day }).toPlainDateTime(time);
  const zoned = wall.toZonedDateTime(timeZone, { disambiguation: 'earlier' });
  if (zoned.toPlainDateTime().equals(wall)) return zoned.epochMilliseconds;
  return zoned.getTimeZoneTransition('next')!.epochMilliseconds;
}
