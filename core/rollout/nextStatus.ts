/** The end of a plan: everything that follows from the history decided on, the news of it, and the next look. */
import { HEALTH_CHECKS_LEFT_OUT, READY, ROLLED_BACK } from '../../api/conditions.ts';
import type { RolloutStatus, VersionInfo } from '../../api/types.ts';
import { isBaking } from '../deployment/bake.ts';
import { healthChecksLeftOut } from '../deployment/healthChecks.ts';
import { rollbackCondition } from '../deployment/rollback.ts';
import { findCondition } from '../kube/conditions.ts';
import { bounded } from '../release/retention.ts';
import { deploymentBlocked, isPassing, NO_RELEASES, readyOf, rolloutFailed } from './conditions.ts';
import { foreignMessage, notInstalledMessage, releaseConfigMap } from './configMap.ts';
import { type Draft, openRequests, put, putOrDrop } from './draft.ts';
import { type Situation, situationOf } from './evaluation.ts';
import { eventsOf } from './events.ts';
import { conditionNews, rejectionNews, withdrawalNews } from './news.ts';
import type { Plan } from './observed.ts';
import { handledRequests } from './requests.ts';
import { resyncAfter } from './resync.ts';
import { revised } from './revision.ts';

export function describe(draft: Draft): Plan {
  const { observed, config, now } = draft;
  const { rollout } = observed;
  const situation = situationOf(observed, { ...draft, requests: openRequests(draft) }, config, now);
  put(draft, situation.verdict.condition);
  put(draft, deploymentBlocked(situation));
  putOrDrop(draft, ROLLED_BACK, rollbackCondition(draft.history, situation.rollback, situation.closed));
  settleReady(draft, situation);
  putOrDrop(draft, HEALTH_CHECKS_LEFT_OUT, healthChecksLeftOut(observed.healthLeftOut, rollout));
  draft.news.push(
    ...rejectionNews(situation, rollout.status),
    ...withdrawalNews(situation, rollout.status),
    ...conditionNews(situation, draft.conditions, rollout.status),
  );

  const status = revised(rollout, statusOf(draft, situation));
  const { configMapIsForeign, configMapUnsupported } = observed;
  const configMap = configMapIsForeign || configMapUnsupported ? undefined : releaseConfigMap(rollout);
  const resyncAfterSeconds = resyncAfter([...draft.wakeAt, ...situation.wakeAt], rollout, now);
  return {
    status,
    commits: draft.commits,
    startsBake: draft.startsBake,
    ...(resyncAfterSeconds !== undefined && { resyncAfterSeconds }),
    events: status === rollout.status ? [] : eventsOf(draft.news, rollout, status),
    ...(configMap && { configMap }),
  };
}

function statusOf(draft: Draft, { candidates, verdict, rejected, withdrawn, pending }: Situation): RolloutStatus {
  const { history, fields, used, conditions } = draft;
  const available = bounded(draft.available, tagsThatMatter(draft, candidates, verdict.gated, pending));
  const kept = new Set(available.map(({ tag }) => tag));
  const isKept = ({ tag }: { tag: string }) => kept.has(tag);
  const known = new Set([...available, ...history.map(({ version }) => version)].map(({ tag }) => tag));
  const rolledBack = draft.rolledBack.filter((tag) => known.has(tag));
  const barriers = draft.barriers.filter((tag) => known.has(tag));
  const handledRequest = handledRequests(draft.observed.rollout, used);
  return {
    ...fields,
    ...(handledRequest && { handledRequest }),
    conditions,
    ...(history[0] && { currentVersion: history[0].version.tag }),
    ...(pending !== undefined && { pendingVersion: pending }),
    ...(history.length > 0 && { history }),
    availableReleases: [...available],
    availableReleasesCount: available.length,
    releaseCandidates: candidates.filter(isKept),
    gatedReleaseCandidates: verdict.gated.filter(isKept),
    ...(rejected.some(isKept) && { rejectedReleases: rejected.filter(isKept) }),
    ...(withdrawn.length > 0 && { withdrawnReleases: withdrawn }),
    ...(rolledBack.length > 0 && { rolledBackReleases: rolledBack }),
    ...(barriers.length > 0 && { rollbackBarriers: barriers }),
    gates: verdict.summaries,
  };
}

/** Candidates that may come next are not forgotten, however old. */
const NEXT = 20;

function tagsThatMatter(
  draft: Draft,
  candidates: readonly VersionInfo[],
  gated: readonly VersionInfo[],
  pending: string | undefined,
): string[] {
  const { forceDeploy, bypassGates } = openRequests(draft);
  return [
    ...[pending, draft.observed.rollout.spec?.wantedVersion, forceDeploy, bypassGates].filter(
      (tag) => tag !== undefined,
    ),
    ...draft.history.map(({ version }) => version.tag),
    ...[...gated.slice(0, NEXT), ...candidates.slice(0, NEXT)].map(({ tag }) => tag),
  ];
}

/** A problem outweighs the state of the deployment while it lasts; afterwards that state is restored (quirk Q9). */
function settleReady(draft: Draft, situation: Situation): void {
  const [head] = draft.history;
  const { selection } = situation;
  const { rollout, configMapIsForeign, configMapUnsupported } = draft.observed;
  const problems = [
    ...draft.problems,
    ...(selection.problem ? [selection.problem] : []),
    ...unknownBypass(draft),
    ...(configMapIsForeign ? [foreignMessage(rollout)] : []),
    ...(configMapUnsupported ? [notInstalledMessage(rollout)] : []),
  ];
  const idle = !isBaking(head) && head?.bakeStatus !== 'Failed';
  if (problems.length > 0) put(draft, rolloutFailed(problems));
  else if (draft.available.length === 0 && idle && !selection.manual) put(draft, NO_RELEASES);
  else if (isPassing(findCondition(draft.conditions, READY))) put(draft, readyOf(head, deploymentBlocked(situation)));
}

/** It stays, for the version may come: the next deployment uses it up, whichever it is. */
function unknownBypass(draft: Draft): string[] {
  const { bypassGates } = openRequests(draft);
  if (bypassGates === undefined || draft.available.some(({ tag }) => tag === bypassGates)) return [];
  return [`bypass gates version ${bypassGates} is not in available releases`];
}
