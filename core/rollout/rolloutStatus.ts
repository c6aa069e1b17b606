/**
 * The status of a Rollout as it is stored: what a decision leads to, bounded, without anything that the CRD would
 * refuse.
 */
import type { Blocker, HistoryEntry, RolloutStatus } from '../../api/types.ts';
import { LIMITS } from '../limits.ts';
import { oneLine } from '../text/oneLine.ts';
import { boundTo, unapplied } from './deployment/progress.ts';
import type { Evaluation, RolloutState } from './evaluation/evaluation.ts';
import type { Observed } from './evaluation/inputs.ts';
import { handledRequests, type RequestKey, type Requests } from './evaluation/rolloutRequests.ts';
import { boundedReleases } from './release/retention.ts';
import type { LeftOut } from './statusSize.ts';

/** Characters, as in the CRD. */
const MAX_VERSION = 128;
const MAX_NAME = 253;
const MAX_NAMESPACE = 63;
const MAX_USER = 128;

/** Candidates that may come next are not forgotten, however old. */
const NEXT = 20;

/** All of it but `gates` and the metadata of the latest image. `requests`: those that are not used up. */
export function nextStatus(
  observed: Observed,
  state: RolloutState,
  { candidates, rolloutGatesResult, rejected, withdrawn, young, pending, copy }: Evaluation,
  { forceDeploy, bypassGates }: Requests,
  used: ReadonlySet<RequestKey>,
): RolloutStatus {
  const { rollout } = observed;
  const history = [...state.history];
  const waiting = pending ?? young[0]?.tag;
  const requested = [waiting, rollout.spec?.wantedVersion, forceDeploy, bypassGates].filter((tag) => tag !== undefined);
  const next = [...rolloutGatesResult.gated.slice(0, NEXT), ...candidates.slice(0, NEXT)];
  const deployed = history.map(({ version }) => version.tag);
  const matters = [...requested, ...deployed, ...next.map(({ tag }) => tag)];
  const available = boundedReleases(state.available, matters);
  const kept = new Set(available.map(({ tag }) => tag));
  const known = new Set([...kept, ...deployed]);
  const isKept = ({ tag }: { tag: string }) => kept.has(tag);
  const rolledBack = state.rolledBack.filter((tag) => known.has(tag));
  const barriers = state.barriers.filter((tag) => known.has(tag));
  const authors = state.authors.filter(({ tag }) => known.has(tag));
  const handledRequest = handledRequests(rollout, used);
  const copied = copy?.stored ?? rollout.status?.copy;
  return {
    ...(handledRequest && { handledRequest }),
    conditions: [...state.conditions],
    ...versions(observed, history),
    ...(waiting !== undefined && { pendingVersion: waiting }),
    ...(history.length > 0 && { history }),
    availableReleases: [...available],
    availableReleasesCount: available.length,
    releaseCandidates: candidates.filter(isKept),
    gatedReleaseCandidates: rolloutGatesResult.gated.filter(isKept),
    ...(rejected.some(isKept) && { rejectedReleases: rejected.filter(isKept) }),
    ...(withdrawn.length > 0 && { withdrawnReleases: withdrawn }),
    ...(young.length > 0 && { youngReleases: young }),
    ...(rolledBack.length > 0 && { rolledBackReleases: rolledBack }),
    ...(barriers.length > 0 && { rollbackBarriers: barriers }),
    ...(authors.length > 0 && { releaseAuthors: authors }),
    ...(copied && { copy: copied }),
  };
}

/** Which version runs, and which one is committed and not applied everywhere yet. */
function versions(
  { rollout, bindings, likeKuberik }: Observed,
  [head, ...older]: readonly HistoryEntry[],
): Pick<RolloutStatus, 'currentVersion' | 'rollingOutVersion'> {
  if (!head) return {};
  const { tag } = head.version;
  if (hasRun(head) || unapplied(head, boundTo(rollout, bindings), rollout).length === 0) return { currentVersion: tag };
  const current = likeKuberik ? tag : older.find(hasRun)?.version.tag;
  return { ...(current !== undefined && { currentVersion: current }), rollingOutVersion: tag };
}

/**
 * Whether a deployment has run.
 * One that Succeeded without proof ran before the Rollout existed, or had nothing to prove.
 * An entry without a bake is of an older version of this software.
 */
function hasRun({ appliedTime, bakeStatus }: HistoryEntry): boolean {
  return appliedTime !== undefined || bakeStatus === undefined || bakeStatus === 'Succeeded';
}

/** `status.blockers`: the first ones, without anything that the CRD would refuse. */
export function blockerList(all: readonly Blocker[]): { blockers: Blocker[]; leftOut: LeftOut } {
  const blockers = all.slice(0, LIMITS.listedBlockers).map(storedBlocker);
  const leftOut =
    all.length > blockers.length ? [`status.blockers has ${blockers.length} of ${all.length} entries`] : [];
  return { blockers, leftOut };
}

function storedBlocker({ version, object, by, ...rest }: Blocker): Blocker {
  return {
    ...rest,
    ...(version !== undefined && { version: version.slice(0, MAX_VERSION) }),
    ...(object && {
      object: {
        kind: object.kind,
        ...(object.namespace && { namespace: object.namespace.slice(0, MAX_NAMESPACE) }),
        name: object.name.slice(0, MAX_NAME),
      },
    }),
    ...(by && { by: oneLine(by.slice(0, MAX_USER)) }),
  };
}
