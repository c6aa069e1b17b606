/** Opening and closing a Gate: its request annotations, now or at a time, for all or for one version. */
import {
  APPROVE_FOR,
  APPROVE_FOR_REASON,
  CLOSE_REASON,
  CLOSE_REQUESTED_AT,
  OPEN_FOR,
  OPEN_REASON,
  OPEN_REQUESTED_AT,
  UNAPPROVE_FOR,
} from '../../../api/annotations.ts';
import { apiVersionOf, KINDS } from '../../../api/kinds.ts';
import type { EpochMs, NamespacedName } from '../../../api/kubernetes.ts';
import type { Gate } from '../../../api/types.ts';
import { namedIn } from '../../../core/approval/accept.ts';
import { takesOpening } from '../../../core/gate/approved.ts';
import { gateRequestsOf, isOpenFor, parseRequestTime } from '../../../core/gate/gateRequests.ts';
import { requirerText } from '../../../core/gate/gateSelection.ts';
import { evaluateGate } from '../../../core/gate/gateState.ts';
import { few } from '../../../core/kube/firstFew.ts';
import { identityOf, refKey } from '../../../core/kube/names.ts';
import { formatTime, wholeSeconds } from '../../../core/kube/time.ts';
import { versionProblem } from './versions.ts';
import { creating, named, nothing, type PlannedWrite, patching, wrong } from './write.ts';

export interface When {
  reason?: string | undefined;
  /** Not now, but then. */
  at?: EpochMs | undefined;
  /** Until then, and then back. */
  until?: EpochMs | undefined;
}

/** With approvals it only ends a close request, or calls off a plan. `version`: for Rollouts that are to deploy it, and nobody else; `namespace/rollout:version`, for that Rollout. */
export function openGate(
  gate: Gate,
  { reason, at, version }: When & { version?: string | undefined },
  now: EpochMs,
): PlannedWrite {
  const tag = version === undefined ? undefined : namedIn(version).version;
  const problem = tag === undefined ? undefined : versionProblem(tag);
  if (problem) return wrong(problem);
  if (version !== undefined && !isOpenFor(version)) return wrong(`'${version}' is not <namespace>/<rollout>:<tag>.`);
  if (!takesOpening(gate, now)) {
    return wrong(`${nameOf(gate)} has spec.approvals, and no request opens it: approve a version at it.`);
  }
  const { opened, openFor } = evaluateGate(gate, now);
  if (at === undefined && version === undefined && opened && !evaluateGate(gate, now).planned) {
    return nothing(`${nameOf(gate)} is open already.`);
  }
  if (at === undefined && version !== undefined && !opened && openFor === version) {
    return nothing(`${nameOf(gate)} is open for ${version} already.`);
  }
  const before = gate.metadata.annotations ?? {};
  const annotations: Record<string, string | null> = {
    [OPEN_REQUESTED_AT]: requestTime(gate, 'open', at, now),
    ...orTakenOff(before, OPEN_REASON, reason),
    ...orTakenOff(before, OPEN_FOR, version),
  };
  const text = `${at === undefined ? 'Opened' : 'Planned to open'} ${nameOf(gate)}${version === undefined ? '' : ` for ${version} only`}${atText(at)}`;
  return patching(
    'Gate',
    identityOf(gate),
    { metadata: { annotations } },
    tag === undefined ? { text, concerns: letsGo(gate) } : { text, brings: { version: tag } },
  );
}

/**
 * Lets one version through a closed Gate. Where several have to approve it is one approval, for the Rollout that is meant, where that is known
 * or said (`shop/checkout:1.2.0`); otherwise an opening for that version, of that Rollout.
 */
export function approveAtGate(
  gate: Gate,
  version: string,
  { reason, rollout }: { reason?: string | undefined; rollout?: NamespacedName | undefined },
  now: EpochMs,
): PlannedWrite {
  const { approvals } = gate.spec;
  const { version: tag, rollout: said } = namedIn(version);
  const of = rollout ? refKey(rollout) : said;
  const meant = of ? `${of}:${tag}` : tag;
  if (!approvals) return openGate(gate, { reason, version: meant }, now);
  const problem = versionProblem(tag);
  if (problem) return wrong(problem);
  const annotations = {
    [APPROVE_FOR]: meant,
    ...(reason && { [APPROVE_FOR_REASON]: reason }),
  };
  const text = `Approved ${version} at ${nameOf(gate)}, which asks for ${approvals.required}`;
  return patching('Gate', identityOf(gate), { metadata: { annotations } }, { text, brings: { version: tag } });
}

