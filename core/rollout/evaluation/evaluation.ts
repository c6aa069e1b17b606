/**
 * What could come next and everything that blocks it.
 * Computed once for each state that a decision starts from or ends in.
 */
import { LISTED } from '../../../api/annotations.ts';
import type { Condition, EpochMs } from '../../../api/kubernetes.ts';
import type { Blocker, HistoryEntry, RolloutGate, RolloutStatus, VersionInfo } from '../../../api/types.ts';
import { grantedSlot, isGranted, OFFERED } from '../../budget/turn.ts';
import type { GateResult } from '../../gate/evaluateGates.ts';
import { deployCutoff } from '../../health/known.ts';
import { parseTime } from '../../kube/time.ts';
import { listedOn, parseListed } from '../../record/listRecord.ts';
import { isUnhealthy, obstructing, sortedChecks } from '../deployment/healthChecks.ts';
import { holdsAfterFailure, rollbackOf } from '../deployment/rollback.ts';
import { evaluateUpstream } from '../upstream/upstreamVerdict.ts';
import { type BlockerSources, blockersInOrder, copyBlockers, isHeldBy, problemBlockers } from './blockers.ts';
import { type CopyState, copyState } from './copy.ts';
import type { Observed, RolloutConfig } from './inputs.ts';
import { choices, releasesAfter, type Selection, select, type Withdrawal, youngUntil } from './nextVersion.ts';
import { evaluateRequiredGates, type StoredApproval, storedApproval } from './requiredGates.ts';
import {
  evaluateRolloutGates,
  type Rejection,
  rejectedBy,
  rejections,
  rolloutGatesOf,
  shownBypass,
} from './rolloutGates.ts';
import type { Requests } from './rolloutRequests.ts';
import {
  expiries,
  type ReleaseAuthors,
  type RequiredApprovals,
  rolloutGateApprovals,
  verdictsOn,
} from './versionApprovals.ts';

/** The part of a Rollout's status that decisions start from, and change. */
export interface RolloutState {
  history: readonly HistoryEntry[];
  available: readonly VersionInfo[];
  /** Releases that were rolled back and not deployed since. */
  rolledBack: readonly string[];
  /** Releases that must not be rolled back. */
  barriers: readonly string[];
  /** The authors of releases whose approvals exclude authors. */
  authors: readonly ReleaseAuthors[];
  conditions: readonly Condition[];
}

export function storedState(status: RolloutStatus = {}): RolloutState {
  return {
    history: status.history ?? [],
    available: status.availableReleases ?? [],
    rolledBack: status.rolledBackReleases ?? [],
    barriers: status.rollbackBarriers ?? [],
    authors: status.releaseAuthors ?? [],
    conditions: status.conditions ?? [],
  };
}

export interface Evaluation extends BlockerSources {
  rejected: Rejection[];
  withdrawn: Withdrawal[];
  /** Closed Gates that `pending` bypasses. */
  bypassed: GateResult[];
  /** The requests that opened its Gates, and the approvals that Gates and RolloutGates require. */
  approvals: StoredApproval[];
  /** All blockers except budgets: a slot is requested only when nothing else blocks. */
  blockers: Blocker[];
  /** The copy of the release that spec.targetRepository is to have. */
  copy?: CopyState;
  /**
   * When one of its Gates changes by itself, a release is old enough, or an upstream Rollout has had a version for long
   * enough.
   */
  requeueAt: EpochMs[];
}

/** A lookup that has failed is tried again by a later sync. */
const AWAITED_REQUEUE_MS = 10_000;

