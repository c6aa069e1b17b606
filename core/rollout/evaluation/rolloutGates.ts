/**
 * The versions that the RolloutGates of a Rollout let through, and those that they reject. An upstream Rollout of
 * `spec.after` counts as a RolloutGate with `allowedVersions`.
 */
import { GATE_UNTIL, SCHEDULE_KIND_LABEL, SCHEDULE_NAME_LABEL } from '../../../api/annotations.ts';
import { READY } from '../../../api/conditions.ts';
import type { EpochMs } from '../../../api/kubernetes.ts';
import type { Rollout, RolloutGate, RolloutStatus, VersionInfo } from '../../../api/types.ts';
import type { NewCondition } from '../../kube/conditions.ts';
import { formatTime, parseTime } from '../../kube/time.ts';
import type { UpstreamVerdict } from '../upstream/upstreamVerdict.ts';
import { isApproved, type RolloutGateApprovals } from './versionApprovals.ts';

export type Rejection = NonNullable<RolloutStatus['rejectedReleases']>[number];

export interface RolloutGatesResult {
  /** Candidates that every upstream Rollout allows and that have their approvals, newest first. */
  promotable: VersionInfo[];
  /** The promotable versions that every list allows. A RolloutGate that isn't passing blocks, and removes none here. */
  allowedByLists: VersionInfo[];
  passing: boolean;
  /** The version for which RolloutGates don't count: a request bypasses them. */
  bypassed?: string;
}

/** A RolloutGate as it counts for a decision. */
export interface CountedRolloutGate extends RolloutGate {
  /**
   * The time at which its schedule should have changed it but has not. The RolloutGate then doesn't count as passing.
   */
  overdueSince?: EpochMs;
}

/**
 * The RolloutGate as it counts now. One that a schedule has made passes until the change that is announced on it: if
 * the schedule isn't evaluated then (an outage), it must not stay open.
 */
export function countedRolloutGate(gate: RolloutGate, now: EpochMs): CountedRolloutGate {
  const at = nextScheduledChange(gate);
  if (at === undefined || now < at) return gate;
  return { ...gate, spec: { ...gate.spec!, passing: false }, overdueSince: at };
}

/**
 * The time at which the RolloutGate's own schedule changes it next. On a RolloutGate without a schedule any user may
 * have written the annotation.
 */
export function nextScheduledChange({ metadata: { labels, annotations } }: RolloutGate): EpochMs | undefined {
  return labels?.[SCHEDULE_NAME_LABEL] ? parseTime(annotations?.[GATE_UNTIL]) : undefined;
}

/**
 * The time at which its schedule opens the RolloutGate; undefined if it passes, has no schedule, or that time is past.
 */
export function scheduledOpening(gate: CountedRolloutGate): EpochMs | undefined {
  const isClosed = gate.spec?.passing === false && gate.overdueSince === undefined;
  return isClosed ? nextScheduledChange(gate) : undefined;
}

/** The RolloutGates of this Rollout as they count now, sorted by name: Metacontroller sends them in no order. */
export function rolloutGatesOf(rollout: Rollout, gates: readonly RolloutGate[], now: EpochMs): CountedRolloutGate[] {
  return gates
    .filter((gate) => gate.spec?.rolloutRef?.name === rollout.metadata.name)
    .map((gate) => countedRolloutGate(gate, now))
    .sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
}

/**
 * The result of the RolloutGates and upstream Rollouts for all candidates.
 * @param bypass the version of a request to bypass them. If it is a candidate, they don't count for it, except their
 *   approvals: a bypass is the decision of one person
 */
export function evaluateRolloutGates(
  gates: readonly RolloutGate[],
  candidates: readonly VersionInfo[],
  bypass: string | undefined,
  upstream: readonly UpstreamVerdict[],
  approvals: readonly RolloutGateApprovals[],
): RolloutGatesResult {
  const bypassing = candidates.filter(({ tag }) => tag === bypass && isApproved(approvals, tag));
  if (bypass !== undefined && bypassing.length > 0)
    return { promotable: bypassing, allowedByLists: bypassing, passing: true, bypassed: bypass };
  const lists = gates.map(allowedBy).filter((list) => list !== undefined);
  const ofUpstream = upstream.map(({ allowed }) => new Set(allowed));
  const promotable = candidates.filter(
    ({ tag }) => ofUpstream.every((list) => list.has(tag)) && isApproved(approvals, tag),
  );
  return {
    promotable,
    allowedByLists: promotable.filter(({ tag }) => lists.every((list) => list.has(tag))),
    passing: gates.every((gate) => gate.spec?.passing !== false),
  };
}

