/**
 * What the RolloutGates of a Rollout let through, and what they reject.
 * Clients see each upstream Rollout of `spec.after` as a gate with `allowedVersions`.
 */

import { GATE_UNTIL, SCHEDULE_KIND_LABEL, SCHEDULE_NAME_LABEL } from '../../../api/annotations.ts';
import { GATES_PASSING, READY } from '../../../api/conditions.ts';
import { KINDS } from '../../../api/kinds.ts';
import type { Condition, EpochMs } from '../../../api/kubernetes.ts';
import type {
  GateSummary,
  HistoryEntry,
  Rollout,
  RolloutGate,
  RolloutStatus,
  VersionInfo,
} from '../../../api/types.ts';
import { falseCondition, findCondition, type NewCondition, trueCondition } from '../../kube/conditions.ts';
import { few } from '../../kube/firstFew.ts';
import { formatTime, parseTime } from '../../kube/time.ts';
import { LIMITS } from '../../limits.ts';
import type { UpstreamVerdict } from '../upstream/upstreamVerdict.ts';
import { approvalsText, isApproved, type RolloutGateApprovals } from './versionApprovals.ts';

export type Rejection = NonNullable<RolloutStatus['rejectedReleases']>[number];

export interface RolloutGatesResult {
  summaries: GateSummary[];
  /** Candidates that every gate allows, newest first. A gate that is not passing does not shrink the list. */
  gated: VersionInfo[];
  /**
   * Candidates that every upstream Rollout allows and that have their approvals, without regard to other rules of
   * RolloutGates.
   */
  promoted: VersionInfo[];
  passing: boolean;
  condition: NewCondition;
}

/** The gates of this Rollout, by name: the order of a map means nothing. */
export function rolloutGatesOf(rollout: Rollout, gates: readonly RolloutGate[]): RolloutGate[] {
  return gates
    .filter((gate) => gate.spec?.rolloutRef?.name === rollout.metadata.name)
    .sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
}

/**
 * `bypass`: the version for which the gates do not count; it must be a candidate, or the one deployed with a bypass.
 * It still needs its approvals: a bypass is the decision of one person.
 */
export function evaluateRolloutGates(
  gates: readonly RolloutGate[],
  candidates: readonly VersionInfo[],
  bypass: string | undefined,
  upstream: readonly UpstreamVerdict[],
  approvals: readonly RolloutGateApprovals[],
): RolloutGatesResult {
  const isBypassed = bypass !== undefined && isApproved(approvals, bypass);
  if (isBypassed) return bypassed(gates, candidates, bypass, upstream);
  const passing = gates.every((gate) => gate.spec?.passing !== false);
  const lists = gates.map(allowedBy).filter((list) => list !== undefined);
  const ofUpstream = upstream.map(({ allowed }) => new Set(allowed));
  const promoted = candidates.filter(
    ({ tag }) => ofUpstream.every((list) => list.has(tag)) && isApproved(approvals, tag),
  );
  const gated = promoted.filter(({ tag }) => lists.every((list) => list.has(tag)));
  const approvalsOf = new Map(approvals.map((each) => [each.gate, each]));
  const blocked = passing && gated.length === 0 && candidates.length > 0;
  return {
    summaries: [
      ...gates.map((gate) => summary(gate, candidates, approvalsOf.get(gate))),
      ...upstream.map((each) => upstreamSummary(each, candidates)),
    ],
    gated,
    promoted,
    passing,
    condition: passing ? (blocked ? NONE_ALLOWED : ALL_PASSING) : SOME_BLOCKING,
  };
}

/**
 * After the bypassed version is deployed its gates continue to show the bypass until there is another pending version:
 * they would otherwise seem to block what has just been let through.
 */
export function shownBypass(
  head: HistoryEntry | undefined,
  candidates: readonly VersionInfo[],
  conditions: readonly Condition[] | undefined,
): string | undefined {
  const before = findCondition(conditions, GATES_PASSING);
  if (!head || candidates.length > 0 || before?.reason !== 'GatesBypassed') return undefined;
  // An older version of this software recorded no origin.
  return (head.origin?.includes('GateBypass') ?? true) ? head.version.tag : undefined;
}

/** Gates that are named in one message. */
const NAMED_ROLLOUT_GATES = 5;

/**
 * `RolloutGate 'qa' (not passing), …`, with the schedule that made it: those that let none of the candidates through;
 * empty if there is none.
 */
export function namesInTheWay(gates: readonly RolloutGate[], candidates: readonly VersionInfo[]): string {
  const names = gates.flatMap((gate) => {
    const name = `RolloutGate '${gate.metadata.name}'${ofSchedule(gate)}`;
    if (gate.spec?.passing === false) return [`${name} (not passing${untilText(gate)})`];
    const allowed = allowedBy(gate);
    return !allowed || candidates.some(({ tag }) => allowed.has(tag)) ? [] : [`${name} (not on its list)`];
  });
  return few(names, NAMED_ROLLOUT_GATES);
}

/** Labels are short: their values are shown unchanged. */
function ofSchedule({ metadata: { labels } }: RolloutGate): string {
  const [kind, name] = [labels?.[SCHEDULE_KIND_LABEL], labels?.[SCHEDULE_NAME_LABEL]];
  return kind && name ? ` of ${kind} '${name}'` : '';
}

/** Any user may write the annotation: only a time is shown. */
function untilText({ metadata: { annotations } }: RolloutGate): string {
  const until = parseTime(annotations?.[GATE_UNTIL]);
  return until === undefined ? '' : ` until ${formatTime(until)}`;
}

/** Whether the gates together let no candidate through. */
export function allowsNothing({ passing, gated }: RolloutGatesResult): boolean {
  return !passing || gated.length === 0;
}

