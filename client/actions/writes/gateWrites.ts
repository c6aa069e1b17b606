/** Writes of a Gate: open, close, approve by its request annotations; and a freeze, which creates the Gate. */
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
import { apiVersionOf, GOVERNED_KINDS, KINDS } from '../../../api/kinds.ts';
import type { EpochMs, NamespacedName } from '../../../api/kubernetes.ts';
import type { Gate } from '../../../api/types.ts';
import { splitTarget } from '../../../core/approval/acceptApproval.ts';
import { gateRequestsOf, isOpenFor, parseRequestTime, takesOpening } from '../../../core/gate/gateRequests.ts';
import { requirerText } from '../../../core/gate/gateSelection.ts';
import { evaluateGate } from '../../../core/gate/gateState.ts';
import { formatDuration } from '../../../core/kube/duration.ts';
import { few } from '../../../core/kube/firstFew.ts';
import { sameJson } from '../../../core/kube/json.ts';
import { identityOf, refKey } from '../../../core/kube/names.ts';
import { formatTime, wholeSeconds } from '../../../core/kube/time.ts';
import { because, creating, isRequest, named, nothing, type PlannedWrite, patching, wrong } from './plannedWrite.ts';
import { tagProblem } from './rolloutWrites.ts';

interface When {
  reason?: string | undefined;
  /** Time at which it takes effect, if later. */
  at?: EpochMs | undefined;
  /** Time until which it lasts. */
  until?: EpochMs | undefined;
}

/**
 * Opens a Gate. With approvals it only ends a close request, or cancels a plan. `version`: for this version only;
 * `namespace/rollout:version` for that of one Rollout.
 */
export function openGate(
  gate: Gate,
  { reason, at, version }: When & { version?: string | undefined },
  now: EpochMs,
): PlannedWrite {
  const tag = version === undefined ? undefined : splitTarget(version).version;
  const problem = tag === undefined ? undefined : tagProblem(tag);
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
 * Allows one version at a closed Gate. If several users have to approve, it is one approval, for the given Rollout
 * (`shop/checkout:1.2.0`) or the only possible one; otherwise an opening for that version, of that Rollout.
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
  const meant = of ? `${of}:${tag}` : tag;
  if (!approvals) return openGate(gate, { reason, version: meant }, now);
  const problem = tagProblem(tag);
  if (problem) return wrong(problem);
  const annotations = {
    [APPROVE_FOR]: meant,
    ...(reason && { [APPROVE_FOR_REASON]: reason }),
  };
  const text = `Approved ${version} at ${nameOf(gate)}, which requires ${approvals.required}`;
  return patching('Gate', identityOf(gate), { metadata: { annotations } }, { text, brings: { version: tag } });
}

/** Withdraws the user's own approval. */
export function withdrawAtGate(gate: Gate, version: string): PlannedWrite {
  if (!gate.spec.approvals) return wrong(`${nameOf(gate)} has no spec.approvals, so there is no approval to withdraw.`);
  const text = `Withdrew your approval of ${version} at ${nameOf(gate)}`;
  return patching('Gate', identityOf(gate), { metadata: { annotations: { [UNAPPROVE_FOR]: version } } }, { text });
}

/** Creates an open Gate. */
export function createGate({ namespace, name }: NamespacedName): PlannedWrite {
  const gate = {
    apiVersion: apiVersionOf(KINDS.Gate),
    kind: 'Gate',
    metadata: { namespace, name },
    spec: { default: 'opened' },
  };
  return creating('Gate', gate, { text: `Created ${named('Gate', { namespace, name })}, open` });
}

/** Closes a Gate. With `until` a second request in the same write opens it again. */
export function closeGate(gate: Gate, { reason, at, until }: When, now: EpochMs): PlannedWrite {
  const problem = spanProblem({ at, until }, now);
  if (problem) return wrong(problem);
  const before = gate.metadata.annotations ?? {};
  const annotations = closing(before, { reason, at, until }, requestTime(gate, 'close', at, now));
  const text = `${at === undefined ? 'Closed' : 'Planned to close'} ${nameOf(gate)}${atText(at)}${until === undefined ? '' : ` until ${formatTime(until)}`}`;
  return patching('Gate', identityOf(gate), { metadata: { annotations } }, { text });
}

