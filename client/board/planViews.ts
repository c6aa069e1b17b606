/** Gates and schedules over the coming weeks, as the page draws them, by what is known now. */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { ClusterRolloutSchedule, Gate, RolloutSchedule } from '../../api/types.ts';
import { evaluateGate } from '../../core/gate/gateTimeline.ts';
import { withoutEmpty } from '../../core/kube/json.ts';
import { identityOf, refKey } from '../../core/kube/names.ts';
import { formatTime } from '../../core/kube/time.ts';
import { scheduledBy } from '../../core/record/pinAndSchedule.ts';
import type { StoredChange } from '../../core/record/record.ts';
import { approvalRuleText } from '../explain/approvalViews.ts';
import { gateRow, type Span, scheduleRow } from '../explain/calendar/calendarRows.ts';
import { gateText } from '../explain/gateText.ts';

/** An interval in which a Gate or schedule does not change. `to`: absent if it is later than the page shows. */
export type Band = Omit<Span, 'to'> & { to?: string };

export interface GateView {
  /** The Gate's cluster, if several are shown. */
  cluster?: string;
  /** `namespace/name`. */
  id: string;
  namespace: string;
  name: string;
  opened: boolean;
  openFor?: string;
  /** The state in words: `closed by sre: INC-42`. */
  text: string;
  since?: string;
  until?: string;
  default: 'opened' | 'closed';
  window?: string;
  timezone?: string;
  /** The user who set its calendar. */
  scheduledBy?: StoredChange;
  rules: string[];
  /** The Gate's selection in words; absent if only references in objects count. */
  selects?: string;
  bands: Band[];
  requiredByCount?: number;
  /** The rule of spec.approvals in words. */
  approvalRule?: string;
  requiredBy: { kind: string; namespace: string; name: string }[];
}

const HORIZON_MS = 35 * 24 * 60 * 60 * 1000;
/** The most intervals that are drawn. A calendar of sixty-four rules has a few hundred edges in five weeks. */
const MAX_BANDS = 120;

export function gateView(gate: Gate, now: EpochMs): GateView {
  const { namespace, name } = identityOf(gate);
  const evaluation = evaluateGate(gate, now);
  const { opened, openFor, cause, until } = evaluation;
  const { spec, status } = gate;
  const { rules = [], action, timezone } = spec.schedule ?? {};
  return {
    id: `${namespace}/${name}`,
    namespace,
    name,
    opened,
    text: gateText(gate, now, evaluation),
    default: spec.default,
    rules: rules.map((rule) => `${action === 'Open' ? 'open' : 'closed'} ${ruleText(rule)}`),
    bands: bandsOf(gateRow(gate, now, now + HORIZON_MS, MAX_BANDS).spans, now + HORIZON_MS),
    requiredBy: (status?.requiredBy ?? []).map((each) => ({ ...each })),
    ...withoutEmpty({
      openFor,
      since: cause && formatTime(cause.at),
      until: until === undefined ? undefined : formatTime(until),
      window: spec.window,
      scheduledBy: scheduledBy(gate),
      timezone,
      selects: spec.selects && selectsText(spec.selects),
      requiredByCount: status?.requiredByCount,
      approvalRule: spec.approvals && approvalRuleText(spec.approvals, evaluation),
    }),
  };
}

/** The intervals up to the horizon. One that lasts until then has no end. */
function bandsOf(spans: readonly Span[], horizon: EpochMs): Band[] {
  const end = formatTime(horizon);
  return spans.map(({ to, ...span }) => (to === end ? span : { ...span, to }));
}

type Rule = NonNullable<Gate['spec']['schedule']>['rules'][number];

/** The rule as text: `Friday 16:00–24:00 (evenings), 2026-12-20 to 2027-01-03`. */
export function ruleText({ name, timeRange, daysOfWeek, dateRange }: Rule): string {
  const days = daysOfWeek?.length ? daysOfWeek.join(', ') : 'every day';
  const hours = timeRange ? ` ${timeRange.start}–${timeRange.end}` : '';
  const dates = dateRange ? `, ${dateRange.start} to ${dateRange.end}` : '';
  return `${days}${hours}${name ? ` (${name})` : ''}${dates}`;
}

type Selects = NonNullable<Gate['spec']['selects']>;

/** The selection as text: `Kustomization, HelmRelease in namespaces with team=payments`. */
export function selectsText({ kinds, namespaceSelector, labelSelector }: Selects): string {
  const what = kinds?.length ? kinds.join(', ') : 'all governed kinds of Flux';
  const labels = labelSelector && selectorText(labelSelector);
  return `${what} in ${namespacesText(namespaceSelector)}${labels ? `, with ${labels}` : ''}`;
}

function namespacesText(selector: Selects['namespaceSelector']): string {
  if (!selector) return 'its own namespace';
  const labels = selectorText(selector);
  return labels ? `namespaces with ${labels}` : 'all namespaces';
}

/** A selector as text; empty if it selects everything. */
function selectorText({ matchLabels = {}, matchExpressions = [] }: NonNullable<Selects['labelSelector']>): string {
  const parts = [
    ...Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`),
    ...matchExpressions.map(({ key, operator, values }) =>
      [key, operator, ...(values ? [`(${values.join(', ')})`] : [])].join(' '),
    ),
  ];
  return parts.join(', ');
}

export interface ScheduleView {
  /** The schedule's cluster, if several are shown. */
  cluster?: string;
  /** `namespace/name`, or the name of a ClusterRolloutSchedule. */
  id: string;
  kind: 'RolloutSchedule' | 'ClusterRolloutSchedule';
  namespace: string;
  name: string;
  opened: boolean;
  /** `3 Rollouts`. */
  holds: string;
  until?: string;
  bands: Band[];
  /** The problem of an invalid schedule, which opens and closes nothing. */
  problem?: string;
}

export function scheduleView(schedule: RolloutSchedule | ClusterRolloutSchedule, now: EpochMs): ScheduleView {
  const horizon = now + HORIZON_MS;
  const { kind, namespace, name, holds, spans, problem } = scheduleRow(schedule, now, horizon, MAX_BANDS);
  const bands = bandsOf(spans, horizon);
  const [first] = bands;
  return {
    id: refKey({ namespace, name }),
    kind: kind as ScheduleView['kind'],
    namespace,
    name,
    opened: first?.state !== 'closed',
    holds,
    bands,
    ...withoutEmpty({ until: first?.to, problem }),
  };
}
