/** Writes of a Gate: requests to open, close and approve; and a freeze, which may create the Gate. */
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
import { withApprovalChange } from './approvalChange.ts';
import {
  badRequest,
  createWrite,
  isRequest,
  noChange,
  objectTitle,
  type PlannedWrite,
  patchWrite,
  reasonAnnotation,
} from './plannedWrite.ts';
import { tagProblem } from './rolloutWrites.ts';

interface When {
  reason?: string | undefined;
  /** The time at which the request takes effect, if later. */
  at?: EpochMs | undefined;
  /** The time until which the Gate stays closed. */
  until?: EpochMs | undefined;
}

/**
 * Opens a Gate; a Gate with approvals only if that ends a close request or cancels a plan. `version`: opens for this
 * version only, `1.2.0` of every Rollout or `namespace/rollout:1.2.0`.
 */
export function openGate(
  gate: Gate,
  { reason, at, version }: When & { version?: string | undefined },
  now: EpochMs,
): PlannedWrite {
  const tag = version === undefined ? undefined : splitTarget(version).version;
  const problem = tag === undefined ? undefined : tagProblem(tag);
  if (problem) return badRequest(problem);
  if (version !== undefined && !isOpenFor(version))
    return badRequest(`'${version}' is not <namespace>/<rollout>:<tag>.`);
  if (!takesOpening(gate, now)) {
    return badRequest(`${nameOf(gate)} has spec.approvals, and no request opens it: approve a version at it.`);
  }
  const { opened, openFor } = evaluateGate(gate, now);
  if (at === undefined && version === undefined && opened && !evaluateGate(gate, now).planned) {
    return noChange(`${nameOf(gate)} is open already.`);
  }
  if (at === undefined && version !== undefined && !opened && openFor === version) {
    return noChange(`${nameOf(gate)} is open for ${version} already.`);
  }
  const before = gate.metadata.annotations ?? {};
  const annotations: Record<string, string | null> = {
    [OPEN_REQUESTED_AT]: requestTime(gate, 'open', at, now),
    ...annotationChange(before, OPEN_REASON, reason),
    ...annotationChange(before, OPEN_FOR, version),
  };
  const text = `${at === undefined ? 'Opened' : 'Planned to open'} ${nameOf(gate)}${version === undefined ? '' : ` for ${version} only`}${atText(at)}`;
  return patchWrite(
    'Gate',
    identityOf(gate),
    { metadata: { annotations } },
    tag === undefined ? { text, concerns: releaseConcerns(gate) } : { text, brings: { version: tag } },
  );
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
  const problem = tagProblem(tag);
  if (problem) return badRequest(problem);
  const annotations = {
    [APPROVE_FOR]: target,
    ...(reason && { [APPROVE_FOR_REASON]: reason }),
  };
  const text = `Approved ${version} at ${nameOf(gate)}, which requires ${approvals.required} ${approvals.required === 1 ? 'approval' : 'approvals'}`;
  const write = patchWrite('Gate', identityOf(gate), { metadata: { annotations } }, { text, brings: { version: tag } });
  return withApprovalChange(write, gate, target, 'given');
}

/** Withdraws the user's own approval. */
export function withdrawAtGate(gate: Gate, version: string): PlannedWrite {
  if (!gate.spec.approvals)
    return badRequest(`${nameOf(gate)} has no spec.approvals, so there is no approval to withdraw.`);
  const text = `Withdrew your approval of ${version} at ${nameOf(gate)}`;
  const body = { metadata: { annotations: { [UNAPPROVE_FOR]: version } } };
  return withApprovalChange(patchWrite('Gate', identityOf(gate), body, { text }), gate, version, 'withdrawn');
}

/** Creates an open Gate. */
export function createGate({ namespace, name }: NamespacedName): PlannedWrite {
  const gate = {
    apiVersion: apiVersionOf(KINDS.Gate),
    kind: 'Gate',
    metadata: { namespace, name },
    spec: { default: 'opened' },
  };
  return createWrite('Gate', gate, { text: `Created ${objectTitle('Gate', { namespace, name })}, open` });
}

