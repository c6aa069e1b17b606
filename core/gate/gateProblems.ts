/**
 * The problems of a Gate: fields that don't parse or compile. Admission denies them; evaluation ignores those that were
 * stored nevertheless. Also the Warnings about an allowed Gate.
 */
import { ACCEPTED_REQUEST, OPEN_FOR } from '../../api/annotations.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import { compileCalendar, scheduleWarnings } from '../calendar/calendarRules.ts';
import { annotate } from '../kube/annotate.ts';
import { formatDuration } from '../kube/duration.ts';
import type { FieldProblem } from '../kube/fieldProblem.ts';
import { selectorProblems } from '../kube/selector.ts';
import { DAY_MS, formatTime } from '../kube/time.ts';
import { countOf } from '../text/count.ts';
import {
  acceptRequests,
  CLOCK_TOLERANCE_MS,
  isOpenFor,
  openRequestHasEffect,
  parseRequestTime,
  parseWindow,
  REASON_KEYS,
  REQUESTED_AT_KEYS,
} from './gateRequests.ts';
import { selectsFlux } from './gateSelection.ts';

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
  if (value === undefined || isOpenFor(value)) return [];
  const reason = 'expected the one tag that may be deployed, or <namespace>/<rollout>:<tag>';
  return [{ field: `metadata.annotations[${OPEN_FOR}]`, value, reason }];
}

function aheadText(ms: number): string {
  const days = Math.floor(ms / DAY_MS);
  return days > 1 ? countOf(days, 'day') : formatDuration(ms);
}

/**
 * Warnings about an allowed write of a Gate: sentences with the important words first, because responseOf cuts them at
 * 120 characters.
 * @param old undefined for a new Gate
 */
export function gateWarnings(gate: Gate, old: Gate | undefined, user: string, now: EpochMs): string[] {
  // The record of a new Gate may be the one that the mutating webhook has just made from its annotations.
  const written = old ? gate : annotate(gate, ACCEPTED_REQUEST, undefined);
  const { accepted, ignored, foreignReasons } = acceptRequests(written, old, user, now);
  const closing = accepted.find(({ action }) => action === 'close');
  // A closure with its end in the same write was planned: its times are no mistake.
  const hasEnd = closing && accepted.some(({ action, at }) => action === 'open' && at > closing.at);
  const late = hasEnd ? [] : accepted.filter(({ at }) => at > now + CLOCK_TOLERANCE_MS);
  const warnings = late.map(
    ({ action, at }) =>
      `${aheadText(at - now)} ahead: the ${action} request takes effect at ${formatTime(at)}, not now`,
  );
  for (const action of foreignReasons) {
    warnings.push(`no reason recorded: ${REASON_KEYS[action]} belongs to an earlier request of another user`);
  }
  const version = gate.metadata.annotations?.[OPEN_FOR];
  const isLeftOver = version !== undefined && version === old?.metadata.annotations?.[OPEN_FOR];
  if (isLeftOver && accepted.some(({ action }) => action === 'open')) {
    warnings.push(`opens for ${version} only, because ${OPEN_FOR} is still set; remove it to open for all`);
  }
  for (const { action, at } of ignored) {
    warnings.push(
      `${REQUESTED_AT_KEYS[action]} ${formatTime(at)} was handled before and has no effect; set a new time`,
    );
  }
  if (gate.spec.window !== old?.spec.window && gate.spec.window !== undefined && parseWindow(gate.spec.window) === 0) {
    warnings.push(`spec.window is ${gate.spec.window}: a request ends immediately and has no effect`);
  }
  if (accepted.some(({ action }) => action === 'open') && !openRequestHasEffect(gate, old, now)) {
    warnings.push('the request opens nothing: this Gate has spec.approvals, so approve a version instead');
  }
  if (gate.spec.approvals && !old?.spec.approvals && selectsFlux(gate)) {
    warnings.push(
      'spec.approvals release versions of Rollouts only: for the selected Flux objects the Gate stays closed',
    );
  }
  return [...warnings, ...scheduleWarnings(gate.spec.schedule?.rules ?? [])];
}