/** Takes one's own approval back. */
export function withdrawAtGate(gate: Gate, version: string): PlannedWrite {
  if (!gate.spec.approvals) return wrong(`${nameOf(gate)} has no spec.approvals: nobody has approved anything there.`);
  const text = `Withdrew your approval of ${version} at ${nameOf(gate)}`;
  return patching('Gate', identityOf(gate), { metadata: { annotations: { [UNAPPROVE_FOR]: version } } }, { text });
}

/** Open, and for whatever names it. */
export function createGate({ namespace, name }: NamespacedName): PlannedWrite {
  const gate = {
    apiVersion: apiVersionOf(KINDS.Gate),
    kind: 'Gate',
    metadata: { namespace, name },
    spec: { default: 'opened' },
  };
  return creating('Gate', gate, { text: `Created ${named('Gate', { namespace, name })}, open` });
}

/** With `until` it is opened again by a second request in the same write. */
export function closeGate(gate: Gate, { reason, at, until }: When, now: EpochMs): PlannedWrite {
  const problem = spanProblem({ at, until }, now);
  if (problem) return wrong(problem);
  const before = gate.metadata.annotations ?? {};
  const annotations = closing(before, { reason, at, until }, requestTime(gate, 'close', at, now));
  const text = `${at === undefined ? 'Closed' : 'Planned to close'} ${nameOf(gate)}${atText(at)}${until === undefined ? '' : ` until ${formatTime(until)}`}`;
  return patching('Gate', identityOf(gate), { metadata: { annotations } }, { text });
}

/** The annotations that close a Gate; those that it has `before` and that would say something else are taken off. */
export function closing(
  before: Readonly<Record<string, string>>,
  { reason, until }: When,
  closedAt: string,
): Record<string, string | null> {
  return {
    [CLOSE_REQUESTED_AT]: closedAt,
    ...orTakenOff(before, CLOSE_REASON, reason),
    ...(until !== undefined && {
      [OPEN_REQUESTED_AT]: formatTime(until),
      ...orTakenOff(before, OPEN_REASON, reason && `end of: ${reason}`),
      ...orTakenOff(before, OPEN_FOR, undefined),
    }),
  };
}

/** A planned closing and a planned opening are two plans, and a Gate keeps one. */
export function spanProblem({ at, until }: Pick<When, 'at' | 'until'>, now: EpochMs): string | undefined {
  if (until !== undefined && until <= now) return `${formatTime(until)} is past: a freeze ends later than now.`;
  if (at !== undefined && at <= now) return `${formatTime(at)} is past.`;
  if (at !== undefined && until !== undefined)
    return 'A Gate keeps one plan: give it either a beginning (--at) or an end.';
  return undefined;
}

/**
 * A new second: the same text asks for nothing new, and one that is much older than the last was handled before. The clock of the
 * one who asks may be behind that of whoever asked last.
 */
function requestTime(gate: Gate, action: 'open' | 'close', at: EpochMs | undefined, now: EpochMs): string {
  if (at !== undefined) return formatTime(at);
  const annotated = parseRequestTime(
    gate.metadata.annotations?.[action === 'open' ? OPEN_REQUESTED_AT : CLOSE_REQUESTED_AT],
  );
  const isAhead = annotated !== undefined && annotated > now + 1000;
  const used = [gateRequestsOf(gate, now).handled[action], isAhead ? undefined : annotated];
  const next = used.flatMap((time) => (time === undefined ? [] : [time + 1000]));
  return formatTime(Math.max(wholeSeconds(now), ...next));
}

function orTakenOff(before: Readonly<Record<string, string>>, key: string, value: string | undefined) {
  if (value) return { [key]: value };
  return before[key] === undefined ? {} : { [key]: null };
}

/** What changes at once when it opens. */
function letsGo(gate: Gate): string[] {
  const { held = 0, heldObjects = [] } = gate.status ?? {};
  if (held === 0) return [];
  const names = few(heldObjects.map(requirerText), 8, held);
  return [`It lets go of ${held} ${held === 1 ? 'object' : 'objects'}: ${names}`];
}

const atText = (at: EpochMs | undefined) => (at === undefined ? '' : ` at ${formatTime(at)}`);

function nameOf(gate: Gate): string {
  return named('Gate', identityOf(gate));
}
