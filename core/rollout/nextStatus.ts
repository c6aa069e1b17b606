/** The status that a decision leads to. */
import type { HistoryEntry, RolloutStatus } from '../../api/types.ts';
import { boundTo, unapplied } from '../deployment/progress.ts';
import type { Evaluation, RolloutState } from '../evaluation/evaluation.ts';
import type { Observed } from '../evaluation/observed.ts';
import { handledRequests, type RequestKey, type Requests } from '../evaluation/requests.ts';
import { bounded } from '../release/retention.ts';

/** Candidates that may come next are not forgotten, however old. */
const NEXT = 20;

/** All of it but `gates` and the metadata of the latest image. `requests`: those that are not used up. */
export function nextStatus(
  observed: Observed,
  state: RolloutState,
  { candidates, verdict, rejected, withdrawn, young, pending, copy }: Evaluation,
  { forceDeploy, bypassGates }: Requests,
  used: ReadonlySet<RequestKey>,
): RolloutStatus {
  const { rollout } = observed;
  const history = [...state.history];
  const waiting = pending ?? young[0]?.tag;
  const asked = [waiting, rollout.spec?.wantedVersion, forceDeploy, bypassGates].filter((tag) => tag !== undefined);
  const next = [...verdict.gated.slice(0, NEXT), ...candidates.slice(0, NEXT)];
  const deployed = history.map(({ version }) => version.tag);
  const matters = [...asked, ...deployed, ...next.map(({ tag }) => tag)];
  const available = bounded(state.available, matters);
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
    gatedReleaseCandidates: verdict.gated.filter(isKept),
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

/** What has Succeeded ran before there was a Rollout, or had nothing to prove. An entry without a bake is of an older version of this software. */
function hasRun({ appliedTime, bakeStatus }: HistoryEntry): boolean {
  return appliedTime !== undefined || bakeStatus === undefined || bakeStatus === 'Succeeded';
}
