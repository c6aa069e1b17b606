// biome-ignore-all lint/style/noRestrictedGlobals: core formats and parses times here alone.
/** Times as RFC 3339. Stored times are UTC and have whole seconds, as clients of the Go controller expect. */
import type { EpochMs } from '../../api/kubernetes.ts';

const RFC3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;

/** 0000-01-01T00:00:00Z. RFC 3339 has no earlier time, and the API server rejects a status with one. */
const FIRST_INSTANT: EpochMs = -62_167_219_200_000;
/** 9999-12-31T23:59:59Z. RFC 3339 has no later time. */
export const LAST_INSTANT: EpochMs = 253_402_300_799_000;

/** The time as text: `2021-03-26T10:00:00Z`, with the fraction of a second cut off. */
export function formatTime(at: EpochMs): string {
  return `${isoText(at).slice(0, 19)}Z`;
}

/**
 * The time with its fraction, `2021-03-26T10:00:00.123Z`, if it has one: for times that must differ within a second.
 */
export function formatInstant(at: EpochMs): string {
  return isoText(at).replace('.000Z', 'Z');
}

/** The beginning of the minute. */
export function minuteOf(now: EpochMs): string {
  return formatInstant(now - (now % 60_000));
}

function isoText(at: EpochMs): string {
  return new Date(Math.min(Math.max(at, FIRST_INSTANT), LAST_INSTANT)).toISOString();
}

/** The instant of an RFC 3339 time; undefined for any other text. */
export function parseTime(text: string | undefined | null): EpochMs | undefined {
  if (!text || !RFC3339.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}

/** The instant as it is stored: in whole seconds. */
export function wholeSeconds(at: EpochMs): EpochMs {
  return Math.floor(at / 1000) * 1000;
}

/** The time as the start of a stored period: rounded up to a whole second, or the period would end before its time. */
export function startSeconds(at: EpochMs): EpochMs {
  return Math.ceil(at / 1000) * 1000;
}

export const DAY_MS = 24 * 60 * 60 * 1000;

/** The days from 1970-01-01 to a day `YYYY-MM-DD`; undefined if there is no such day. */
export function dayNumber(text: string): number | undefined {
  // Date.parse takes 30 February for 2 March.
  const at = Date.parse(`${text}T00:00:00Z`);
  return new Date(at).getUTCDate() === Number(text.slice(8)) ? at / DAY_MS : undefined;
}

/** Seconds until a change at `at` can be evaluated: half a second after it, and at least one second from now. */
export function secondsUntil(at: EpochMs, now: EpochMs): number {
  return Math.max(1, (at - now) / 1000 + 0.5);
}

/** The earliest of the known times; undefined if none is known. */
export function earliestTime(times: readonly (EpochMs | undefined)[]): EpochMs | undefined {
  const known = times.filter((at) => at !== undefined);
  return known.length > 0 ? known.reduce((a, b) => Math.min(a, b)) : undefined;
}

/** The latest of the known times; undefined if none is known. */
export function latestTime(times: readonly (EpochMs | undefined)[]): EpochMs | undefined {
  const known = times.filter((at) => at !== undefined);
  return known.length > 0 ? Math.max(...known) : undefined;
}
