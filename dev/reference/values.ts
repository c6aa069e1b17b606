/** What counts as the same value, however it is spelt. */

const UNITS: Record<string, number> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** Milliseconds of a Go duration; undefined where the text is not one. */
export function durationMs(text: string): number | undefined {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/g)];
  if (parts.length === 0 || parts.map(([whole]) => whole).join('') !== text) return undefined;
  return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * UNITS[unit!]!, 0);
}

/** A text that is the same for values that mean the same: durations by their length, nothing for what is empty. */
export function meaning(value: unknown): string {
  if (typeof value === 'string') {
    const length = durationMs(value);
    return length === undefined ? JSON.stringify(value) : `duration ${length}`;
  }
  if (Array.isArray(value)) return value.length === 0 ? '' : `[${value.map(meaning).join(',')}]`;
  if (typeof value !== 'object' || value === null)
    return value === null || value === undefined ? '' : JSON.stringify(value);
  const entries = Object.entries(value)
    .map(([key, each]) => [JSON.stringify(key), meaning(each)])
    .filter(([, text]) => text !== '' && text !== 'false' && text !== '""')
    .sort(([a], [b]) => (a! < b! ? -1 : 1));
  return entries.length === 0 ? '' : `{${entries.map(([key, text]) => `${key}:${text}`).join(',')}}`;
}
