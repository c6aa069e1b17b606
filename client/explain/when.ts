/** Times as text: in the user's time zone, relative to now, and ages as kubectl prints them. */
import type { EpochMs } from '../../api/kubernetes.ts';
import { DAY_MS, parseTime } from '../../core/kube/time.ts';

const [SECOND, MINUTE, HOUR] = [1000, 60_000, 3_600_000];

/** An age as in kubectl's column AGE, rounded to two units at most: `45s`, `3m20s`, `5h12m`, `12d`. */
export function ageText(ms: number): string {
  const span = Math.max(0, ms);
  const [seconds, minutes, hours, days] = [SECOND, MINUTE, HOUR, DAY_MS].map((unit) => Math.floor(span / unit)) as [
    number,
    number,
    number,
    number,
  ];
  const two = (big: number, bigUnit: string, small: number, smallUnit: string) =>
    small === 0 ? `${big}${bigUnit}` : `${big}${bigUnit}${small}${smallUnit}`;
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return two(minutes, 'm', seconds % 60, 's');
  if (hours < 3) return `${minutes}m`;
  if (hours < 8) return two(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  if (days < 8) return two(days, 'd', hours % 24, 'h');
  if (days < 730) return `${days}d`;
  return two(Math.floor(days / 365), 'y', days % 365, 'd');
}

/** A time relative to now: `2d ago`, `in 3h52m`, `now`. */
export function relativeText(at: EpochMs, now: EpochMs): string {
  const span = at - now;
  if (Math.abs(span) < SECOND) return 'now';
  return span > 0 ? `in ${ageText(span)}` : `${ageText(-span)} ago`;
}

/** A time, as short as is clear: `14:30` today, `Mon 08:00` within six days, `24 Dec 2026 08:00` beyond. */
export function whenText(at: EpochMs, now: EpochMs, timeZone: string): string {
  const there = partsOf(at, timeZone);
  const here = partsOf(now, timeZone);
  const clock = `${there.hour}:${there.minute}`;
  if (there.date === here.date) return Math.abs(at - now) < 10 * MINUTE ? `${clock}:${there.second}` : clock;
  if (Math.abs(at - now) < 6 * DAY_MS) return `${there.weekday} ${clock}`;
  return `${there.date} ${clock}`;
}

const RFC3339 = /\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})/g;

/** The sentence with readable times in place of times of RFC 3339. */
export function withReadableTimes(text: string, now: EpochMs, timeZone: string): string {
  return text.replace(RFC3339, (found) => {
    const at = parseTime(found);
    return at === undefined ? found : whenText(at, now, timeZone);
  });
}

const formats = new Map<string, Intl.DateTimeFormat>();

function partsOf(at: EpochMs, timeZone: string) {
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', {
      timeZone,
      weekday: 'short',
      year: 'numeric',
      month: 'short',
      day: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
    });
    formats.set(timeZone, format);
  }
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
  const { weekday = '', hour = '', minute = '', second = '' } = parts;
  return { weekday, hour, minute, second, date: `${parts.day} ${parts.month} ${parts.year}` };
}

const FULL = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'long' });

/** The whole time in words. NaN is the time of a text that is none: any user may have written it. */
export function fullTime(at: EpochMs): string {
  return Number.isNaN(at) ? 'an unknown time' : FULL.format(at);
}
