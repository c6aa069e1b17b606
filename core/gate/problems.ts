/** What on a Gate does not parse or compile. Admission denies it; where it got in, evaluation ignores it. */
import { OPEN_FOR } from '../../api/annotations.ts';
import type { Gate } from '../../api/types.ts';
import { compileCalendar } from '../calendar/calendar.ts';
import type { FieldProblem } from '../kube/fieldProblem.ts';
import { checkSelector, SelectorError } from '../kube/selector.ts';
import { isLegalTag } from '../kube/tag.ts';
import { REQUESTED_AT } from './requests.ts';
import { parseRequestTime, parseWindow } from './timestamp.ts';

export function gateProblems(gate: Gate): FieldProblem[] {
  return [
    ...requestProblems(gate),
    ...versionProblems(gate),
    ...durationProblems('spec.interval', gate.spec.interval),
    ...windowProblems(gate),
    ...calendarProblems(gate),
    ...selectorProblems(gate),
  ];
}

export function requestProblems(gate: Gate): FieldProblem[] {
  return Object.values(REQUESTED_AT).flatMap((key) => {
    const value = gate.metadata.annotations?.[key];
    if (value === undefined || parseRequestTime(value) !== undefined) return [];
    const reason = 'expected an RFC 3339 time such as 2021-03-26T10:00:00Z';
    return [{ field: `metadata.annotations[${key}]`, value, reason }];
  });
}

export function windowProblems({ spec }: Gate): FieldProblem[] {
  return durationProblems('spec.window', spec.window);
}

export function calendarProblems({ spec }: Gate): FieldProblem[] {
  return spec.schedule ? compileCalendar(spec.schedule, 'spec.schedule').problems : [];
}

function durationProblems(field: string, value: string | undefined): FieldProblem[] {
  if (value === undefined || parseWindow(value) !== undefined) return [];
  return [{ field, value, reason: 'expected a duration such as 90s, 30m or 24h' }];
}

function versionProblems({ metadata }: Gate): FieldProblem[] {
  const value = metadata.annotations?.[OPEN_FOR];
  if (value === undefined || isLegalTag(value)) return [];
  return [{ field: `metadata.annotations[${OPEN_FOR}]`, value, reason: 'expected the one tag that may be deployed' }];
}

function selectorProblems({ spec: { selects } }: Gate): FieldProblem[] {
  return (['namespaceSelector', 'labelSelector'] as const).flatMap((key) => {
    try {
      checkSelector(selects?.[key]);
      return [];
    } catch (error) {
      if (!(error instanceof SelectorError)) throw error;
      return [{ field: `spec.selects.${key}.${error.field}`, value: error.value, reason: error.reason }];
    }
  });
}