/** Whether the gate lets the version through, apart from its approvals: these are in versionApprovals.ts. */
export function allows(gate: RolloutGate, version: string): boolean {
  return gate.spec?.passing !== false && (gate.spec?.allowedVersions?.includes(version) ?? true);
}

/** Name of the first gate that rejects the tag, which is never deployed while it is listed, not even manually. */
export function rejectedBy(gates: readonly RolloutGate[], tag: string): string | undefined {
  return gates.find((gate) => gate.spec?.rejectedVersions?.includes(tag))?.metadata.name;
}

/** In the order of discovery, with the time of the first rejection by the same gate. */
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

/** undefined: its list excludes nothing. */
function allowedBy({ spec }: RolloutGate): ReadonlySet<string> | undefined {
  return spec?.passing === false || !spec?.allowedVersions ? undefined : new Set(spec.allowedVersions);
}

/**
 * `allowedVersions` is left out for a gate that is not passing: clients read an entry with a list as "blocks by list".
 */
function summary(gate: RolloutGate, candidates: readonly VersionInfo[], approvals?: RolloutGateApprovals): GateSummary {
  const { metadata, spec } = gate;
  const name = metadata.name ?? '';
  const passing = spec?.passing ?? true;
  if (!passing) return { name, passing, message: 'Gate is not passing' };
  if (approvals) return approvalSummary(approvals, candidates);
  const allowed = spec?.allowedVersions;
  if (!allowed) return { name, passing, message: 'Gate is passing' };
  const tags = new Set(allowed);
  const some = candidates.some(({ tag }) => tags.has(tag));
  const message = some ? 'Gate is passing' : 'Gate does not allow any release candidate';
  return { name, passing, allowedVersions: shortList(allowed, candidates), message };
}

/** How many versions a summary lists: the status has to stay small. */
const LISTED = LIMITS.listedVersions;

/** The list as stored. Of a long one: first the candidates on it, newest first, then its latest entries. */
function shortList(allowed: readonly string[], candidates: readonly VersionInfo[]): string[] {
  if (allowed.length <= LISTED) return [...allowed];
  const tags = new Set(allowed);
  const next = candidates.flatMap(({ tag }) => (tags.has(tag) ? [tag] : []));
  return [...new Set([...next, ...allowed.toReversed()])].slice(0, LISTED);
}

/** To clients that know lists only: the candidates that are on its list and approved. */
function approvalSummary(
  { gate, verdictOn, isEnough }: RolloutGateApprovals,
  candidates: readonly VersionInfo[],
): GateSummary {
  const listed = allowedBy(gate);
  const allowed = candidates.filter(({ tag }) => isEnough(tag) && (listed?.has(tag) ?? true));
  const newest = candidates[0]?.tag;
  return {
    name: gate.metadata.name ?? '',
    passing: true,
    allowedVersions: allowed.slice(0, LISTED).map(({ tag }) => tag),
    message: newest === undefined ? 'Gate is passing' : approvalsText(newest, { gate, verdict: verdictOn(newest) }),
  };
}

function upstreamSummary({ name, allowed, waits }: UpstreamVerdict, candidates: readonly VersionInfo[]): GateSummary {
  const [newest] = candidates;
  if (!newest) return { ...UPSTREAM, name, passing: true, message: waits ?? 'Gate is passing' };
  const message = waits === undefined ? 'Gate is passing' : `${newest.tag} waits for ${waits}`;
  return { ...UPSTREAM, name, passing: true, allowedVersions: allowed.slice(0, LISTED), message };
}

const UPSTREAM = { kind: KINDS.Rollout.kind };

function bypassed(
  gates: readonly RolloutGate[],
  candidates: readonly VersionInfo[],
  tag: string,
  upstream: readonly UpstreamVerdict[],
): RolloutGatesResult {
  const shown = { message: `Gate bypassed for version ${tag}`, bypassGates: true };
  const summaries = gates.map(({ metadata, spec }) => ({
    name: metadata.name ?? '',
    passing: spec?.passing ?? true,
    ...(spec?.allowedVersions && { allowedVersions: shortList(spec.allowedVersions, candidates) }),
    ...shown,
  }));
  const ofUpstream = upstream.map(({ name, allowed }) => ({
    ...UPSTREAM,
    name,
    passing: true,
    ...(candidates.length > 0 && { allowedVersions: allowed.slice(0, LISTED) }),
    ...shown,
  }));
  const gated = candidates.filter((candidate) => candidate.tag === tag);
  return {
    summaries: [...summaries, ...ofUpstream],
    gated,
    promoted: gated,
    passing: true,
    condition: trueCondition(GATES_PASSING, 'GatesBypassed', `Gates bypassed for version ${tag}`),
  };
}

const ALL_PASSING = trueCondition(GATES_PASSING, 'AllGatesPassing', 'All gates are passing');
const SOME_BLOCKING = falseCondition(GATES_PASSING, 'SomeGatesBlocking', 'Some gates are blocking deployment');
const NONE_ALLOWED = falseCondition(
  GATES_PASSING,
  'NoAllowedVersions',
  'No release candidates are allowed by all gates',
);

/**
 * The condition Ready: for kstatus, a RolloutGate that is not passing is not ready. It doesn't say which versions pass.
 */
export function rolloutGateReady({ metadata, spec }: RolloutGate): NewCondition {
  const isPassing = spec?.passing !== false;
  const { generation } = metadata;
  const passes = spec?.allowedVersions ? 'Passing: the versions of spec.allowedVersions' : 'Passing';
  return {
    type: READY,
    status: isPassing ? 'True' : 'False',
    reason: isPassing ? 'Passing' : 'NotPassing',
    message: isPassing ? passes : 'spec.passing is false: no version passes',
    ...(generation !== undefined && { observedGeneration: generation }),
  };
}
