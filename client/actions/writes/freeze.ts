/** A freeze: the Gate that it creates or closes, and its command line. */
import { GOVERNED_KINDS, KINDS } from '../../../api/kinds.ts';
import type { EpochMs, NamespacedName } from '../../../api/kubernetes.ts';
import type { Gate } from '../../../api/types.ts';
import { selectsKind } from '../../../core/gate/gateSelection.ts';
import { formatDuration, shortDuration } from '../../../core/kube/duration.ts';
import { sameJson } from '../../../core/kube/json.ts';
import { identityOf } from '../../../core/kube/names.ts';
import { toSelectorString } from '../../../core/kube/selector.ts';
import { formatTime, wholeSeconds } from '../../../core/kube/time.ts';
import { withCommands } from '../../../core/text/commands.ts';
import { shell } from '../../../core/text/shell.ts';
import { type ClosedSpan, closeAnnotations, endOf, plannedClosure, spanProblem, untilText } from './gateWrites.ts';
import {
  badRequest,
  createWrite,
  isRequest,
  newObject,
  objectTitle,
  type PlannedWrite,
  PROGRAM_WORD,
  reasonAnnotation,
} from './plannedWrite.ts';

export type Selects = NonNullable<Gate['spec']['selects']>;
export type GateKind = NonNullable<Selects['kinds']>[number];

/** The kinds that a freeze holds by default: those that apply or deploy. */
export const FROZEN_KINDS: readonly GateKind[] = ['Kustomization', 'HelmRelease', 'Rollout'];
/** The kinds that a Gate can select. */
export const SELECTABLE_KINDS: readonly GateKind[] = [...GOVERNED_KINDS, KINDS.Rollout].map(({ kind }) => kind);

/** What a freeze blocks, and when. */
export interface FreezeRequest extends ClosedSpan {
  /** Absent: FROZEN_KINDS in the Gate's namespace, which are the default of `kinds` too. */
  selects?: Selects | undefined;
  /** The calendar of a freeze that is repeated every week, instead of the span. */
  every?: { days: string[]; hours?: { start: string; end: string } | undefined; timezone: string } | undefined;
}

type Wanted = FreezeRequest & { reason?: string | undefined };

/**
 * Creates a Gate that is closed in the span or by the calendar. `existing`: the Gate of that name, which is closed
 * instead. Its spec isn't changed: its author decided what it holds.
 */
export function freeze(
  { namespace, name }: NamespacedName,
  wanted: Wanted,
  existing: Gate | undefined,
  now: EpochMs,
): PlannedWrite {
  const { at, every } = wanted;
  const end = endOf(wanted, now);
  if (every && (at !== undefined || end !== undefined))
    return badRequest('--every excludes --at, --for and --until: it sets a calendar, they set a single freeze.');
  const problem = spanProblem(at, end, now);
  if (problem) return badRequest(problem);
  if (existing) return freezeExisting(existing, wanted, end, now);
  const title = objectTitle('Gate', { namespace, name });
  const text = every
    ? `Created ${title}: closed every ${every.days.join(', ')}${every.hours ? ` ${every.hours.start}–${every.hours.end}` : ''}, ${every.timezone}`
    : `Created ${title}, closed${at === undefined ? '' : ` from ${formatTime(at)}`}${untilText(end)}`;
  const annotations = annotationsOf(wanted, end, now);
  const metadata = { namespace, name, ...(Object.keys(annotations).length > 0 && { annotations }) };
  const gate = newObject<Gate>('Gate', metadata as Gate['metadata'], specOf(wanted, end));
  return createWrite(gate, { text });
}

function specOf({ at, every, selects }: FreezeRequest, end: EpochMs | undefined): Gate['spec'] {
  return {
    default: 'opened',
    // It ends a planned freeze.
    ...(at !== undefined && end !== undefined && { window: formatDuration(end - at) }),
    ...(every && { schedule: scheduleOf(every) }),
    selects: selectsOf(selects),
  };
}

function annotationsOf({ at, every, reason }: Wanted, end: EpochMs | undefined, now: EpochMs) {
  if (every) return reasonAnnotation(reason);
  return closeAnnotations({}, { reason, at, end, requestedAt: at ?? wholeSeconds(now) });
}

function scheduleOf({ days, hours, timezone }: NonNullable<FreezeRequest['every']>) {
  const rule = { ...(days.length < 7 && { daysOfWeek: days }), ...(hours && { timeRange: hours }) };
  return { timezone, action: 'Close', rules: [rule] } as NonNullable<Gate['spec']['schedule']>;
}

function selectsOf({ kinds, ...selectors }: Selects = {}): Selects {
  return { kinds: kinds ?? [...FROZEN_KINDS], ...selectors };
}

function freezeExisting(
  gate: Gate,
  { at, every, reason, selects }: Wanted,
  end: EpochMs | undefined,
  now: EpochMs,
): PlannedWrite {
  const { namespace, name } = identityOf(gate);
  const exists = `${objectTitle('Gate', { namespace, name })} exists`;
  if (every) return badRequest(`${exists}: change its spec.schedule, or choose another name.`);
  const current = gate.spec.selects ?? {};
  if (selects && !sameJson(sorted(selectsOf(selects)), sorted(current))) {
    const close = shell`${PROGRAM_WORD} close ${name} -n ${namespace}`;
    return badRequest(
      withCommands(`${exists}, and selects something else: change its spec.selects, or choose another name.`, [
        'To close it as it is',
        close,
      ]),
    );
  }
  const { write, when } = plannedClosure(gate, { reason, at, until: end }, now);
  if (!isRequest(write)) return write;
  const others = FROZEN_KINDS.filter((kind) => !selects && !selectsKind(gate, kind));
  const lacks = others.length > 0 ? `, and selects no ${others.join(' and no ')}` : '';
  const concerns = [`${exists}: its spec stays as it is${lacks}`, ...(when ? [`It will be closed${when}`] : [])];
  return { ...write, concerns };
}

const sorted = ({ kinds = [], ...selectors }: Selects) => ({ kinds: [...kinds].sort(), ...selectors });

/** The words of the command that requests the freeze. */
export function freezeWords(name: string, { selects = {}, every, ...span }: FreezeRequest): string[] {
  const { kinds, labelSelector, namespaceSelector } = selects;
  const hours = every?.hours;
  const options = {
    '--kinds': kinds?.join(','),
    '--selector': labelSelector && toSelectorString(labelSelector),
    '--namespace-selector': namespaceSelector && toSelectorString(namespaceSelector),
    ...spanOptions(span),
    '--every': every?.days.join(','),
    '--between': hours && `${hours.start}-${hours.end}`,
    '--timezone': every?.timezone,
  };
  return ['freeze', name, ...optionWords(options)];
}

function spanOptions({ at, lasts, until }: ClosedSpan) {
  return {
    '--at': at === undefined ? undefined : formatTime(at),
    '--for': lasts === undefined ? undefined : shortDuration(lasts),
    '--until': until === undefined ? undefined : formatTime(until),
  };
}

/** The options of the command for a span. */
export const spanWords = (span: ClosedSpan = {}): string[] => optionWords(spanOptions(span));

function optionWords(options: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(options).flatMap(([flag, value]) => (value === undefined ? [] : [flag, value]));
}
