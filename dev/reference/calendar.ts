/** docs/schedules.md "Rules", as plainly as possible: whether a rule is active, by the time that a wall clock shows. */

interface Rule {
  timeRange?: { start: string; end: string };
  daysOfWeek?: string[];
  dateRange?: { start: string; end: string };
}

export interface Calendar {
  timezone?: string;
  rules: Rule[];
}

const DAY_MS = 24 * 3_600_000;
const MINUTE_MS = 60_000;
const DAYS_AHEAD = 20;
const QUARTER_MS = 15 * MINUTE_MS;
/** No zone is further from UTC. */
const FURTHEST_MS = 15 * 3_600_000;
const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

const formats = new Map<string, Intl.DateTimeFormat>();

/** Local time in the zone: `2026-03-04T11:30`. */
function wall(at: number, zone: string): string {
  let format = formats.get(zone);
  if (!format) {
    const options = { dateStyle: 'short', timeStyle: 'short', hourCycle: 'h23', timeZone: zone } as const;
    format = new Intl.DateTimeFormat('sv-SE', options);
    formats.set(zone, format);
  }
  return format.format(at).replace(' ', 'T');
}

const moments = new Map<string, number>();

function momentOf(day: string, time: string, zone: string): number {
  const key = `${day} ${time} ${zone}`;
  const known = moments.get(key);
  if (known !== undefined) return known;
  if (moments.size > 20_000) moments.clear();
  const found = findMoment(day, time, zone);
  moments.set(key, found);
  return found;
}

/**
 * The first moment at which the clock shows this time or later: of a skipped time the jump, of a repeated time the
 * first.
 */
function findMoment(day: string, time: string, zone: string): number {
  const shown = `${day}T${time}`;
  let at = Date.parse(`${shown}:00Z`) - FURTHEST_MS;
  while (wall(at, zone) < shown) at += QUARTER_MS;
  at -= QUARTER_MS;
  while (wall(at, zone) < shown) at += MINUTE_MS;
  return at;
}

const plusDays = (day: string, days: number) =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
const weekday = (day: string) => WEEKDAYS[new Date(`${day}T00:00:00Z`).getUTCDay()]!;

/** Start and end of the rule's window that begins on a local day is active; undefined when there is none. */
function windowOf({ timeRange, daysOfWeek, dateRange }: Rule, day: string, zone: string): [number, number] | undefined {
  if (daysOfWeek?.length && !daysOfWeek.includes(weekday(day))) return undefined;
  const { start, end } = timeRange ?? { start: '00:00', end: '00:00' };
  const lastDay = end <= start ? plusDays(day, 1) : day;
  if (dateRange && (lastDay < dateRange.start || day > dateRange.end)) return undefined;
  let from = momentOf(day, start, zone);
  let to = momentOf(lastDay, end, zone);
  if (dateRange) {
    // "A date range cuts."
    from = Math.max(from, momentOf(dateRange.start, '00:00', zone));
    to = Math.min(to, momentOf(plusDays(dateRange.end, 1), '00:00', zone));
  }
  return to > from ? [from, to] : undefined;
}

function windows(calendar: Calendar, at: number, daysAhead: number): [number, number][] {
  const zone = calendar.timezone || 'UTC';
  const today = wall(at, zone).slice(0, 10);
  const days = Array.from({ length: daysAhead + 3 }, (_, i) => plusDays(today, i - 2));
  return calendar.rules.flatMap((rule) =>
    days.flatMap((day) => [windowOf(rule, day, zone)].filter((w) => w !== undefined)),
  );
}

export function isActive(calendar: Calendar, at: number): boolean {
  return windows(calendar, at, 0).some(([from, to]) => from <= at && at < to);
}

/** The next moment after `at` at which `isActive` changes, within DAYS_AHEAD. */
export function nextChange(calendar: Calendar, at: number): number | undefined {
  const now = windows(calendar, at, DAYS_AHEAD);
  const active = (moment: number) => now.some(([from, to]) => from <= moment && moment < to);
  const edges = now
    .flat()
    // Beyond this time the list of windows is incomplete.
    .filter((edge) => edge > at && edge < at + (DAYS_AHEAD - 1) * DAY_MS)
    .sort((a, b) => a - b);
  return edges.find((edge) => active(edge) !== active(at));
}
