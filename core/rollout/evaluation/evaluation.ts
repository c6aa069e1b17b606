/**
 * The version that could come next, and everything that blocks it.
 * A plan computes it for the state before its decision and, if it deploys, again for the state after it.
 */
import type { EpochMs } from '../../../api/kubernetes.ts';
import type { Blocker, HistoryEntry, VersionInfo } from '../../../api/types.ts';
import { grantedOnly, MAX_OFFERED_VERSIONS } from '../../budget/slotRequest.ts';
import { deployCutoff } from '../../health/knownHealth.ts';
import { parseTime } from '../../kube/time.ts';
import { imageOfReleases } from '../../policy/imagePolicy.ts';
import { checksNotBrokenBy, isUnhealthy } from '../deployment/healthChecks.ts';
import { blocksAfterFailure, rollbackOf } from '../deployment/rollback.ts';
import { releasesAfter, type Withdrawal, youngUntil } from '../release/candidates.ts';
import { evaluateUpstream } from '../upstream/upstreamVerdict.ts';
import { type BlockerSources, findBlockers, isBlockedBy } from './blockers.ts';
import { type CopyState, copyBlockers, copyState } from './copy.ts';
import { evaluateGatesOfVersion } from './gatesOfRollout.ts';
import { automaticVersions, chooseNext, type NextChoice } from './nextVersion.ts';
import type { Observed, RolloutConfig, RolloutContext } from './observed.ts';
import { type ReportedWait, reportedWaits } from './reportedWaits.ts';
import { evaluateRolloutGates, type Rejection, rejectedBy, rejections, shownBypass } from './rolloutGates.ts';
import { expiries, type RolloutGateApprovals, rolloutGateApprovals } from './versionApprovals.ts';

/** The versions that could come next on a Rollout, and what blocks each. */
export interface Evaluation extends BlockerSources {
  rejected: Rejection[];
  withdrawn: Withdrawal[];
  /** The versions that automation may deploy unless something blocks them, newest first. */
  automatic: readonly VersionInfo[];
  /** All blockers except budgets: a slot is requested only when nothing else blocks. */
  blockers: Blocker[];
  /** The waits in DeploymentBlocked. */
  reportedWaits: ReportedWait[];
  /** The copy of the release that spec.targetRepository is to have. */
  copy?: CopyState;
  /**
   * The times at which the result changes without a write. A Gate opens or closes, an approval expires, a release is
   * old enough, or an upstream Rollout has had a version for long enough.
   */
  requeueAt: EpochMs[];
}

/** The interval while missing metadata delays a rollback: a lookup that has failed is tried again by a later sync. */
const AWAITED_REQUEUE_MS = 10_000;

/** The evaluation of the context's state, with live or cached reads. */
export function evaluateRollout(context: RolloutContext): Evaluation {
  const { observed, state, config, now } = context;
  const [head] = state.history;
  const { gateApprovals, rejected, withdrawn, automatic, ...versions } = possibleVersions(context);
  const choice = chooseNext(context, { ...versions, automatic });
  const { trigger, version } = choice;
  const gates = evaluateGatesOfVersion(context, version);
  const needsNoApprovals = trigger === 'Rollback' || (trigger === 'InitialVersion' && !config.gateFirstDeployment);
  const requiredApprovals = needsNoApprovals ? [] : gateApprovals;
  const sources: BlockerSources = {
    ...versions,
    choice,
    pendingVersion: version ?? versions.young[0]?.tag,
    unhealthyChecks: checksForNext(observed, head, config).filter(isUnhealthy),
    gates,
    requiredApprovals,
  };
  const found = findBlockers(sources, context);
  const copy = copyState(observed, state, deployableNow({ choice, blockers: found }));
  const blockers = [...found, ...copyBlockers(copy)];
  return {
    ...sources,
    rejected,
    withdrawn,
    automatic,
    ...(copy && { copy }),
    blockers,
    reportedWaits: reportedWaits(context, { ...sources, blockers, copy }),
    requeueAt: [...gates.requeueAt, ...requeueTimes(sources, gateApprovals, now)],
  };
}