/** Closes a Gate. With `until` a second request in the same write opens it again. */
export function closeGate(gate: Gate, { reason, at, until }: When, now: EpochMs): PlannedWrite {
  const problem = spanProblem({ at, until }, now);
  if (problem) return badRequest(problem);
  const before = gate.metadata.annotations ?? {};
  const annotations = closeAnnotations(before, { reason, at, until }, requestTime(gate, 'close', at, now));
  const text = `${at === undefined ? 'Closed' : 'Planned to close'} ${nameOf(gate)}${atText(at)}${until === undefined ? '' : ` until ${formatTime(until)}`}`;
  return patchWrite('Gate', identityOf(gate), { metadata: { annotations } }, { text });
}

/** The annotations that close a Gate. `before`: those of the Gate, of which contradicting ones are removed. */
function closeAnnotations(
  before: Readonly<Record<string, string>>,
  { reason, until }: When,
  closedAt: string,
): Record<string, string | null> {
  return {
    [CLOSE_REQUESTED_AT]: closedAt,
    ...annotationChange(before, CLOSE_REASON, reason),
    ...(until !== undefined && {
      [OPEN_REQUESTED_AT]: formatTime(until),
      ...annotationChange(before, OPEN_REASON, reason && `end of: ${reason}`),
      ...annotationChange(before, OPEN_FOR, undefined),
    }),
  };
}

/** The problem of the times. A planned close request and a planned open request together are two plans, and a Gate keeps one. */
function spanProblem({ at, until }: Pick<When, 'at' | 'until'>, now: EpochMs): string | undefined {
  if (until !== undefined && until <= now)
    return `${formatTime(until)} is in the past: a freeze must end later than now.`;
  if (at !== undefined && at <= now)
    return `${formatTime(at)} is in the past: a planned close request must begin later than now.`;
  if (at !== undefined && until !== undefined)
    return 'A Gate keeps one plan: give it either a beginning (--at) or an end.';
  return undefined;
}

/**
 * The time of a request: `at`, or now, but at least a second after the last request. An unchanged text would be no new
 * request, and a time before the last request would count as handled; the user's clock may be behind.
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

/** Sets the annotation to the value; without a value, removes it if it is set. */
function annotationChange(before: Readonly<Record<string, string>>, key: string, value: string | undefined) {
  if (value) return { [key]: value };
  return before[key] === undefined ? {} : { [key]: null };
}

/** The warning about the objects that the Gate releases at once when it opens. */
function releaseConcerns(gate: Gate): string[] {
  const { held = 0, heldObjects = [] } = gate.status ?? {};
  if (held === 0) return [];
  const names = few(heldObjects.map(requirerText), 8, held);
  return [`It releases ${held} ${held === 1 ? 'object' : 'objects'}: ${names}`];
}

const atText = (at: EpochMs | undefined) => (at === undefined ? '' : ` at ${formatTime(at)}`);

function nameOf(gate: Gate): string {
  return objectTitle('Gate', identityOf(gate));
}

export type Selects = NonNullable<Gate['spec']['selects']>;
type FrozenKind = NonNullable<Selects['kinds']>[number];

/** The kinds that a freeze holds by default: those that apply or deploy. */
export const FROZEN_KINDS: readonly FrozenKind[] = ['Kustomization', 'HelmRelease', 'Rollout'];

export interface FreezeRequest extends When {
  ref: NamespacedName;
  /** The kinds that a new Gate selects; absent: FROZEN_KINDS. */
  kinds?: readonly FrozenKind[] | undefined;
  namespaceSelector?: Selects['namespaceSelector'] | undefined;
  labelSelector?: Selects['labelSelector'] | undefined;
  /** The calendar of a freeze that is repeated every week. */
  every?: { days: string[]; hours?: { start: string; end: string } | undefined; timezone: string } | undefined;
  /** How long the Gate stays closed after a planned close request, in milliseconds. */
  window?: number | undefined;
}

