/** A freeze: a Gate that selects what is to be held, closed at once, at a time, or by a calendar. */
import { apiVersionOf, GOVERNED_KINDS, KINDS } from '../../../api/kinds.ts';
import type { EpochMs, NamespacedName } from '../../../api/kubernetes.ts';
import type { Gate } from '../../../api/types.ts';
import { formatDuration } from '../../../core/kube/duration.ts';
import { sameJson } from '../../../core/kube/json.ts';
import { formatTime, wholeSeconds } from '../../../core/kube/time.ts';
import { closeGate, closing, spanProblem, type When } from './gate.ts';
import { because, creating, isRequest, named, type PlannedWrite, wrong } from './write.ts';

export type Selects = NonNullable<Gate['spec']['selects']>;
type Kind = NonNullable<Selects['kinds']>[number];

/** What a freeze means unless somebody says otherwise: what applies something, and what deploys. */
export const FROZEN_KINDS: readonly Kind[] = ['Kustomization', 'HelmRelease', 'Rollout'];

export interface Freeze extends When {
  ref: NamespacedName;
  /** Absent: FROZEN_KINDS. */
  kinds?: readonly Kind[] | undefined;
  namespaceSelector?: Selects['namespaceSelector'] | undefined;
  labelSelector?: Selects['labelSelector'] | undefined;
  /** By the calendar instead of now. */
  every?: { days: string[]; hours?: { start: string; end: string } | undefined; timezone: string } | undefined;
  /** Milliseconds that a closing at a later time lasts. */
  window?: number | undefined;
}

/** `existing`: the Gate of that name, where there is one. */
export function freeze(wanted: Freeze, existing: Gate | undefined, now: EpochMs): PlannedWrite {
  const { ref, at, until, every, window } = wanted;
  if (every && (at !== undefined || until !== undefined || window !== undefined)) {
    return wrong('--every is a calendar: --for, --until and --at are for one freeze.');
  }
  const problem = spanProblem({ at, until }, now);
  if (problem) return wrong(problem);
  if (existing) return refreeze(wanted, existing, now);
  const gate = newGate(wanted, now);
  const end = until === undefined ? '' : ` until ${formatTime(until)}`;
  const begin = at === undefined ? '' : ` at ${formatTime(at)}`;
  const text = every
    ? `Made ${named('Gate', ref)}: closed every ${every.days.join(', ')}${every.hours ? ` ${every.hours.start}–${every.hours.end}` : ''}, ${every.timezone}`
    : `${at === undefined ? 'Closed' : 'Planned to close'} the new ${named('Gate', ref)}${begin}${end}`;
  return creating('Gate', gate, { text });
}

function newGate({ ref, every, window, at, until, reason, ...selection }: Freeze, now: EpochMs): Gate {
  const annotations = every
    ? because(reason)
    : (closing({}, { reason, until }, formatTime(at ?? wholeSeconds(now))) as Record<string, string>);
  return {
    apiVersion: apiVersionOf(KINDS.Gate),
    kind: 'Gate',
    metadata: { ...ref, ...(Object.keys(annotations).length > 0 && { annotations }) },
    spec: {
      default: 'opened',
      ...(window !== undefined && { window: formatDuration(window) }),
      ...(every && { schedule: scheduleOf(every) }),
      selects: selectsOf(selection),
    },
  } as Gate;
}

function scheduleOf({ days, hours, timezone }: NonNullable<Freeze['every']>) {
  const rule = { ...(days.length < 7 && { daysOfWeek: days }), ...(hours && { timeRange: hours }) };
  return { timezone, action: 'Close', rules: [rule] };
}

function selectsOf({ kinds = FROZEN_KINDS, namespaceSelector, labelSelector }: Partial<Freeze>): Selects {
  return {
    kinds: [...kinds],
    ...(namespaceSelector && { namespaceSelector }),
    ...(labelSelector && { labelSelector }),
  };
}

/** A Gate that is there is closed as it is: whoever wrote it decided what it holds. */
function refreeze(wanted: Freeze, existing: Gate, now: EpochMs): PlannedWrite {
  const { ref, every, window, kinds, namespaceSelector, labelSelector } = wanted;
  const name = named('Gate', ref);
  if (every) return wrong(`${name} exists: change its spec.schedule, or choose another name.`);
  const selects = existing.spec.selects ?? {};
  const differs =
    (kinds && !sameJson([...kinds].sort(), [...(selects.kinds ?? [])].sort())) ||
    (namespaceSelector && !sameJson(namespaceSelector, selects.namespaceSelector)) ||
    (labelSelector && !sameJson(labelSelector, selects.labelSelector));
  if (differs)
    return wrong(`${name} exists and selects something else: change its spec.selects, or choose another name.`);
  if (window !== undefined && wanted.at !== undefined && existing.spec.window !== formatDuration(window)) {
    return wrong(
      `${name} exists, and how long a planned closing lasts is its spec.window: set that, or choose another name.`,
    );
  }
  const requested = closeGate(existing, wanted, now);
  return isRequest(requested) ? { ...requested, concerns: [] } : requested;
}

/** Those that a Gate can select, by any spelling; undefined where one is none of them. */
export function parseKinds(text: string): Kind[] | undefined {
  const known = [...GOVERNED_KINDS.map(({ kind, resource }) => ({ kind, resource })), KINDS.Rollout];
  const found = text.split(',').map((word) => {
    const wanted = word.trim().toLowerCase();
    return known.find(({ kind, resource }) => kind.toLowerCase() === wanted || resource === wanted)?.kind as
      | Kind
      | undefined;
  });
  return found.some((kind) => kind === undefined) ? undefined : ([...new Set(found)] as Kind[]);
}
