/** What a Gate or a schedule is over the coming weeks, by what is known now: its default, its calendar and what was asked for. */

import type { EpochMs } from '../../../api/kubernetes.ts';
import type { ClusterRolloutSchedule, Gate, RolloutSchedule } from '../../../api/types.ts';
import { compileCalendar } from '../../../core/calendar/calendar.ts';
import { activeRules, isActive, nextTransition } from '../../../core/calendar/evaluate.ts';
import { evaluateAfresh } from '../../../core/gate/gateState.ts';
import { identityOf } from '../../../core/kube/names.ts';
import { formatTime } from '../../../core/kube/time.ts';
import { gateText } from '../gateText.ts';

/** Half open: [from, to). Times as the API server stores them. */
export interface Span {
  from: string;
  to: string;
  /** `partly`: open for one version only. */
  state: 'open' | 'closed' | 'partly';
  /** Why: `closed by sre: INC-42`, `closed by its schedule`, the names of the rules. */
  why: string;
}

export interface CalendarRow {
  kind: 'Gate' | 'RolloutSchedule' | 'ClusterRolloutSchedule';
  /** Empty for a ClusterRolloutSchedule. */
  namespace: string;
  name: string;
  /** What it holds, in a few words. */
  holds: string;
  spans: Span[];
  /** What of it does not parse. */
  problem?: string;
}

/** A calendar of sixty-four rules has some hundred edges in a few weeks. */
const MOST = 500;

export function gateRow(gate: Gate, from: EpochMs, to: EpochMs): CalendarRow {
  const spans: Span[] = [];
  for (let at = from; at < to && spans.length < MOST; ) {
    const { opened, openFor, until } = evaluateAfresh(gate, at).value;
    const end = Math.min(until ?? to, to);
    const state = opened ? 'open' : openFor === undefined ? 'closed' : 'partly';
    spans.push({ ...between(at, end), state, why: gateText(gate, at) });
    if (end <= at) break;
    at = end;
  }
  const { held } = gate.status ?? {};
  const { stalled } = evaluateAfresh(gate, from).value;
  return {
    kind: 'Gate',
    ...identityOf(gate),
    holds: held === undefined ? '' : `${held} ${held === 1 ? 'object' : 'objects'}`,
    spans,
    ...(stalled && { problem: stalled }),
  };
}

/** A schedule's RolloutGates are open or closed; by default closed outside of its windows or inside, as its action says. */
export function scheduleRow(
  schedule: RolloutSchedule | ClusterRolloutSchedule,
  from: EpochMs,
  to: EpochMs,
): CalendarRow {
  const { spec, status } = schedule;
  const row = {
    kind: schedule.kind as CalendarRow['kind'],
    ...identityOf(schedule),
    holds: rolloutsText(status?.matchingRollouts),
  };
  const { calendar, problems } = compileCalendar(spec as Parameters<typeof compileCalendar>[0], 'spec');
  if (!calendar)
    return { ...row, spans: [], problem: problems.map(({ field, reason }) => `${field}: ${reason}`).join('; ') };
  const spans: Span[] = [];
  for (let at = from; at < to && spans.length < MOST; ) {
    const active = isActive(calendar, at);
    const end = Math.min(nextTransition(calendar, at) ?? to, to);
    const isOpen = active === (spec?.action === 'Allow');
    const rules = activeRules(calendar, at).filter((name) => name !== '');
    spans.push({
      ...between(at, end),
      state: isOpen ? 'open' : 'closed',
      why: active ? rules.join(', ') || 'in a window' : 'outside of its windows',
    });
    if (end <= at) break;
    at = end;
  }
  return { ...row, spans };
}

function rolloutsText(count: number | undefined): string {
  return count === undefined ? '' : `${count} ${count === 1 ? 'Rollout' : 'Rollouts'}`;
}

function between(from: EpochMs, to: EpochMs): Pick<Span, 'from' | 'to'> {
  return { from: formatTime(from), to: formatTime(to) };
}
