/** The current time, as a signal that ticks while the page is visible, and times as text. */
import { signal } from '@preact/signals';
import type { EpochMs } from '../../api/kubernetes.ts';
import { whenText } from '../../client/explain/when.ts';

export const now = signal(Date.now());
setInterval(() => {
  if (document.visibilityState === 'visible') now.value = Date.now();
}, 1000);

export const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

export const clockText = (at: EpochMs, from: EpochMs): string => whenText(at, from, timeZone);

const CLOCK = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const SECONDS = new Intl.DateTimeFormat('en', { timeStyle: 'medium', hourCycle: 'h23' });
const DAY = new Intl.DateTimeFormat('en', { weekday: 'short', day: 'numeric', month: 'short' });
const MONTH_DAY = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' });

/** `Mon, Jan 4`. */
export const dayName = (at: EpochMs): string => DAY.format(at);
/** `Jan 4`. */
export const monthDay = (at: EpochMs): string => MONTH_DAY.format(at);

/** The label of a tick: the day at midnight, otherwise the time, with seconds if there are any. */
export function tickText(date: Date): string {
  if (date.getSeconds() > 0) return SECONDS.format(date);
  return date.getHours() + date.getMinutes() === 0 ? monthDay(date.getTime()) : CLOCK.format(date);
}
