/**
 * The problems of a Gate: fields that don't parse or compile. Admission denies them; evaluation ignores those that were
 * stored nevertheless.
 */
import { OPEN_FOR } from '../../api/annotations.ts';
import type { Gate } from '../../api/types.ts';
import { compileCalendar } from '../calendar/calendarRules.ts';
import type { FieldProblem } from '../kube/fieldProblem.ts';
import { selectorProblems } from '../kube/selector.ts';
import { isLegalTarget, parseRequestTime, parseWindow, REQUESTED_AT_KEYS } from './gateRequests.ts';

export function gateProblems(gate: Gate): FieldProblem[] {
  return [
    ...requestProblems(gate),
    ...versionProblems(gate),
    ...durationProblems('spec.interval', gate.spec.interval),
    ...windowProblems(gate),
    ...(gate.spec.schedule ? compileCalendar(gate.spec.schedule, 'spec.schedule').problems : []),
    ...durationProblems('spec.approvals.expireAfter', gate.spec.approvals?.expireAfter),
    ...selectorProblems(gate.spec.selects?.namespaceSelector, 'spec.selects.namespaceSelector'),
    ...selectorProblems(gate.spec.selects?.labelSelector, 'spec.selects.labelSelector'),
  ];
}

export function requestProblems(gate: Gate): FieldProblem[] {
  return Object.values(REQUESTED_AT_KEYS).flatMap((key) => {
    const value = gate.metadata.annotations?.[key];
    if (value === undefined || parseRequestTime(value) !== undefined) return [];
    const reason = 'expected an RFC 3339 time such as 2021-03-26T10:00:00Z';
    return [{ field: `metadata.annotations[${key}]`, value, reason }];
  });
}

export function windowProblems({ spec }: Gate): FieldProblem[] {
  return durationProblems('spec.window', spec.window);
}

function durationProblems(field: string, value: string | undefined): FieldProblem[] {
  if (value === undefined || parseWindow(value) !== undefined) return [];
  return [{ field, value, reason: 'expected a duration such as 90s, 30m or 24h' }];
}

function versionProblems({ metadata }: Gate): FieldProblem[] {
  const value = metadata.annotations?.[OPEN_FOR];
  if (value === undefined || isLegalTarget(value)) return [];
  const reason = 'expected the one tag that may be deployed, or <namespace>/<rollout>:<tag>';
  return [{ field: `metadata.annotations[${OPEN_FOR}]`, value, reason }];
}
