/** A freeze of the page, as the command makes it, and as its command line. */
import type { EpochMs } from '../../api/kubernetes.ts';
import { parseDuration } from '../../core/kube/duration.ts';
import { parseTime } from '../../core/kube/time.ts';
import type { Freeze } from '../requests/freeze.ts';
import type { ActionRequest } from './action.ts';

/** An end is a planned opening, and what is planned lasts as long as the Gate's window. */
export function freezeOf({ object, reason, spec, at }: ActionRequest, now: EpochMs): Freeze {
  const { selects = {}, schedule, window } = spec!;
  const { kinds, namespaceSelector, labelSelector } = selects;
  const ref = { namespace: object.namespace, name: object.name };
  const wanted: Freeze = { ref, reason: reason || undefined, kinds, namespaceSelector, labelSelector };
  if (schedule) {
    const { timezone = 'UTC', rules = [] } = schedule;
    const days = [...new Set(rules.flatMap(({ daysOfWeek = [] }) => daysOfWeek))];
    return { ...wanted, every: { days, hours: rules[0]?.timeRange, timezone } };
  }
  const [begins, lasts] = [parseTime(at), parseDuration(window)];
  if (begins !== undefined) return { ...wanted, at: begins, window: lasts };
  return { ...wanted, until: lasts === undefined ? undefined : now + lasts };
}

export function freezeWords({ object, spec, at }: ActionRequest): string[] {
  const { kinds = [] } = spec?.selects ?? {};
  return [
    'freeze',
    object.name,
    ...(kinds.length > 0 ? ['--kinds', kinds.join(',')] : []),
    ...(spec?.window ? ['--for', spec.window] : []),
    ...(at ? ['--at', at] : []),
    ...(spec?.schedule?.rules ?? []).flatMap(({ daysOfWeek = [] }) =>
      daysOfWeek.length > 0 ? ['--every', daysOfWeek.join(',')] : [],
    ),
    ...(spec?.schedule?.timezone ? ['--timezone', spec.schedule.timezone] : []),
  ];
}