/** The write of a freeze. `existing`: the Gate of that name, if any. */
export function freeze(wanted: FreezeRequest, existing: Gate | undefined, now: EpochMs): PlannedWrite {
  const { ref, at, until, every, window } = wanted;
  if (every && (at !== undefined || until !== undefined || window !== undefined)) {
    return badRequest('--every is a calendar: --for, --until and --at are for one freeze.');
  }
  const problem = spanProblem({ at, until }, now);
  if (problem) return badRequest(problem);
  if (existing) return freezeExisting(wanted, existing, now);
  const gate = newGate(wanted, now);
  const end = until === undefined ? '' : ` until ${formatTime(until)}`;
  const begin = at === undefined ? '' : ` at ${formatTime(at)}`;
  const text = every
    ? `Created ${objectTitle('Gate', ref)}: closed every ${every.days.join(', ')}${every.hours ? ` ${every.hours.start}–${every.hours.end}` : ''}, ${every.timezone}`
    : `${at === undefined ? 'Closed' : 'Planned to close'} the new ${objectTitle('Gate', ref)}${begin}${end}`;
  return createWrite('Gate', gate, { text });
}

function newGate({ ref, every, window, at, until, reason, ...selection }: FreezeRequest, now: EpochMs): Gate {
  const annotations = every
    ? reasonAnnotation(reason)
    : (closeAnnotations({}, { reason, until }, formatTime(at ?? wholeSeconds(now))) as Record<string, string>);
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

/** Closes an existing Gate. Its spec isn't changed: its author decided what it holds. */
function freezeExisting(wanted: FreezeRequest, existing: Gate, now: EpochMs): PlannedWrite {
  const { ref, every, window, kinds, namespaceSelector, labelSelector } = wanted;
  const title = objectTitle('Gate', ref);
  if (every) return badRequest(`${title} exists: change its spec.schedule, or choose another name.`);
  const selects = existing.spec.selects ?? {};
  const differs =
    (kinds && !sameJson([...kinds].sort(), [...(selects.kinds ?? [])].sort())) ||
    (namespaceSelector && !sameJson(namespaceSelector, selects.namespaceSelector)) ||
    (labelSelector && !sameJson(labelSelector, selects.labelSelector));
  if (differs)
    return badRequest(`${title} exists and selects something else: change its spec.selects, or choose another name.`);
  if (window !== undefined && wanted.at !== undefined && existing.spec.window !== formatDuration(window)) {
    return badRequest(
      `${title} exists, and its spec.window defines how long the Gate stays closed: set that, or choose another name.`,
    );
  }
  const requested = closeGate(existing, wanted, now);
  const others = kinds ? [] : FROZEN_KINDS.filter((kind) => !selects.kinds?.includes(kind));
  const concerns = others.length > 0 ? [`${title} exists, and selects no ${others.join(' and no ')}`] : [];
  return isRequest(requested) ? { ...requested, concerns } : requested;
}

const SELECTABLE = [...GOVERNED_KINDS.map(({ kind, resource }) => ({ kind, resource })), KINDS.Rollout];
/** The kinds that a Gate can select. */
export const SELECTABLE_KINDS: readonly string[] = SELECTABLE.map(({ kind }) => kind);

/** The kinds in a list such as `Kustomization,helmreleases`; undefined if a Gate can't select one of them. */
export function parseKinds(text: string): FrozenKind[] | undefined {
  const found = text.split(',').map((word) => {
    const wanted = word.trim().toLowerCase();
    return SELECTABLE.find(({ kind, resource }) => kind.toLowerCase() === wanted || resource === wanted)?.kind as
      | FrozenKind
      | undefined;
  });
  return found.some((kind) => kind === undefined) ? undefined : ([...new Set(found)] as FrozenKind[]);
}
