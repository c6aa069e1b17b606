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

const DAY = new Intl.DateTimeFormat('en', { weekday: 'short', day: 'numeric', month: 'short' });
const MONTH_DAY = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' });

/** `Mon, Jan 4`. */
export const dayName = (at: EpochMs): string => DAY.format(at);
/** `Jan 4`. */
export const monthDay = (at: EpochMs): string => MONTH_DAY.format(at);
