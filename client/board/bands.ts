/** A Gate over the coming days, as bands: when it is open and closed by what is known now, by its default, its calendar and its requests. */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import { type ScheduledBy, scheduledBy } from '../../core/approval/scheduledBy.ts';
import { takesOpening } from '../../core/gate/approved.ts';
import { evaluateAfresh, type GateEvaluation } from '../../core/gate/gateState.ts';
import { identityOf } from '../../core/kube/names.ts';
import { formatTime } from '../../core/kube/time.ts';
import { ruleText as approvalsText } from '../explain/approvals.ts';

export interface Band {
  from: string;
  /** Absent: for as long as anybody can see. */
  to?: string;
  opened: boolean;
  /** Open for this version alone. */
  openFor?: string;
  by?: string;
  reason?: string;
  /** The Gate's own words. */
  message: string;
  /** Somebody has asked for it, and its time has not come. */
  planned?: boolean;
}

export interface GateView {
  /** `namespace/name`. */
  id: string;
  namespace: string;
  name: string;
  opened: boolean;
  openFor?: string;
  message: string;
  by?: string;
  reason?: string;
  since?: string;
  until?: string;
  stalled?: string;
  default: 'opened' | 'closed';
  window?: string;
  timezone?: string;
  /** Who set its calendar. */
  scheduledBy?: ScheduledBy;
  rules: string[];
  /** What it selects, in words; absent where objects name it. */
  selects?: string;
  bands: Band[];
  held?: number;
  /** Only where people approve versions here. */
  approvals?: {
    /** Who lets a version through. */
    rule: string;
    /** What stands, `1/2 for 1.2.0`. */
    progress?: string;
    /** A request to open means something: it ends a closing. */
    isEndable: boolean;
  };
  heldObjects: { kind: string; namespace: string; name: string }[];
}

export const HORIZON_MS = 35 * 24 * 60 * 60 * 1000;
/** A calendar of sixty-four rules has a few hundred edges in five weeks; more are not drawn. */
const MOST_BANDS = 120;

export function gateView(gate: Gate, now: EpochMs): GateView {
  const { namespace, name } = identityOf(gate);
  const { opened, openFor, message, cause, until, stalled } = evaluateAfresh(gate, now).value;
  const { spec, status } = gate;
  const rules = (spec.schedule?.rules ?? []).map(ruleText);
  const set = scheduledBy(gate);
  const selects = spec.selects && selectsText(spec.selects);
  return {
    id: `${namespace}/${name}`,
    namespace,
    name,
    opened,
    message,
    default: spec.default,
    rules: rules.map((rule) => `${spec.schedule?.action === 'Open' ? 'open' : 'closed'} ${rule}`),
    bands: bandsOf(gate, now, now + HORIZON_MS),
    heldObjects: (status?.heldObjects ?? []).map((each) => ({ ...each })),
    ...(openFor && { openFor }),
    ...(cause?.by && { by: cause.by }),
    ...(cause?.reason && { reason: cause.reason }),
    ...(cause && { since: formatTime(cause.at) }),
    ...(until !== undefined && { until: formatTime(until) }),
    ...(stalled && { stalled }),
    ...(spec.window && { window: spec.window }),
    ...(set && { scheduledBy: set }),
    ...(spec.schedule?.timezone && { timezone: spec.schedule.timezone }),
    ...(selects && { selects }),
    ...(status?.held !== undefined && { held: status.held }),
    ...(spec.approvals && {
      approvals: {
        rule: approvalsText(spec.approvals),
        ...(status?.approvals?.progress && { progress: status.approvals.progress }),
        isEndable: takesOpening(gate, now),
      },
    }),
  };
}

export function bandsOf(gate: Gate, from: EpochMs, to: EpochMs): Band[] {
  const bands: Band[] = [];
  let at: EpochMs | undefined = from;
  while (at !== undefined && at < to && bands.length < MOST_BANDS) {
    const { opened, openFor, message, cause, until }: GateEvaluation = evaluateAfresh(gate, at).value;
    bands.push({
      from: formatTime(at),
      opened,
      message,
      ...(until !== undefined && { to: formatTime(until) }),
      ...(openFor && { openFor }),
      ...(cause?.by && { by: cause.by }),
      ...(cause?.reason && { reason: cause.reason }),
      ...(cause && cause.at > from && { planned: true }),
    });
    at = until !== undefined && until > at ? until : undefined;
  }
  return bands;
}

type Rule = NonNullable<Gate['spec']['schedule']>['rules'][number];

/** `Friday 16:00–24:00 (evenings), 2026-12-20 to 2027-01-03`. */
export function ruleText({ name, timeRange, daysOfWeek, dateRange }: Rule): string {
  const days = daysOfWeek?.length ? daysOfWeek.join(', ') : 'every day';
  const hours = timeRange ? ` ${timeRange.start}–${timeRange.end}` : '';
  const dates = dateRange ? `, ${dateRange.start} to ${dateRange.end}` : '';
  return `${days}${hours}${name ? ` (${name})` : ''}${dates}`;
}

type Selects = NonNullable<Gate['spec']['selects']>;

/** `Kustomization, HelmRelease of namespaces with team=payments`. */
export function selectsText({ kinds, namespaceSelector, labelSelector }: Selects): string {
  const what = kinds?.length ? kinds.join(', ') : 'all governed kinds of Flux';
  const where = namespaceSelector ? (selectorText(namespaceSelector) ?? 'all namespaces') : undefined;
  const which = labelSelector && selectorText(labelSelector);
  const namespaces =
    where === undefined ? 'its own namespace' : where === 'all namespaces' ? where : `namespaces with ${where}`;
  return `${what} in ${namespaces}${which ? `, with ${which}` : ''}`;
}

function selectorText({
  matchLabels = {},
  matchExpressions = [],
}: NonNullable<Selects['labelSelector']>): string | undefined {
  const parts = [
    ...Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`),
    ...matchExpressions.map(({ key, operator, values }) =>
      [key, operator, ...(values ? [`(${values.join(', ')})`] : [])].join(' '),
    ),
  ];
  return parts.length > 0 ? parts.join(', ') : undefined;
}
