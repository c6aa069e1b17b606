/** The versions that could come next on a Rollout, and the one that does. */
import type { EpochMs } from '../../../api/kubernetes.ts';
import type { HealthCheck, VersionInfo } from '../../../api/types.ts';
import { grantedOnly } from '../../budget/slotRequest.ts';
import { isLegalTag } from '../../kube/tag.ts';
import { parseTime } from '../../kube/time.ts';
import { checksNotBrokenBy, isUnhealthy } from '../deployment/healthChecks.ts';
import { type NextReleases, releasesAfter } from '../release/candidates.ts';
import { evaluateUpstream, type UpstreamVerdict } from '../upstream/upstreamVerdict.ts';
import { evaluateGatesOfVersion, type VersionGates } from './gatesOfRollout.ts';
import type { RolloutContext } from './observed.ts';
import { blocksAfterFailure, type Rollback, type RollbackTarget, rollbackOf } from './rollback.ts';
import {
  evaluateRolloutGates,
  type Rejection,
  type RolloutGatesResult,
  rejectedBy,
  rejections,
} from './rolloutGates.ts';
import { expiries, type RolloutGateApprovals, rolloutGateApprovals } from './versionApprovals.ts';

/** The version that comes next, and how it was chosen. */
type Choice =
  | NextChoice
  /** A version that waits for RolloutGates, upstream Rollouts, a budget, or the decision about a rollback. */
  | { trigger: 'Automatic'; is: 'waiting'; version: string }
  /** The requested version can't be deployed. `rejectedBy`: the RolloutGate that rejects it. */
  | { trigger: 'Manual' | 'InitialVersion'; is: 'impossible'; version: string; problem: string; rejectedBy?: string }
  /** There is no version, or the requested one is deployed already. */
  | { trigger: 'Automatic' | 'Manual'; is: 'nothing'; version?: undefined };

/** A version that is deployed once nothing blocks it. InitialVersion: it ran before the Rollout existed. */
export type NextChoice = { is: 'next'; version: string } & (
  | { trigger: 'Automatic' | 'Manual' | 'InitialVersion' }
  | { trigger: 'Rollback'; rollback: RollbackTarget }
);

/**
 * Whether automation selects a newer version. Only then can upstream Rollouts, health, a running bake or a missing
 * ImagePolicy block the version. A user's choice ignores them, and a rollback goes to a version that has passed them.
 * RolloutGates block `initialVersion` too, if they block first deployments.
 */
export function isAutomatic({ trigger }: Choice): boolean {
  return trigger === 'Automatic';
}

/** The versions that could come next, newest first, and the results that let them through. */
interface Versions extends Omit<NextReleases, 'isNewer'> {
  rejected: Rejection[];
  /** The verdicts of the upstream Rollouts, `spec.after`. */
  upstreamVerdicts: UpstreamVerdict[];
  /** The approvals at each RolloutGate that requires some. */
  approvals: RolloutGateApprovals[];
  rolloutGatesResult: RolloutGatesResult;
  /** The versions that automation may deploy unless something blocks them. */
  deployable: readonly VersionInfo[];
  rollback: Rollback | undefined;
}

/** The version that comes next, and what may block it. */
export interface NextVersion extends Versions {
  choice: Choice;
  /** The chosen version; of automation also the newest release that isn't old enough yet: `status.pendingVersion`. */
  pendingVersion: string | undefined;
  /** The Unhealthy HealthChecks that block automatic deployments. */
  unhealthyChecks: HealthCheck[];
  /** The Gates of the chosen version. */
  versionGates: VersionGates;
  /**
   * The RolloutGates whose approvals the chosen version needs.
   * A rollback needs none, nor does initialVersion without gateFirstDeployment.
   */
  requiredApprovals: readonly RolloutGateApprovals[];
  /**
   * The times at which the evaluation changes without a write. A Gate opens or closes, an approval expires, a release
   * is old enough, or an upstream Rollout has had a version for long enough.
   */
  requeueAt: EpochMs[];
}

export function nextVersion(context: RolloutContext): NextVersion {
  const { config, now } = context;
  const versions = possibleVersions(context);
  const choice = chooseNext(context, versions);
  const { trigger, version } = choice;
  const versionGates = evaluateGatesOfVersion(context, version);
  const needsNoApprovals = trigger === 'Rollback' || (trigger === 'InitialVersion' && !config.gateFirstDeployment);
  return {
    ...versions,
    choice,
    pendingVersion: isAutomatic(choice) ? (version ?? versions.young[0]?.tag) : version,
    unhealthyChecks: checksForNext(context).filter(isUnhealthy),
    versionGates,
    requiredApprovals: needsNoApprovals ? [] : versions.approvals,
    requeueAt: [...versionGates.requeueAt, ...requeueTimes(versions, version, now)],
  };
}