/** The versions that could come next, and what RolloutGates and upstream Rollouts let through. */
function possibleVersions({ observed, state, config, requests, now }: RolloutContext) {
  const { rollout, imagePolicy, rolloutGates } = observed;
  const { history, available, rolledBack, barriers, authors } = state;
  const [head] = history;
  const rejected = rejections(available, rolloutGates, rollout.status?.rejectedReleases, now);
  const { candidates, withdrawn, young, isNewer } = releasesAfter(available, head?.version.tag, imagePolicy, {
    rejected: new Set(rejected.map(({ tag }) => tag)),
    rolledBack: new Set(rolledBack),
    youngUntil: (release) => youngUntil(release, config.minimumReleaseAge, now),
  });
  const upstreamVerdicts = evaluateUpstream(rollout, observed.upstream, candidates, now);
  const gateApprovals = rolloutGateApprovals(rollout, rolloutGates, authors, now);
  const requestedBypass = candidates.find(({ tag }) => tag === requests.bypassGates)?.tag;
  const bypass = requestedBypass ?? shownBypass(head, candidates);
  const rolloutGatesResult = evaluateRolloutGates(rolloutGates, candidates, bypass, upstreamVerdicts, gateApprovals);
  const rollback = rollbackOf({
    history,
    config,
    image: imageOfReleases(rollout, imagePolicy),
    available,
    barriers,
    isNewer,
    awaitedMetadata: observed.awaitedMetadata,
    rejectedBy: (tag) => rejectedBy(rolloutGates, tag),
    now,
  });
  const byGates = automaticVersions(rolloutGatesResult, head, config.gateFirstDeployment);
  const automatic = grantedOnly(byGates, rollout, observed.budgets);
  return {
    gateApprovals,
    rejected,
    withdrawn,
    candidates,
    young,
    upstreamVerdicts,
    rolloutGatesResult,
    automatic,
    rollback,
  };
}

/** The version to deploy now, unless a budget blocks it; undefined if there is none, or if something blocks it. */
export function deployableNow({ choice, blockers }: Pick<Evaluation, 'choice' | 'blockers'>): NextChoice | undefined {
  return choice.is === 'next' && !isBlockedBy(blockers, choice.version) ? choice : undefined;
}

/** The times at which the result changes without a write, except by a Gate. */
function requeueTimes(
  { candidates, choice: { version }, young, upstreamVerdicts, rollback }: BlockerSources,
  gateApprovals: readonly RolloutGateApprovals[],
  now: EpochMs,
): EpochMs[] {
  const until = rollback?.is === 'refused' ? rollback.until : undefined;
  const versions = new Set([...(version === undefined ? [] : [version]), ...candidates.map(({ tag }) => tag)]);
  return [
    ...(until === undefined ? [] : [Math.min(until, now + AWAITED_REQUEUE_MS)]),
    ...expiries(gateApprovals, versions, now),
    ...young.flatMap(({ deployableAt: at }) => parseTime(at) ?? []),
    ...upstreamVerdicts.flatMap(({ requeueAt }) => requeueAt ?? []),
  ];
}

/**
 * The versions that automation could deploy now, newest first, for budgets to choose from: RolloutGates, upstream
 * Rollouts and Gates let each through.
 */
export function offeredVersions(context: RolloutContext, { automatic, copy }: Evaluation): VersionInfo[] {
  const all = automatic.slice(0, MAX_OFFERED_VERSIONS);
  // A budget must not choose a version without a copy: only the newest has been copied.
  if (copy?.isAwaited) return all.slice(0, 1);
  return all.filter(({ tag }) => evaluateGatesOfVersion(context, tag).closed.length === 0);
}

/**
 * The HealthChecks that may block the next version.
 * If automation continues after a failure, health that the failed version has broken does not block its successor.
 */
function checksForNext({ healthChecks }: Observed, head: HistoryEntry | undefined, config: RolloutConfig) {
  return head?.bakeStatus === 'Failed' && !blocksAfterFailure(head, config)
    ? checksNotBrokenBy(head, healthChecks, deployCutoff(head))
    : healthChecks;
}
