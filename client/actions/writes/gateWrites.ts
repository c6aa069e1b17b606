/** Writes of a Gate: requests to open, close and approve. */
import {
  ACCEPTED_REQUEST,
  APPROVE_FOR,
  APPROVE_FOR_REASON,
  CLOSE_REASON,
  CLOSE_REQUESTED_AT,
  OPEN_FOR,
  OPEN_REASON,
  OPEN_REQUESTED_AT,
  UNAPPROVE_FOR,
} from '../../../api/annotations.ts';
import { KINDS } from '../../../api/kinds.ts';
import type { EpochMs, NamespacedName } from '../../../api/kubernetes.ts';
import type { Gate } from '../../../api/types.ts';
import { splitTarget } from '../../../core/approval/approvalRecord.ts';
import { acceptRequests } from '../../../core/gate/acceptRequests.ts';
import { openRequestHasEffect } from '../../../core/gate/gateApprovals.ts';
import { cancelText } from '../../../core/gate/gateEvents.ts';
import {
  CLOCK_TOLERANCE_MS,
  type GateAction,
  type GateRequest,
  gateRequestsOf,
  isLegalTarget,
  parseRequestTime,
} from '../../../core/gate/gateRequests.ts';
import { requirerText } from '../../../core/gate/gateSelection.ts';
import { evaluateGate, type GateEvaluation } from '../../../core/gate/gateTimeline.ts';
import { annotate } from '../../../core/kube/annotate.ts';
import { identityOf, refKey } from '../../../core/kube/names.ts';
import { formatTime, wholeSeconds } from '../../../core/kube/time.ts';
import { withCommands } from '../../../core/text/commands.ts';
import { countOf } from '../../../core/text/count.ts';
import { firstFew } from '../../../core/text/firstFew.ts';
import { shell, WHY } from '../../../core/text/shell.ts';
import { approvalChange } from './approvalChange.ts';
import {
  badRequest,
  createWrite,
  newObject,
  noChange,
  type PlannedWrite,
  PROGRAM_WORD,
  patchMetadata,
  patchWrite,
  titleOf,
} from './plannedWrite.ts';

/** The time span in which a Gate is closed. */
export interface ClosedSpan {
  /** The beginning; absent: now. */
  at?: EpochMs | undefined;
  /** The duration in milliseconds, instead of `until`. */
  lasts?: number | undefined;
  /** The end; absent: until a user opens the Gate. */
  until?: EpochMs | undefined;
}

export function isTimed(span: ClosedSpan = {}): boolean {
  return Object.values(span).some((time) => time !== undefined);
}

/** The beginning and end of a ClosedSpan. */
interface Instants {
  at: EpochMs | undefined;
  end: EpochMs | undefined;
}

interface Opening {
  reason?: string | undefined;
  /** The time at which the request takes effect, if later. */
  at?: EpochMs | undefined;
  /** Opens for this version only, `1.2.0` of every Rollout or `namespace/rollout:1.2.0`. */
  version?: string | undefined;
}

/** Opens a Gate, or extends its opening; a Gate with approvals only if that ends a close request or cancels a plan. */
export function openGate(gate: Gate, { reason, at: wanted, version }: Opening, now: EpochMs): PlannedWrite {
  const at = wanted === undefined ? undefined : planTime(gate, 'open', wanted, now, version);
  if (version !== undefined && !isLegalTarget(version))
    return badRequest(`'${version}' is neither a tag nor <namespace>/<rollout>:<tag>.`);
  const problem = at === undefined ? undefined : timeProblem('beginning', at, now);
  if (problem !== undefined) return badRequest(problem);
  if (!openRequestHasEffect(version, gate, gate, now)) {
    return badRequest(`${titleOf(gate)} has spec.approvals, so a request can't open it: approve a version instead.`);
  }
  const present = evaluateGate(gate, now);
  const { planned } = present;
  const before = gate.metadata.annotations ?? {};
  const requestedAt = at ?? requestTime(gate, 'open', now);
  const annotations: Record<string, string | null> = {
    [OPEN_REQUESTED_AT]: formatTime(requestedAt),
    ...annotationChange(before, OPEN_REASON, reason),
    ...annotationChange(before, OPEN_FOR, version),
  };
  const next = evaluateGate(gateAfter(gate, annotations, now), Math.max(now, requestedAt));
  if (version !== undefined && next.opened) {
    return noChange(`${titleOf(gate)} is open${at === undefined ? ' already' : atText(at)}, for every version.`);
  }
  const opening = openingIn(next, version);
  const extended = at === undefined ? openingIn(present, version) : undefined;
  if (extended && !lastsLonger(opening, extended) && (version !== undefined || !planned)) {
    const { until } = extended;
    const which = version === undefined ? '' : ` for ${version}`;
    return noChange(`${titleOf(gate)} is open${which} already${until === undefined ? '' : `,${untilText(until)}`}.`);
  }
  if (!opening && !gate.spec.approvals) {
    const { window } = gate.spec;
    const why = next.stalled ?? (window ? `its spec.window is ${window}` : 'a closure is planned for that time');
    return badRequest(`${titleOf(gate)} would stay closed: ${why}.`);
  }
  const only = version === undefined ? '' : ` for ${version} only`;
  const verb = at !== undefined ? 'Planned to open' : extended ? 'Extended the opening of' : 'Opened';
  const text = opening
    ? `${verb} ${titleOf(gate)}${only}${atText(at)}${untilText(opening.until)}`
    : `Ended the request to close ${titleOf(gate)}, which stays closed: ${next.message}`;
  return patchWrite(
    gate,
    patchMetadata(annotations),
    version === undefined
      ? { text, concerns: [...(extended ? [] : releaseConcerns(gate)), ...cancelConcerns(planned)] }
      : { text: withHeldObjects(text, gate, version), brings: { version: splitTarget(version).version } },
  );
}