/** A RolloutGate that blocks a version, with its schedule, and why: `RolloutGate 'qa' (not passing)`. */
export function blockingText(gate: CountedRolloutGate): string {
  return `RolloutGate '${gate.metadata.name}'${ofSchedule(gate)} (${whyBlocking(gate)})`;
}

function whyBlocking(gate: CountedRolloutGate): string {
  if (gate.overdueSince !== undefined)
    return `its schedule has not been evaluated since ${formatTime(gate.overdueSince)}`;
  const opening = scheduledOpening(gate);
  if (opening !== undefined) return `not passing until ${formatTime(opening)}`;
  return gate.spec?.passing === false ? 'not passing' : 'not on its list';
}

/** The schedule that made the RolloutGate, in its labels; Kubernetes limits their length and characters. */
function ofSchedule({ metadata: { labels } }: RolloutGate): string {
  const [kind, name] = [labels?.[SCHEDULE_KIND_LABEL], labels?.[SCHEDULE_NAME_LABEL]];
  return kind && name ? ` of ${kind} '${name}'` : '';
}

/** Whether the RolloutGates together let no candidate through. */
export function allowsNothing({ passing, allowedByLists }: RolloutGatesResult): boolean {
  return !passing || allowedByLists.length === 0;
}

/** Whether the RolloutGate lets the version through, apart from approvals, which versionApprovals.ts counts. */
export function allows(gate: RolloutGate, version: string): boolean {
  return gate.spec?.passing !== false && (gate.spec?.allowedVersions?.includes(version) ?? true);
}

/** The first RolloutGate that rejects the tag. A rejected tag is not deployed, not even manually. */
export function rejectedBy(gates: readonly RolloutGate[], tag: string): string | undefined {
  return gates.find((gate) => gate.spec?.rejectedVersions?.includes(tag))?.metadata.name;
}

/** The rejected releases in the order of discovery, each since its first rejection by the same RolloutGate. */
export function rejections(
  available: readonly VersionInfo[],
  gates: readonly RolloutGate[],
  before: readonly Rejection[] | undefined,
  now: EpochMs,
): Rejection[] {
  const rejecting = new Map<string, string>();
  for (const { spec, metadata } of gates.toReversed()) {
    for (const tag of spec?.rejectedVersions ?? []) rejecting.set(tag, metadata.name ?? '');
  }
  if (rejecting.size === 0) return [];
  const tags = [...new Set(available.map(({ tag }) => tag))];
  const known = new Map((before ?? []).toReversed().map((each) => [`${each.gate} ${each.tag}`, each]));
  return tags.flatMap((tag) => {
    const gate = rejecting.get(tag);
    if (gate === undefined) return [];
    return [known.get(`${gate} ${tag}`) ?? { tag, gate, timestamp: formatTime(now) }];
  });
}

/** The versions on the list of the RolloutGate; undefined if no list excludes versions. */
export function allowedBy({ spec }: RolloutGate): ReadonlySet<string> | undefined {
  return spec?.passing === false || !spec?.allowedVersions ? undefined : new Set(spec.allowedVersions);
}

/** The condition Ready. For kstatus, a RolloutGate that is not passing is not ready, whatever versions it allows. */
export function rolloutGateReady({ metadata, spec }: RolloutGate): NewCondition {
  const isPassing = spec?.passing !== false;
  const passes = spec?.allowedVersions ? 'Passing: the versions of spec.allowedVersions' : 'Passing';
  return {
    type: READY,
    status: isPassing ? 'True' : 'False',
    reason: isPassing ? 'Passing' : 'NotPassing',
    message: isPassing ? passes : 'spec.passing is false: no version passes',
    observedGeneration: metadata.generation,
  };
}
