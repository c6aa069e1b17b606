/** The time, as a signal that ticks while somebody looks; and times in words. */
import { signal } from '@preact/signals';

export const now = signal(Date.now());
setInterval(() => {
  if (document.visibilityState === 'visible') now.value = Date.now();
}, 1000);

const UNITS: [unit: string, ms: number][] = [
  ['y', 365 * 86_400_000],
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
];

/** `3h 52m`; two units at most. */
export function span(ms: number): string {
  const found = UNITS.findIndex(([, size]) => Math.abs(ms) >= size);
  if (found < 0) return '0s';
  const [unit, size] = UNITS[found]!;
  const whole = Math.floor(Math.abs(ms) / size);
  const next = UNITS[found + 1];
  const rest = next && whole < 10 ? Math.floor((Math.abs(ms) % size) / next[1]) : 0;
  return rest > 0 ? `${whole}${unit} ${rest}${next![0]}` : `${whole}${unit}`;
}

/** `2d ago`, `in 3h 52m`. */
export function relative(time: string, at: number): string {
  const ms = Date.parse(time) - at;
  if (Math.abs(ms) < 1000) return 'now';
  return ms > 0 ? `in ${span(ms)}` : `${span(ms)} ago`;
}

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const WEEKDAY = new Intl.DateTimeFormat('en', { weekday: 'short' });
const DAY = new Intl.DateTimeFormat('en', { weekday: 'short', day: 'numeric', month: 'short' });
const MONTH_DAY = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' });
const FULL = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'long' });

/** `14:05` today, `Mon 08:00` within the week, `Mon, Jan 4, 08:00` beyond. */
export function clockTime(time: string | number, at: number): string {
  const date = new Date(time);
  const hours = CLOCK.format(date);
  if (date.toDateString() === new Date(at).toDateString()) return hours;
  return Math.abs(date.getTime() - at) < 6 * 86_400_000
    ? `${WEEKDAY.format(date)} ${hours}`
    : `${DAY.format(date)}, ${hours}`;
}

export const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
export const fullTime = (time: string | number): string => FULL.format(new Date(time));
export const dayName = (time: number): string => DAY.format(new Date(time));
/** `Jan 4`. */
export const monthDay = (time: number): string => MONTH_DAY.format(new Date(time));
/** Of an axis: the hour, at midnight the day. */
export const tickText = (date: Date): string =>
  date.getHours() + date.getMinutes() === 0 ? monthDay(date.getTime()) : CLOCK.format(date);