/** An opening; without `until` until a request to close. */
type Span = Pick<GateEvaluation, 'until'>;

/** The opening for the version, or for all; undefined while there is none. */
function openingIn({ opened, openFor, until, exception }: GateEvaluation, version: string | undefined) {
  if (version === undefined) return opened ? { until } : undefined;
  return openFor === version ? { until: exception?.until } : undefined;
}

function lastsLonger(a: Span | undefined, b: Span): boolean {
  return a !== undefined && (a.until ?? Number.POSITIVE_INFINITY) > (b.until ?? Number.POSITIVE_INFINITY);
}

/**
 * Allows one version at a closed Gate: at a Gate with approvals the user's approval, otherwise an opening for the
 * version. `version`: `1.2.0` or `shop/checkout:1.2.0`. `rollout`: the only Rollout to allow it for.
 */
export function approveAtGate(
  gate: Gate,
  version: string,
  { reason, rollout }: { reason?: string | undefined; rollout?: NamespacedName | undefined },
  now: EpochMs,
): PlannedWrite {
  const { approvals } = gate.spec;
  const { version: tag, rollout: named } = splitTarget(version);
  const of = rollout ? refKey(rollout) : named;
  const target = of ? `${of}:${tag}` : tag;
  if (!approvals) return openGate(gate, { reason, version: target }, now);
  const annotations = { [APPROVE_FOR]: target, ...(reason && { [APPROVE_FOR_REASON]: reason }) };
  const text = `Approved ${version} at ${titleOf(gate)}, which requires ${countOf(approvals.required, 'approval')}`;
  return patchWrite(gate, patchMetadata(annotations), {
    text: withHeldObjects(text, gate, target),
    brings: { version: tag },
    approval: approvalChange(gate, target, 'given'),
  });
}

/** Withdraws the user's own approval. */
export function withdrawAtGate(gate: Gate, version: string): PlannedWrite {
  if (!gate.spec.approvals)
    return badRequest(`${titleOf(gate)} has no spec.approvals, so there is no approval to withdraw.`);
  return patchWrite(gate, patchMetadata({ [UNAPPROVE_FOR]: version }), {
    text: `Withdrew your approval of ${version} at ${titleOf(gate)}`,
    approval: approvalChange(gate, version, 'withdrawn'),
  });
}

/** Creates an open Gate. */
export function createGate({ namespace, name }: NamespacedName): PlannedWrite {
  const gate = newObject('Gate', { namespace, name }, { default: 'opened' });
  return createWrite(gate, { text: `Created ${titleOf(gate)}, open` });
}

type WantedClosure = ClosedSpan & { reason?: string | undefined };

/** Closes a Gate. */
export function closeGate(gate: Gate, wanted: WantedClosure, now: EpochMs): PlannedWrite {
  return plannedClosure(gate, wanted, now).write;
}

/**
 * The write that closes a Gate, and `when` it is closed then: ` at … until …`. With an end, a second request in the
 * same write opens it again. The text has the end that the Gate itself has then; an end that it would not keep is an
 * invalid request.
 */
