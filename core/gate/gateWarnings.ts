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
import { inWarning } from '../text/oneLine.ts';
import { acceptRequests } from './acceptRequests.ts';
import { openRequestHasEffect } from './gateApprovals.ts';
import { cancelText } from './gateEvents.ts';
import { CLOCK_TOLERANCE_MS, parseWindow, REASON_KEYS, REQUESTED_AT_KEYS } from './gateRequests.ts';
import { selectsFlux } from './gateSelection.ts';
import { type CountingException, evaluateGate } from './gateTimeline.ts';

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
  const opening = accepted.find(({ action }) => action === 'open');
  const version = gate.metadata.annotations?.[OPEN_FOR];
  const isLeftOver = version !== undefined && version === old?.metadata.annotations?.[OPEN_FOR];
  if (isLeftOver && opening) {
    warnings.push(`opens for ${version} only, because ${OPEN_FOR} is still set; remove it to open for all`);
  }
  if (!isLeftOver && version !== undefined && !opening) {
    warnings.push(`${OPEN_FOR} has no effect without a new time in ${REQUESTED_AT_KEYS.open}`);
  }
  if (opening?.for && evaluateGate(gate, Math.max(now, opening.at)).opened) {
    warnings.push(`the opening for ${inWarning(opening.for)} has no effect while the Gate is open`);
  }
  for (const { action, at } of ignored) {
    warnings.push(
      `${REQUESTED_AT_KEYS[action]} ${formatTime(at)} repeats or precedes an earlier request: set a new time`,
    );
  }
  if (gate.spec.window !== old?.spec.window && gate.spec.window !== undefined && parseWindow(gate.spec.window) === 0) {
    warnings.push(`spec.window is ${gate.spec.window}: a request ends immediately and has no effect`);
  }
  if (opening && !openRequestHasEffect(opening.for, gate, old, now)) {
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
    ...cancelWarnings(gate, old, now),
    ...overriddenDefaultWarnings(gate, old, now),
  ];
}

function aheadText(ms: number): string {
  const days = Math.floor(ms / DAY_MS);
  return days > 1 ? countOf(days, 'day') : formatDuration(ms);
}

const NEVER = Number.POSITIVE_INFINITY;

/** The Warnings about a planned request, and an exception, that a newer request cancels. */
function cancelWarnings(gate: Gate, old: Gate | undefined, now: EpochMs): string[] {
  if (!old) return [];
  const [before, after] = [evaluateGate(old, now), evaluateGate(gate, now)];
  const { planned, exception } = before;
  const isPlanKept = planned?.at === after.planned?.at && planned?.action === after.planned?.action;
  const endsException = exception && hasEffect(old, exception, now) && !replaces(after.exception, exception, now);
  return [
    ...(planned && !isPlanKept ? [cancelText({ ...planned, at: formatTime(planned.at) })] : []),
    ...(endsException ? [`ends the opening for ${inWarning(exception.for)}`] : []),
  ];
}

/** Whether the exception has or will have an effect: whether the Gate is closed for some of its time. */
function hasEffect(gate: Gate, exception: CountingException, now: EpochMs): boolean {
  const { opened, until = NEVER } = evaluateGate(gate, Math.max(now, exception.at));
  return !opened || until < (exception.until ?? NEVER);
}

/** Whether the new exception passes the version of the old one for as long as that would have. */
function replaces(after: CountingException | undefined, before: CountingException, now: EpochMs): boolean {
  if (after?.for !== before.for) return false;
  // Unchanged; another window in the same write may end it earlier.
  if (after.at === before.at) return true;
  return after.at <= Math.max(before.at, now) && (after.until ?? NEVER) >= (before.until ?? NEVER);
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
