/** Times, spans, days, kinds and label selectors as users type them: `Mon 08:00`, `24h`, `weekend`, `team=shop`. */
import { GOVERNED_KINDS, KINDS } from '../../api/kinds.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import { DAYS } from '../../core/calendar/calendarRules.ts';
import { instantOf, localDay } from '../../core/calendar/localTime.ts';
import { parseDuration } from '../../core/kube/duration.ts';
import { selectorProblems } from '../../core/kube/selector.ts';
import { DAY_MS, dayNumber, formatTime, parseTime } from '../../core/kube/time.ts';
import type { GateKind, Selects } from './writes/freeze.ts';

export const TIME_FORMS =
  "'Mon 08:00', 'tomorrow 09:00', '18:00', '24 Dec', 'Dec 24 08:00', '2026-12-24 08:00' or 2026-12-24T08:00:00Z";
export const SPAN_FORMS = '30m, 24h, 2d or 1w';

/** The span in milliseconds, from Go's units, days (`2d`) or weeks (`1w`); undefined for any other text. */
export function parseSpan(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,4})(d|w)$/.exec(text.trim()) ?? [];
  const span = count === undefined ? parseDuration(text.trim()) : Number(count) * DAY_MS * (unit === 'w' ? 7 : 1);
  return span === undefined || span <= 0 ? undefined : span;
}

/**
 * The next instant after `from` that the text names, in the time zone; undefined if it names none. `today` and
 * `tomorrow` are days of the user, from `now` on.
 */
export function parseWhen(text: string, now: EpochMs, timeZone: string, from: EpochMs = now): EpochMs | undefined {
  const trimmed = text.trim();
  const exact = parseTime(trimmed);
  if (exact !== undefined) return exact;
  const words = trimmed.split(/\s+|(?<=\d)T/);
  const last = clockOf(words.at(-1) ?? '');
  const [dayWord, ...rest] = last === undefined ? words : words.slice(0, -1);
  const minutes = last ?? 0;
  const today = localDay(now, timeZone);
  const first = localDay(from, timeZone);
  if (rest.length > 0) {
    const days = datesOf([dayWord, ...rest].join(' '), first);
    const hasYear = /\d{4}$/.test(rest.at(-1)!);
    return hasYear && days[0] !== undefined
      ? instantOf(days[0], minutes, timeZone)
      : firstAfter(days, minutes, from, timeZone);
  }
  if (dayWord === undefined) return firstAfter([first, first + 1], minutes, from, timeZone);
  const date = /^\d{4}-\d{2}-\d{2}$/.test(dayWord) ? dayNumber(dayWord) : undefined;
  if (date !== undefined) return instantOf(date, minutes, timeZone);
  if (/^today$/i.test(dayWord)) return instantOf(today, minutes, timeZone);
  if (/^tomorrow$/i.test(dayWord)) return instantOf(today + 1, minutes, timeZone);
  const wanted = weekdayOf(dayWord);
  if (wanted === undefined) return undefined;
  const days = Array.from({ length: 8 }, (_, i) => first + i).filter((day) => isWeekday(day, wanted));
  return firstAfter(days, minutes, from, timeZone);
}

/**
 * The days of `24 Dec`, `December 24`, `Dec 24, 2026`: one day with a year; without it those of the year of `first` and
 * the next.
 * Empty for any other text.
 */
function datesOf(text: string, first: number): number[] {
  const [, before, word = '', after, year] =
    /^(?:(\d{1,2}) )?([a-z]{3,9})(?: (\d{1,2}))?(?:,? (\d{4}))?$/i.exec(text) ?? [];
  const month = MONTHS.findIndex((name) => word !== '' && name.startsWith(word.toLowerCase()));
  if (month < 0 || (before === undefined) === (after === undefined)) return [];
  const firstYear = Number(formatTime(first * DAY_MS).slice(0, 4));
  const two = (number: number | string) => String(number).padStart(2, '0');
  return (year ? [year] : [firstYear, firstYear + 1]).flatMap(
    (each) => dayNumber(`${each}-${two(month + 1)}-${two(before ?? after ?? '')}`) ?? [],
  );
}

const MONTHS = 'january february march april may june july august september october november december'.split(' ');

/**
 * The days as calendars name them, from `Fri`, `friday,Sat`, `weekend`, `weekday`, `day`; undefined for any other text.
 */
