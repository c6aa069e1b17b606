/** The form of a freeze: its fields, their form in the address, and the requested Gate. */
import type { ActionRequest } from '../../client/actions/action.ts';
import { parseHours, parseSpan } from '../../client/actions/userInput.ts';
import { FROZEN_KINDS, type GateKind } from '../../client/actions/writes/freeze.ts';
import { DAYS } from '../../core/calendar/calendarRules.ts';
import { shortDuration } from '../../core/kube/duration.ts';
import { formatTime, parseTime } from '../../core/kube/time.ts';
import type { Query } from '../state/address.ts';

/** The fields of the form. The reason is not one of them, because it is never in the address. */
export interface Freeze {
  when: 'now' | 'planned' | 'weekly';
  name: string;
  /** The namespace of the Gate. */
  namespace: string;
  /** Whether the Gate holds objects of all namespaces. */
  isOfAll: boolean;
  kinds: readonly GateKind[];
  /** The duration, `24h`; empty: until a user opens the Gate. */
  lasts: string;
  /** The beginning of a planned freeze, RFC 3339. */
  from: string;
  days: readonly string[];
  /** The hours on these days, `16:00-08:00`; empty: all day. */
  hours: string;
  timezone: string;
}

const MINUTE_MS = 60_000;
/** The value in the address for no kind, or no end. Without a value the defaults apply. */
const EMPTY = '-';

export function freezeOf(query: Query, namespace: string, timezone: string): Freeze {
  const { when, name = '', in: place = namespace, all, kinds, for: lasts = '24h', from = '' } = query;
  const { days, between: hours = '', zone = timezone } = query;
  const listed = (text: string | undefined) => (text && text !== EMPTY ? text.split(',') : []);
  return {
    when: when === 'planned' || when === 'weekly' ? when : 'now',
    name,
    namespace: place,
    isOfAll: all !== undefined,
    kinds: kinds === undefined ? FROZEN_KINDS : FROZEN_KINDS.filter((each) => listed(kinds).includes(each)),
    lasts: lasts === EMPTY ? '' : lasts,
    from: parseTime(from) === undefined ? '' : from,
    days: listed(days).filter((each) => DAYS.includes(each)),
    hours,
    timezone: zone,
  };
}

export function queryOf({ when, name, namespace, isOfAll, kinds, lasts, from, days, hours, timezone }: Freeze): Query {
  return {
    when,
    name,
    in: namespace,
    all: isOfAll ? 'true' : '',
    kinds: kinds.length === FROZEN_KINDS.length ? '' : kinds.join(',') || EMPTY,
    for: lasts || EMPTY,
    from,
    days: days.join(','),
    between: hours,
    zone: when === 'weekly' ? timezone : '',
  };
}

/** The query that opens the dialog with a planned freeze. */
export function plannedFreeze(from: Date, lasts: string): Query {
  return { do: 'freeze', when: 'planned', from: formatTime(from.getTime()), for: lasts };
}

/** The query that closes the dialog, without any of its fields. */
export const NO_FREEZE: Query = Object.fromEntries(
  ['do', 'when', 'name', 'in', 'all', 'kinds', 'for', 'from', 'days', 'between', 'zone'].map((key) => [key, '']),
);

/** The name of the Gate: the typed one, or a default, with a number if it is taken. */
export function nameOf({ name, when, days, from, namespace }: Freeze, isTaken: (id: string) => boolean): string {
  if (name) return name;
  const base =
    when === 'weekly'
      ? `no-${(days[0] ?? 'day').toLowerCase()}s`
      : when === 'planned' && from
        ? `freeze-${from.slice(0, 10)}`
        : 'incident';
  for (let number = 1; ; number++) {
    const tried = number === 1 ? base : `${base}-${number}`;
    if (!isTaken(`${namespace}/${tried}`)) return tried;
  }
}

export function requestOf(freeze: Freeze, name: string, reason: string): ActionRequest {
  const { when, namespace, isOfAll, kinds, lasts, from, days, hours, timezone } = freeze;
  const span = { at: when === 'planned' ? parseTime(from) : undefined, lasts: parseSpan(lasts) };
  return {
    type: 'freeze',
    object: { kind: 'Gate', namespace, name },
    reason,
    freeze: {
      selects: { kinds: [...kinds], ...(isOfAll && { namespaceSelector: {} }) },
      ...(when === 'weekly' ? { every: { days: [...days], hours: parseHours(hours), timezone } } : span),
    },
  };
}

/** The problem of the form, a missing or invalid value; undefined if there is none. */
export function formProblem({ kinds, when, days, hours, lasts, from }: Freeze): string | undefined {
  if (kinds.length === 0) return 'Choose at least one kind.';
  if (when === 'weekly' && days.length === 0) return 'Choose at least one day.';
  if (when === 'weekly' && hours && !parseHours(hours))
    return 'Between: write hours such as 16:00-08:00, or nothing for all day.';
  if (when !== 'weekly' && lasts && parseSpan(lasts) === undefined)
    return 'For: write a duration such as 90m, 4h or 2d, or nothing to freeze until a user opens the Gate.';
  if (when === 'planned' && !from) return 'Choose when it begins.';
  return undefined;
}

/** The presets for the end of a freeze that begins at `from`, as durations. */
export function presets(from: Date): (readonly [lasts: string, text: string])[] {
  const until = (days: number) => {
    const end = new Date(from);
    end.setDate(end.getDate() + days);
    end.setHours(9, 0, 0, 0);
    return durationText(end.getTime() - from.getTime());
  };
  const monday = (8 - from.getDay()) % 7 || 7;
  return [
    ['1h', '1 hour'],
    ['4h', '4 hours'],
    ['24h', '24 hours'],
    [until(1), 'until tomorrow 09:00'],
    ...(monday > 1 ? [[until(monday), 'until Monday 09:00'] as const] : []),
    ['', 'until it is opened'],
  ];
}

/** A duration in whole minutes, without units that are zero: `1h30m`. */
export function durationText(ms: number): string {
  return shortDuration(Math.max(Math.round(ms / MINUTE_MS), 1) * MINUTE_MS);
}