export function plannedClosure(
  gate: Gate,
  { reason, ...span }: WantedClosure,
  now: EpochMs,
): { write: PlannedWrite; when: string } {
  const refused = (problem: string) => ({ write: badRequest(problem), when: '' });
  const at = span.at === undefined ? undefined : planTime(gate, 'close', span.at, now);
  const wantedEnd = endOf({ ...span, at }, now);
  const end = at === undefined && wantedEnd !== undefined ? planTime(gate, 'open', wantedEnd, now) : wantedEnd;
  const problem = spanProblem(at, end, now);
  if (problem) return refused(problem);
  const before = gate.metadata.annotations ?? {};
  const requestedAt = at ?? requestTime(gate, 'close', now);
  const annotations = closeAnnotations(before, { reason, at, end, requestedAt });
  const after = gateAfter(gate, annotations, now);
  const { opened, until, stalled } = evaluateGate(after, Math.max(now, requestedAt));
  if (opened) {
    return refused(`${titleOf(gate)} would stay open: ${stalled ?? `its spec.window is ${gate.spec.window}`}.`);
  }
  if (end !== undefined) {
    const last = wholeSeconds(end);
    const isKept = at === undefined ? until === undefined || until >= last : until === last;
    if (!isKept) return refused(otherEndText(gate, { at, end, until, reason }));
  }
  const when = closureText(after, { at, end }, now);
  const text = `${at === undefined ? 'Closed' : 'Planned to close'} ${titleOf(gate)}${when}`;
  return { write: patchWrite(gate, patchMetadata(annotations), { text }), when };
}

interface OtherEnd {
  at: EpochMs | undefined;
  /** The requested end. */
  end: EpochMs;
  /** The end that the Gate would keep; undefined if it has none. */
  until: EpochMs | undefined;
  reason: string | undefined;
}

/** Why a Gate can't be closed until `end`, and the command that closes it for as long as its spec permits. */
function otherEndText(gate: Gate, { at, end, until, reason }: OtherEnd): string {
  const { namespace, name } = identityOf(gate);
  const { default: standard, window } = gate.spec;
  const kept = until === undefined ? ' until a user opens it' : untilText(until);
  const why =
    until === undefined && standard === 'closed'
      ? 'it is closed by default'
      : `its spec.window is ${window ?? 'not set'}`;
  const close = shell`${PROGRAM_WORD} close ${name} -n ${namespace}`;
  const options = `${at === undefined ? '' : shell` --at ${formatTime(at)}`}${reason ? shell` --reason ${reason}` : ''}`;
  return withCommands(
    `${titleOf(gate)} would be closed${atText(at)}${kept}, not${untilText(end)}: ${why}. Change that, or freeze with another name.`,
    [`To close it${kept}`, `${close}${options}`],
  );
}

/** The Gate as it is stored after the write: the webhook records its requests. */
export function gateAfter(gate: Gate, change: Readonly<Record<string, string | null>>, now: EpochMs): Gate {
  const entries = Object.entries({ ...gate.metadata.annotations, ...change });
  const annotations = Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== null));
  const written = { ...gate, metadata: { ...gate.metadata, annotations } };
  return annotate(written, ACCEPTED_REQUEST, acceptRequests(written, gate, '', now).record);
}

/**
 * The text for a closed time span: ` at … until …`. `after`: the Gate after the write; its own spec decides the end.
 * `end`: the requested one.
 */
function closureText(after: Gate, { at, end }: Instants, now: EpochMs): string {
  if (end !== undefined) {
    const { opened, message } = evaluateGate(after, end);
    return `${atText(at)}${untilText(end)}${opened ? '' : `; it is closed then too: ${message}`}`;
  }
  const { until } = evaluateGate(after, at ?? now);
  const { window, schedule } = after.spec;
  const why = until === undefined ? '' : `, by its spec.window (${window})${schedule ? ' and its spec.schedule' : ''}`;
  return `${atText(at)}${untilText(until)}${why}`;
}

/** The end of the span; undefined if it has none. */
export function endOf({ at, lasts, until }: ClosedSpan, now: EpochMs): EpochMs | undefined {
  return lasts === undefined ? until : (at ?? now) + lasts;
}

/** The problem of the times of a span; undefined if there is none. */
export function spanProblem(at: EpochMs | undefined, end: EpochMs | undefined, now: EpochMs): string | undefined {
  if (at === undefined) return end === undefined ? undefined : timeProblem('end', end, now);
  const problem = timeProblem('beginning', at, now);
  return problem !== undefined || end === undefined || end > at
    ? problem
    : `${formatTime(end)} is not after ${formatTime(at)}: the end must be later than the beginning.`;
}