function possibleVersions(context: RolloutContext): Versions {
  const { observed, state, config, requests, now } = context;
  const { rollout, imagePolicy, rolloutGates } = observed;
  const { available, rolledBack, authors } = state;
  const [head] = state.history;
  const rejected = rejections(available, rolloutGates, rollout.status?.rejectedReleases, now);
  const { isNewer, ...releases } = releasesAfter(available, head?.version.tag, imagePolicy, {
    rejected: new Set(rejected.map(({ tag }) => tag)),
    rolledBack: new Set(rolledBack),
    minimumAge: config.minimumReleaseAge,
    now,
  });
  const { candidates } = releases;
  const upstreamVerdicts = evaluateUpstream(rollout, observed.upstream, candidates, now);
  const approvals = rolloutGateApprovals(rollout, rolloutGates, authors, now);
  const { bypassGates } = requests;
  const rolloutGatesResult = evaluateRolloutGates(rolloutGates, candidates, bypassGates, upstreamVerdicts, approvals);
  const rollback = rollbackOf(context, isNewer);
  const deployable = grantedOnly(deployableVersions(rolloutGatesResult, context), rollout, observed.budgets);
  return { ...releases, rejected, upstreamVerdicts, approvals, rolloutGatesResult, deployable, rollback };
}

/**
 * The versions that lists, upstream Rollouts and approvals allow, newest first; a RolloutGate that is not passing is a
 * blocker instead. Without gateFirstDeployment, a first deployment ignores the lists, unless they all allow a
 * candidate: then they choose it.
 */
function deployableVersions(
  { promotable, allowedByLists }: RolloutGatesResult,
  { state, config }: RolloutContext,
): VersionInfo[] {
  const isUngated = state.history.length === 0 && !config.gateFirstDeployment && allowedByLists.length === 0;
  return isUngated ? promotable : allowedByLists;
}

/**
 * The next version. A history begins with initialVersion; later, in this order: wantedVersion, force-deploy, a
 * rollback, the newest candidate that the RolloutGates allow.
 */
function chooseNext(context: RolloutContext, { candidates, deployable, rollback }: Versions): Choice {
  const { observed, state, requests } = context;
  const { spec } = observed.rollout;
  const { forceDeploy } = requests;
  if (!state.history[0] && spec?.initialVersion) return choiceOf('InitialVersion', spec.initialVersion, context);
  if (spec?.wantedVersion) return choiceOf('Manual', spec.wantedVersion, context);
  if (forceDeploy) {
    const isKnown = state.available.some(({ tag }) => tag === forceDeploy);
    if (isKnown) return choiceOf('Manual', forceDeploy, context);
    // The text of the Go original.
    const problem = `force deploy version ${forceDeploy} is not in available releases`;
    return { trigger: 'Manual', is: 'impossible', version: forceDeploy, problem };
  }
  if (rollback?.is === 'possible') return { trigger: 'Rollback', is: 'next', version: rollback.to.tag, rollback };
  const next = rollback?.is === 'undecided' ? undefined : deployable[0];
  if (next) return { trigger: 'Automatic', is: 'next', version: next.tag };
  const [newest] = candidates;
  return newest
    ? { trigger: 'Automatic', is: 'waiting', version: newest.tag }
    : { trigger: 'Automatic', is: 'nothing' };
}

function choiceOf(
  trigger: 'Manual' | 'InitialVersion',
  version: string,
  { observed: { rolloutGates }, state: { history } }: RolloutContext,
): Choice {
  if (!isLegalTag(version)) {
    const problem = `version ${JSON.stringify(version)} is not a valid image tag, so it is not deployed: correct it`;
    return { trigger, is: 'impossible', version, problem };
  }
  if (version === history[0]?.version.tag) return { trigger: 'Manual', is: 'nothing' };
  const gate = rejectedBy(rolloutGates, version);
  if (gate === undefined) return { trigger, is: 'next', version };
  const problem = `RolloutGate '${gate}' rejects version ${version}: to deploy it, remove it from spec.rejectedVersions`;
  return { trigger, is: 'impossible', version, problem, rejectedBy: gate };
}

/**
 * The HealthChecks that may block the next version.
 * If automation continues after a failure, health that the failed version has broken does not block its successor.
 */
function checksForNext({ observed: { healthChecks }, state: { history }, config }: RolloutContext) {
  const [head] = history;
  return head?.bakeStatus === 'Failed' && !blocksAfterFailure(head, config)
    ? checksNotBrokenBy(head, healthChecks)
    : healthChecks;
}

/** The interval while missing metadata delays a rollback: a lookup that has failed is tried again by a later sync. */
const AWAITED_REQUEUE_MS = 10_000;

/** The times at which the versions change without a write. */
function requeueTimes(
  { candidates, young, upstreamVerdicts, approvals, rollback }: Versions,
  version: string | undefined,
  now: EpochMs,
): EpochMs[] {
  const tags = new Set([...(version === undefined ? [] : [version]), ...candidates.map(({ tag }) => tag)]);
  return [
    ...(rollback?.is === 'undecided' ? [Math.min(rollback.until, now + AWAITED_REQUEUE_MS)] : []),
    ...expiries(approvals, tags, now),
    ...young.flatMap(({ deployableAt: at }) => parseTime(at) ?? []),
    ...upstreamVerdicts.flatMap(({ requeueAt }) => requeueAt ?? []),
  ];
}
