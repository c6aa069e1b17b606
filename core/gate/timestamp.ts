/** Times and durations as they are written on Gates. */
import type { EpochMs } from '../../api/kubernetes.ts';
import { parseDuration } from '../kube/duration.ts';
import { LAST_INSTANT, parseTime, wholeSeconds } from '../kube/time.ts';

/** Clocks of laptops, API server and hooks differ: a timestamp at most this far ahead means now. */
export const CLOCK_TOLERANCE_MS = 60_000;

/** Whole seconds. undefined for anything that is not an RFC 3339 time of a day that exists. */
export function parseRequestTime(text: string | undefined): EpochMs | undefined {
  const at = parseTime(text);
  if (at === undefined || at < 0 || at > LAST_INSTANT) return undefined;
  const [year, month, day] = text!.slice(0, 10).split('-').map(Number) as [number, number, number];
  // Date.parse takes 30 February for 2 March, and 24:00 for the next day.
  if (day > new Date(Date.UTC(year, month, 0)).getUTCDate() || text!.slice(11, 13) === '24') return undefined;
  return wholeSeconds(at);
}

/** Milliseconds in whole seconds, rounded up because stored times have no fraction. undefined when it does not parse. */
export function parseWindow(text: string): number | undefined {
  const window = parseDuration(text);
  return window === undefined ? undefined : Math.ceil(window / 1000) * 1000;
}

/** `at + duration`, no later than can be written. */
export function after(at: EpochMs, duration: number): EpochMs {
  return Math.min(at + duration, LAST_INSTANT);
}
