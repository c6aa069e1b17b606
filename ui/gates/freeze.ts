/** A freeze in the making: what is filled in, and the Gate that comes of it. */
import type { Gate } from '../../api/types.ts';
import type { ActionRequest } from '../../client/actions/action.ts';

export const KINDS = ['Kustomization', 'HelmRelease', 'Rollout'] as const;
export const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const;

export interface Freeze {
  when: 'now' | 'planned' | 'weekly';
  name: string;
  namespace: string;
  reason: string;
  kinds: readonly string[];
  /** `24h`; empty: until somebody opens it. */
  lasts: string;
  /** Of a planned one: RFC 3339. */
  from?: string;
  days: readonly string[];
  timezone: string;
}

export function emptyFreeze(namespace: string): Freeze {
  const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return { when: 'now', name: '', namespace, reason: '', kinds: KINDS, lasts: '24h', days: [], timezone };
}

/** What it is called unless somebody says otherwise; a name that is taken gets a number. */
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

export function requestOf(freeze: Freeze, name: string): ActionRequest {
  const { when, namespace, reason, kinds, lasts, from, days, timezone } = freeze;
  const selects = { kinds: [...kinds] } as NonNullable<Gate['spec']['selects']>;
  const object = { kind: 'Gate' as const, namespace, name };
  if (when === 'weekly') {
    const rules = [{ daysOfWeek: [...days] }] as NonNullable<Gate['spec']['schedule']>['rules'];
    return { type: 'freeze', object, reason, spec: { default: 'opened', schedule: { timezone, rules }, selects } };
  }
  const spec: Gate['spec'] = { default: 'opened', ...(lasts && { window: lasts }), selects };
  return { type: 'freeze', object, reason, spec, ...(when === 'planned' && from && { at: from }) };
}

/** Why it cannot be asked for yet. */
export function lacking({ kinds, when, days, lasts, from }: Freeze): string | undefined {
  if (kinds.length === 0) return 'Choose at least one kind.';
  if (when === 'weekly' && days.length === 0) return 'Choose at least one day.';
  if (when !== 'weekly' && lasts && !/^(\d+(\.\d+)?(h|m|s))+$/.test(lasts))
    return 'For: a time such as 90m, 4h or 24h; empty until somebody opens it.';
  if (when === 'planned' && !from) return 'Say when it begins.';
  return undefined;
}

export function durationText(ms: number): string {
  const minutes = Math.max(Math.round(ms / 60_000), 1);
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  return `${hours > 0 ? `${hours}h` : ''}${rest > 0 ? `${rest}m` : ''}`;
}
