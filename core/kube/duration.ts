/** Go durations as the CRDs accept them: `90s`, `1h30m`, `1.5h`, `250ms`. */

const UNIT_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const WHOLE = /^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$/;
const PART = /([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)/g;

/** The longest text that is parsed. No real duration is longer. */
const MAX_DURATION_CHARACTERS = 128;

/** The duration in milliseconds; undefined if the text is not such a duration. */
export function parseDuration(text: string | undefined): number | undefined {
  if (text === undefined || text.length > MAX_DURATION_CHARACTERS || !WHOLE.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(PART)) total += Number(amount) * (UNIT_MS[unit!] ?? 0);
  return Number.isFinite(total) ? total : undefined;
}

/** The problem of a field that holds no duration; undefined if it is absent or holds one. */
export function durationProblem(field: string, text: string | undefined): string | undefined {
  if (text === undefined || parseDuration(text) !== undefined) return undefined;
  return `${field}: ${JSON.stringify(text)} is not a duration such as 90s, 5m or 1h30m`;
}

/** The duration as Go prints it, rounded to seconds: `3m0s`, `1h0m5s`, `42s`. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const h = Math.floor(seconds / 3600);
  const m = Math.floor((seconds % 3600) / 60);
  const s = seconds % 60;
  if (h > 0) return `${h}h${m}m${s}s`;
  if (m > 0) return `${m}m${s}s`;
  return `${s}s`;
}

/** The duration without units that are zero: `24h`, `1h30m`. */
export function shortDuration(ms: number): string {
  return formatDuration(ms).replace(/(?<=[hm])0[ms]/g, '');
}