/** The problem of the time of a request. One less than a minute ahead takes effect at once. */
function timeProblem(what: 'beginning' | 'end', at: EpochMs, now: EpochMs): string | undefined {
  if (at <= now) return `${formatTime(at)} is in the past: the ${what} must be later than now.`;
  if (at > now + CLOCK_TOLERANCE_MS) return undefined;
  return `${formatTime(at)} is less than a minute ahead, which counts as now: the ${what} must be later.`;
}

/**
 * The annotations that close a Gate. A Gate stores one planned request: after a planned beginning, only its spec.window
 * ends the closure. `before`: the annotations of the Gate, of which contradicting ones are removed.
 */
export function closeAnnotations(
  before: Readonly<Record<string, string>>,
  { reason, at, end, requestedAt }: Instants & { reason: string | undefined; requestedAt: EpochMs },
): Record<string, string | null> {
  return {
    [CLOSE_REQUESTED_AT]: formatTime(requestedAt),
    ...annotationChange(before, CLOSE_REASON, reason),
    ...(at === undefined &&
      end !== undefined && {
        [OPEN_REQUESTED_AT]: formatTime(end),
        ...annotationChange(before, OPEN_REASON, reason && `end of: ${reason}`),
        ...annotationChange(before, OPEN_FOR, undefined),
      }),
  };
}

/**
 * The time of a planned request: `at`, or a second later if the annotation has had that time for another request, such
 * as a cancelled plan: then the same time would be no new request.
 * @param version the one version that the request is for
 */
function planTime(gate: Gate, action: GateAction, at: EpochMs, now: EpochMs, version?: string): EpochMs {
  const { seen, planned, exception } = gateRequestsOf(gate, now);
  const time = wholeSeconds(at);
  const isSame = (each: GateRequest | undefined) =>
    each?.action === action && each.at === time && each.for === version && !each.hasEnded;
  return time === seen?.[action] && !isSame(planned) && !isSame(exception) ? time + 1000 : at;
}

/**
 * The time of a request that takes effect now, at least a second after the last request. An unchanged text would be no
 * new request, and a time before the last request would count as handled; the user's clock may be behind.
 */
function requestTime(gate: Gate, action: GateAction, now: EpochMs): EpochMs {
  const annotated = parseRequestTime(
    gate.metadata.annotations?.[action === 'open' ? OPEN_REQUESTED_AT : CLOSE_REQUESTED_AT],
  );
  const isAhead = annotated !== undefined && annotated > now + 1000;
  const used = [gateRequestsOf(gate, now).handled[action], isAhead ? undefined : annotated];
  const next = used.flatMap((time) => (time === undefined ? [] : [time + 1000]));
  return Math.max(wholeSeconds(now), ...next);
}

/** Sets the annotation to the value; without a value, removes it if it is set. */
function annotationChange(before: Readonly<Record<string, string>>, key: string, value: string | undefined) {
  if (value) return { [key]: value };
  return before[key] === undefined ? {} : { [key]: null };
}

/** The text with the Flux objects that stay held: an opening or an approval of one version releases Rollouts only. */
function withHeldObjects(text: string, gate: Gate, target: string): string {
  const held = (gate.status?.requiredBy ?? []).filter(({ kind }) => kind !== KINDS.Rollout.kind);
  if (held.length === 0) return text;
  const { version, rollout } = splitTarget(target);
  const [namespace, name] = rollout?.split('/') ?? [];
  const sentence = `${text}. It still holds ${firstFew(held.map(requirerText), 3)}: Rollouts bound to them wait`;
  if (!namespace || !name) return sentence;
  const command = shell`${PROGRAM_WORD} bypass ${name} ${version} -n ${namespace} --reason ${WHY}`;
  return withCommands(`${sentence}.`, [`To bypass the Gate for ${version}`, command]);
}

/** The warning about the objects that the Gate releases at once when it opens. */
function releaseConcerns(gate: Gate): string[] {
  const { requiredByCount: count = 0, requiredBy = [] } = gate.status ?? {};
  if (count === 0) return [];
  const names = firstFew(requiredBy.map(requirerText), 8, count);
  return [`It releases ${countOf(count, 'object')}: ${names}`];
}

/** The warning about a planned closure that the opening cancels. */
function cancelConcerns(planned: GateRequest | undefined): string[] {
  return planned?.action === 'close' ? [`It ${cancelText({ ...planned, at: formatTime(planned.at) })}`] : [];
}

const atText = (at: EpochMs | undefined) => (at === undefined ? '' : ` at ${formatTime(at)}`);
export const untilText = (end: EpochMs | undefined) => (end === undefined ? '' : ` until ${formatTime(end)}`);