export function parseDays(text: string): string[] | undefined {
  const days = text.split(',').map((word) => {
    const group = GROUPS.get(word.trim().toLowerCase().replace(/s$/, ''));
    if (group) return group;
    const day = weekdayOf(word.trim());
    return day === undefined ? undefined : [DAYS[day]!];
  });
  if (days.some((each) => each === undefined)) return undefined;
  const chosen = new Set(days.flat());
  return DAYS.filter((day) => chosen.has(day));
}

const GROUPS = new Map<string, string[]>([
  ['weekend', DAYS.slice(5)],
  ['weekday', DAYS.slice(0, 5)],
  ['day', [...DAYS]],
]);

/** The start and end of hours such as `16:00-08:00`; undefined for any other text. */
export function parseHours(text: string): { start: string; end: string } | undefined {
  const [start, end, ...rest] = text.split(/-|–/).map((part) => clockOf(part.trim()));
  if (start === undefined || end === undefined || rest.length > 0) return undefined;
  return { start: clockText(start), end: clockText(end) };
}

/** Minutes after midnight. */
function clockOf(text: string): number | undefined {
  const [, hour, minute] = /^(\d{1,2}):(\d{2})$/.exec(text) ?? [];
  if (hour === undefined || Number(hour) > 23 || Number(minute) > 59) return undefined;
  return Number(hour) * 60 + Number(minute);
}

function clockText(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
}

/** The number of a weekday, 0 for Monday. Three letters are enough. */
function weekdayOf(word: string): number | undefined {
  const name = word.toLowerCase().replace(/s$/, '');
  const index = name.length < 3 ? -1 : DAYS.findIndex((day) => day.toLowerCase().startsWith(name));
  return index < 0 ? undefined : index;
}

/** Whether a day is this weekday. 1970-01-01 was a Thursday. */
function isWeekday(day: number, wanted: number): boolean {
  return (((day + 3) % 7) + 7) % 7 === wanted;
}

function firstAfter(days: readonly number[], minutes: number, now: EpochMs, timeZone: string): EpochMs | undefined {
  return days.map((day) => instantOf(day, minutes, timeZone)).find((at) => at > now);
}

/** The kinds in a list such as `Kustomization,helmreleases`; undefined if a Gate can't select one of them. */
export function parseKinds(text: string): GateKind[] | undefined {
  const kinds = text.split(',').map((word) => {
    const wanted = word.trim().toLowerCase();
    return [...GOVERNED_KINDS, KINDS.Rollout].find(
      ({ kind, resource }) => kind.toLowerCase() === wanted || resource === wanted,
    )?.kind;
  });
  return kinds.every((kind) => kind !== undefined) ? [...new Set(kinds)] : undefined;
}

type Selector = NonNullable<Selects['labelSelector']>;
type Requirement = NonNullable<Selector['matchExpressions']>[number];

const SET = /^(\S+)\s+(in|notin)\s+\(([^()]*)\)$/i;
const EQUAL = /^([^\s=!]+)\s*(==|=|!=)\s*(\S*)$/;

/** The selector; undefined if it does not parse. An empty text selects everything. */
export function parseSelector(text: string): Selector | undefined {
  const matchLabels: Record<string, string> = {};
  const matchExpressions: Requirement[] = [];
  // Split at the commas that are not between parentheses.
  for (const part of text.split(/,(?![^(]*\))/).flatMap((each) => each.trim() || [])) {
    const [, setKey, operator, list] = SET.exec(part) ?? [];
    const [, key, sign, value = ''] = EQUAL.exec(part) ?? [];
    if (setKey) {
      const values = list!.split(',').map((each) => each.trim());
      matchExpressions.push({ key: setKey, operator: operator!.toLowerCase() === 'in' ? 'In' : 'NotIn', values });
    } else if (key && sign === '!=') matchExpressions.push({ key, operator: 'NotIn', values: [value] });
    else if (key) matchLabels[key] = value;
    else if (/^!\S+$/.test(part)) matchExpressions.push({ key: part.slice(1), operator: 'DoesNotExist' });
    else if (/^\S+$/.test(part)) matchExpressions.push({ key: part, operator: 'Exists' });
    else return undefined;
  }
  const selector: Selector = {
    ...(Object.keys(matchLabels).length > 0 && { matchLabels }),
    ...(matchExpressions.length > 0 && { matchExpressions }),
  };
  return selectorProblems(selector, '').length > 0 ? undefined : selector;
}
