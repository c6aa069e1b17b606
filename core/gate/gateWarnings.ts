/** The Warnings about an allowed write of a Gate. */
import { ACCEPTED_REQUEST, OPEN_FOR } from '../../api/annotations.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import { scheduleWarnings } from '../calendar/calendarRules.ts';
import { annotate } from '../kube/annotate.ts';
import { formatDuration } from '../kube/duration.ts';
import { sameJson } from '../kube/json.ts';
import { DAY_MS, formatTime } from '../kube/time.ts';
import { countOf } from '../text/count.ts';
import { acceptRequests } from './acceptRequests.ts';
import {
  CLOCK_TOLERANCE_MS,
  openRequestHasEffect,
  parseWindow,
  REASON_KEYS,
  REQUESTED_AT_KEYS,
} from './gateRequests.ts';
import { selectsFlux } from './gateSelection.ts';
import { evaluateGate } from './gateTimeline.ts';

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
  return [
    ...warnings,
    ...scheduleWarnings(gate.spec.schedule?.rules ?? []),
    ...endedClosureWarnings(gate, old, now),
    ...overriddenDefaultWarnings(gate, old, now),
    ...narrowedWarnings(gate, old, now),
  ];
}

function aheadText(ms: number): string {
  const days = Math.floor(ms / DAY_MS);
  return days > 1 ? countOf(days, 'day') : formatDuration(ms);
}

/** The Warning about an opening for one version that gives an end to a closure without one. */
function endedClosureWarnings(gate: Gate, old: Gate | undefined, now: EpochMs): string[] {
  const before = old && evaluateGate(old, now);
  const { openFor, resetToDefaultAt } = evaluateGate(gate, now);
  const hadNoEnd = before?.cause?.action === 'close' && before.resetToDefaultAt === undefined;
  if (!hadNoEnd || openFor === undefined || resetToDefaultAt === undefined) return [];
  const end = formatTime(resetToDefaultAt);
  return [`at ${end} the schedule decides again and the Gate may open. To keep it closed, close it after that`];
}

/** The Warning about an opening for one version that closes an open Gate for all others. */
function narrowedWarnings(gate: Gate, old: Gate | undefined, now: EpochMs): string[] {
  const { openFor } = evaluateGate(gate, now);
  if (!old || openFor === undefined || !evaluateGate(old, now).opened) return [];
  return [`closes the open Gate for everything but ${openFor}; to keep it open, remove ${OPEN_FOR}`];
}

/** The Warning about another default that a request, which counts before it, keeps from taking effect. */
function overriddenDefaultWarnings(gate: Gate, old: Gate | undefined, now: EpochMs): string[] {
  const { opened, cause, resetToDefaultAt } = evaluateGate(gate, now);
  const isOverridden = gate.spec.default === (opened ? 'closed' : 'opened');
  const before = old && evaluateGate(old, now).request;
  if (!cause || !isOverridden || gate.spec.default === old?.spec.default || !sameJson(cause, before)) return [];
  const [state, opposite] = opened ? ['open', 'closes'] : ['closed', 'opens'];
  const end = resetToDefaultAt === undefined ? `a request ${opposite} it` : formatTime(resetToDefaultAt);
  return [`spec.default: the Gate stays ${state}, by the request of ${formatTime(cause.at)}, until ${end}`];
}