/** `requests`: those that are not used up. */
export function evaluate(
  observed: Observed,
  state: RolloutState,
  config: RolloutConfig,
  requests: Requests,
  now: EpochMs,
): Evaluation {
  const { rollout, imagePolicy } = observed;
  const { history, available } = state;
  const [head] = history;
  const deployed = head?.version.tag;
  const wantedVersion = rollout.spec?.wantedVersion;
  const ownRolloutGates = rolloutGatesOf(rollout, observed.rolloutGates);
  const rejects = (tag: string) => rejectedBy(ownRolloutGates, tag);

  const rejected = rejections(available, ownRolloutGates, rollout.status?.rejectedReleases, now);
  const { candidates, withdrawn, young } = releasesAfter(available, deployed, imagePolicy, {
    rejected: new Set(rejected.map(({ tag }) => tag)),
    rolledBack: new Set(state.rolledBack),
    youngUntil: (release) => youngUntil(release, config.minimumReleaseAge, now),
  });
  const bypass = candidates.find(({ tag }) => tag === requests.bypassGates)?.tag;
  const upstream = evaluateUpstream(rollout, observed.upstream, candidates, now);
  const shown = bypass ?? shownBypass(head, candidates, state.conditions);
  const approvals = rolloutGateApprovals(rollout, ownRolloutGates, state.authors, now);
  const rolloutGatesResult = evaluateRolloutGates(ownRolloutGates, candidates, shown, upstream, approvals);
  const rollback = rollbackOf({
    history,
    config,
    barriers: state.barriers,
    awaited: observed.awaited ?? [],
    rejectedBy: rejects,
    now,
  });
  const { forceDeploy } = requests;
  const selection = select({
    initialVersion: rollout.spec?.initialVersion,
    wantedVersion,
    forceDeploy,
    available,
    rolloutGatesResult,
    head,
    rollback,
    gateFirst: config.gateFirstDeployment,
    isGranted: grantedOnly(observed),
    rejectedBy: rejects,
  });
  const requested = selection.initial ? rollout.spec?.initialVersion : wantedVersion || forceDeploy;
  const pending = pendingVersion(selection, candidates, requested);
  const required = evaluateRequiredGates(observed, pending, head, state.authors, now);
  const unhealthy = checksInTheWay(observed, head, config).filter(isUnhealthy);
  const needsNoApprovals = selection.rollback || (selection.initial && !config.gateFirstDeployment);
  const requiredApprovals = pending === undefined || needsNoApprovals ? [] : verdictsOn(approvals, pending);
  const sources: BlockerSources = {
    candidates,
    rolloutGatesResult,
    upstream,
    selection,
    ...(pending !== undefined && { pending }),
    ...(rollback && { rollback }),
    unhealthy,
    closed: required.closed,
    requiredApprovals,
    young,
  };
  const inputs = { ...sources, observed, config, requests, head, ownRolloutGates };
  const first = [...problemBlockers(inputs), ...blockersInOrder(inputs)];
  const mayGo = selection.next !== undefined && !isHeldBy(first, selection.next);
  const copy = copyState(observed, state, selection, mayGo);
  return {
    ...sources,
    rejected,
    withdrawn,
    ...(copy && { copy }),
    blockers: [...first, ...copyBlockers(copy)],
    bypassed: required.bypassed,
    approvals: [
      ...required.approvals,
      ...requiredApprovals.flatMap(givenOn),
      ...listings(ownRolloutGates, pending),
    ].slice(0, MAX_APPROVALS),
    requeueAt: [
      ...(rollback?.stays && rollback.until !== undefined ? [Math.min(rollback.until, now + AWAITED_REQUEUE_MS)] : []),
      ...required.requeueAt,
      ...expiries(
        approvals,
        new Set([...(pending === undefined ? [] : [pending]), ...candidates.map(({ tag }) => tag)]),
        now,
      ),
      ...young.flatMap(({ deployableAt: at }) => parseTime(at) ?? []),
      ...upstream.flatMap(({ requeueAt }) => requeueAt ?? []),
    ],
  };
}

/** Whether `selection.next` may be deployed now: nothing blocks it. */
export function mayDeploy({ selection: { next }, blockers }: Evaluation): boolean {
  return next !== undefined && !isHeldBy(blockers, next);
}

/**
 * What automation could deploy now, for budgets to choose from, newest first: RolloutGates, upstream Rollouts and Gates
 * let each through.
 */
export function offeredVersions(
  observed: Observed,
  { history: [head], authors }: RolloutState,
  { gateFirstDeployment }: RolloutConfig,
  { rolloutGatesResult, copy }: Evaluation,
  now: EpochMs,
): VersionInfo[] {
  const gateFirst = gateFirstDeployment;
  const all = choices({ head, gateFirst, rolloutGatesResult, isGranted: grantedOnly(observed) }).slice(0, OFFERED);
  // Only the newest has been copied.
  if (copy?.isAwaited) return all.slice(0, 1);
  return all.filter(({ tag }) => evaluateRequiredGates(observed, tag, head, authors, now).closed.length === 0);
}

function grantedOnly({ rollout, budgets }: Observed): ((release: VersionInfo) => boolean) | undefined {
  const slot = grantedSlot(rollout, budgets);
  return slot && ((release) => isGranted(release, slot));
}

function pendingVersion(
  { manual, initial, next, problem }: Selection,
  candidates: readonly VersionInfo[],
  requested?: string,
) {
  if (next !== undefined) return next;
  if (manual || initial) return problem === undefined ? undefined : requested;
  return candidates[0]?.tag;
}

function listings(gates: readonly RolloutGate[], version: string | undefined): StoredApproval[] {
  return version === undefined ? [] : gates.flatMap((gate) => listedFor(gate, version));
}

/** Requests and approvals that the history keeps. */
const MAX_APPROVALS = 20;

/** If automation continues after a failure, health that the failed version has broken does not hold its successor. */
function checksInTheWay({ healthChecks }: Observed, head: HistoryEntry | undefined, config: RolloutConfig) {
  const checks = sortedChecks(healthChecks);
  return head?.bakeStatus === 'Failed' && !holdsAfterFailure(head, config)
    ? obstructing(checks, head, deployCutoff(head))
    : checks;
}

/** The counted approvals of a RolloutGate, for the history. */
function givenOn({ gate, verdict }: RequiredApprovals): StoredApproval[] {
  return verdict.counted.map((each) => ({
    kind: 'RolloutGate',
    gate: gate.metadata.name ?? '',
    ...storedApproval(each),
  }));
}

/** The user who put the version onto the list of a RolloutGate. */
function listedFor({ metadata, spec }: RolloutGate, version: string): StoredApproval[] {
  if (!spec?.allowedVersions?.includes(version)) return [];
  const listed = listedOn(parseListed(metadata.annotations?.[LISTED]), 'allowedVersions', version);
  return listed ? [{ kind: 'RolloutGate', gate: metadata.name ?? '', ...storedApproval(listed) }] : [];
}