/** The annotations that close a Gate; contradicting ones that it has `before` are removed. */
function closing(
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

/** The problem of two times: a planned closing and a planned opening are two plans, and a Gate keeps one. */
function spanProblem({ at, until }: Pick<When, 'at' | 'until'>, now: EpochMs): string | undefined {
  if (until !== undefined && until <= now)
    return `${formatTime(until)} is in the past: a freeze must end later than now.`;
  if (at !== undefined && at <= now) return `${formatTime(at)} is past.`;
  if (at !== undefined && until !== undefined)
    return 'A Gate keeps one plan: give it either a beginning (--at) or an end.';
  return undefined;
}

/**
 * The time of a request, in a new second: an unchanged text is no new request, and one much older than the last counts
 * as handled. The user's clock may be behind that of the last request.
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

/** The objects that the Gate releases at once when it opens. */
function letsGo(gate: Gate): string[] {
  const { held = 0, heldObjects = [] } = gate.status ?? {};
  if (held === 0) return [];
  const names = few(heldObjects.map(requirerText), 8, held);
  return [`It releases ${held} ${held === 1 ? 'object' : 'objects'}: ${names}`];
}

const atText = (at: EpochMs | undefined) => (at === undefined ? '' : ` at ${formatTime(at)}`);

function nameOf(gate: Gate): string {
  return named('Gate', identityOf(gate));
}

export type Selects = NonNullable<Gate['spec']['selects']>;
type FrozenKind = NonNullable<Selects['kinds']>[number];

/** Kinds that a freeze holds by default: those that apply something, and those that deploy. */
export const FROZEN_KINDS: readonly FrozenKind[] = ['Kustomization', 'HelmRelease', 'Rollout'];

export interface FreezeRequest extends When {
  ref: NamespacedName;
  /** The kinds; absent: FROZEN_KINDS. */
  kinds?: readonly FrozenKind[] | undefined;
  namespaceSelector?: Selects['namespaceSelector'] | undefined;
  labelSelector?: Selects['labelSelector'] | undefined;
  /** Times of the calendar, instead of now. */
  every?: { days: string[]; hours?: { start: string; end: string } | undefined; timezone: string } | undefined;
  /** Milliseconds that a closing at a later time lasts. */
  window?: number | undefined;
}

/** The write of a freeze. `existing`: the Gate of that name, if any. */
export function freeze(wanted: FreezeRequest, existing: Gate | undefined, now: EpochMs): PlannedWrite {
  const { ref, at, until, every, window } = wanted;
  if (every && (at !== undefined || until !== undefined || window !== undefined)) {
    return wrong('--every is a calendar: --for, --until and --at are for one freeze.');
  }
  const problem = spanProblem({ at, until }, now);
  if (problem) return wrong(problem);
  if (existing) return refreeze(wanted, existing, now);
  const gate = newGate(wanted, now);
  const end = until === undefined ? '' : ` until ${formatTime(until)}`;
  const begin = at === undefined ? '' : ` at ${formatTime(at)}`;
  const text = every
    ? `Created ${named('Gate', ref)}: closed every ${every.days.join(', ')}${every.hours ? ` ${every.hours.start}–${every.hours.end}` : ''}, ${every.timezone}`
    : `${at === undefined ? 'Closed' : 'Planned to close'} the new ${named('Gate', ref)}${begin}${end}`;
  return creating('Gate', gate, { text });
}

function newGate({ ref, every, window, at, until, reason, ...selection }: FreezeRequest, now: EpochMs): Gate {
  const annotations = every
    ? because(reason)
    : (closing({}, { reason, until }, formatTime(at ?? wholeSeconds(now))) as Record<string, string>);
  return {
    apiVersion: apiVersionOf(KINDS.Gate),
    kind: 'Gate',
    metadata: { ...ref, ...(Object.keys(annotations).length > 0 && { annotations }) },
    spec: {
      default: 'opened',
      ...(window !== undefined && { window: formatDuration(window) }),
      ...(every && { schedule: gateSchedule(every) }),
      selects: selectsOf(selection),
    },
  } as Gate;
}

function gateSchedule({ days, hours, timezone }: NonNullable<FreezeRequest['every']>) {
  const rule = { ...(days.length < 7 && { daysOfWeek: days }), ...(hours && { timeRange: hours }) };
  return { timezone, action: 'Close', rules: [rule] };
}

function selectsOf({ kinds = FROZEN_KINDS, namespaceSelector, labelSelector }: Partial<FreezeRequest>): Selects {
  return {
    kinds: [...kinds],
    ...(namespaceSelector && { namespaceSelector }),
    ...(labelSelector && { labelSelector }),
  };
}

/** An existing Gate is closed unchanged: its author decided what it holds. */
function refreeze(wanted: FreezeRequest, existing: Gate, now: EpochMs): PlannedWrite {
  const { ref, every, window, kinds, namespaceSelector, labelSelector } = wanted;
  const name = named('Gate', ref);
  if (every) return wrong(`${name} exists: change its spec.schedule, or choose another name.`);
  const selects = existing.spec.selects ?? {};
  const differs =
    (kinds && !sameJson([...kinds].sort(), [...(selects.kinds ?? [])].sort())) ||
    (namespaceSelector && !sameJson(namespaceSelector, selects.namespaceSelector)) ||
    (labelSelector && !sameJson(labelSelector, selects.labelSelector));
  if (differs)
    return wrong(`${name} exists and selects something else: change its spec.selects, or choose another name.`);
  if (window !== undefined && wanted.at !== undefined && existing.spec.window !== formatDuration(window)) {
    return wrong(
      `${name} exists, and how long a planned closing lasts is its spec.window: set that, or choose another name.`,
    );
  }
  const requested = closeGate(existing, wanted, now);
  const others = kinds ? [] : FROZEN_KINDS.filter((kind) => !selects.kinds?.includes(kind));
  const concerns = others.length > 0 ? [`${name} exists, and selects no ${others.join(' and no ')}`] : [];
  return isRequest(requested) ? { ...requested, concerns } : requested;
}

const SELECTABLE = [...GOVERNED_KINDS.map(({ kind, resource }) => ({ kind, resource })), KINDS.Rollout];
/** Kinds that a Gate can select. */
export const SELECTABLE_KINDS: readonly string[] = SELECTABLE.map(({ kind }) => kind);

/** Kinds that a Gate can select, in any spelling; undefined if one is not such a kind. */
export function parseKinds(text: string): FrozenKind[] | undefined {
  const found = text.split(',').map((word) => {
    const wanted = word.trim().toLowerCase();
    return SELECTABLE.find(({ kind, resource }) => kind.toLowerCase() === wanted || resource === wanted)?.kind as
      | FrozenKind
      | undefined;
  });
  return found.some((kind) => kind === undefined) ? undefined : ([...new Set(found)] as FrozenKind[]);
}
