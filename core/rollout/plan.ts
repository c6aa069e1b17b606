/**
 * What to do about a Rollout: observed state and a time in, the status to store out. Steps and their order are those of
 * reference section 2.1. Planning again on the result changes nothing, except that a new deployment then goes its way.
 */
import { BAKE_FAILURE_DISABLED, READY, RELEASES_UPDATED } from '../../api/conditions.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import { adopted } from '../deployment/adopt.ts';
import { bakeStep, isBaking } from '../deployment/bake.ts';
import { healthSettlesAt, sortedChecks } from '../deployment/healthChecks.ts';
import { boundTo, withProgress } from '../deployment/progress.ts';
import { bakeFailureDisabled } from '../deployment/recovery.ts';
import { retried } from '../deployment/retry.ts';
import { findCondition } from '../kube/conditions.ts';
import { latestOf } from '../policy/imagePolicy.ts';
import { discover } from '../release/discovery.ts';
import { artifactFields, metadataWanted, withMetadata } from '../release/metadata.ts';
import { commit } from './commit.ts';
import { type Draft, openRequests, put, setHead, startDraft } from './draft.ts';
import { mayDeploy, situationOf } from './evaluation.ts';
import { describe } from './nextStatus.ts';
import type { Observed, Plan } from './observed.ts';
import { GLASS_KEY } from './requests.ts';
import { isForward } from './select.ts';

/** How long after a look-up without an answer the registry is asked again: of a release just discovered, and of others. */
const METADATA_FIRST_MS = 5_000;
const METADATA_RETRY_MS = 60_000;

export function planRollout(observed: Observed, now: EpochMs): Plan {
  const { rollout } = observed;
  if (rollout.metadata.deletionTimestamp) {
    return { status: rollout.status ?? {}, commits: false, startsBake: false, events: [] };
  }
  const draft = startDraft(observed, now);
  takeRetry(draft);
  takeReleases(draft);
  takeProgress(draft);
  dropIdleRequests(draft);
  if (draft.history.length === 0 && observed.carried?.length) adopt(draft);
  else decide(draft);
  return describe(draft);
}

function takeRetry(draft: Draft): void {
  if (!openRequests(draft).retry) return;
  draft.used.add('retry');
  const again = retried(draft.history[0], draft.now);
  if (again) {
    setHead(draft, again.head);
    draft.news.push(again.news);
  } else {
    const message = 'Retry requested, but the last deployment has not failed: nothing is retried';
    draft.news.push({ type: 'Normal', reason: 'RetryIgnored', message });
  }
}

function takeReleases(draft: Draft): void {
  const { rollout, imagePolicy, metadata } = draft.observed;
  const { available, lastReleaseUpdate, problem, wakeAt } = discover(rollout, imagePolicy, metadata, draft.now);
  draft.available = available.map((entry) => withMetadata(entry, metadata[entry.tag]));
  draft.barriers = barriersOf(draft.barriers, metadata);
  if (lastReleaseUpdate !== undefined) draft.fields.lastReleaseUpdate = lastReleaseUpdate;
  if (problem !== undefined) draft.problems.push(problem);
  if (wakeAt !== undefined) draft.wakeAt.push(wakeAt);
  if (imagePolicy) {
    const message = 'Available releases were updated successfully from ImagePolicy';
    put(draft, { type: RELEASES_UPDATED, status: 'True', reason: 'ReleasesUpdated', message });
  }
  const latest = latestOf(imagePolicy);
  Object.assign(draft.fields, artifactFields(rollout.status ?? {}, latest && metadata[latest.tag]));
  const head = draft.history[0];
  if (head) setHead(draft, { ...head, version: withMetadata(head.version, metadata[head.version.tag]) });
  const missing = metadataWanted(rollout, imagePolicy).some(({ tag }) => metadata[tag] === undefined);
  const isNew = draft.available.length > (rollout.status?.availableReleases?.length ?? 0);
  if (missing) draft.wakeAt.push(draft.now + (isNew ? METADATA_FIRST_MS : METADATA_RETRY_MS));
}

/** Once said is said: the registry may be away at the next look. */
function barriersOf(known: readonly string[], metadata: Observed['metadata']): string[] {
  const said = Object.entries(metadata).flatMap(([tag, { rollbackBarrier }]) => (rollbackBarrier ? [tag] : []));
  return [...new Set([...known, ...said])].sort();
}

/** Proof that the head has arrived, and its bake. Before both: a status in which a bake was just decided is not yet stored. */
function takeProgress(draft: Draft): void {
  const [head] = draft.history;
  if (!head) return;
  const { rollout, bindings, healthChecks } = draft.observed;
  const bound = boundTo(rollout, bindings);
  const proven = withProgress(head, bound, rollout, draft.now);
  setHead(draft, proven);
  if (!isBaking(proven) || draft.config.problems.length > 0) return;
  const recovery = findCondition(draft.conditions, BAKE_FAILURE_DISABLED)?.status === 'True';
  const context = { rollout, config: draft.config, healthChecks: sortedChecks(healthChecks), bound, recovery };
  const step = bakeStep(proven, context, draft.now);
  setHead(draft, step.head);
  draft.startsBake = proven.bakeStartTime === undefined && step.head.bakeStartTime !== undefined;
  draft.news.push(...step.news);
  if (step.ready) put(draft, step.ready);
  if (step.wakeAt !== undefined) draft.wakeAt.push(step.wakeAt);
}

/** What asks for something that is so already does not wait for a chance to act later (quirks Q7 and Q8). */
function dropIdleRequests(draft: Draft): void {
  const { forceDeploy, bypassGates, unblockFailed } = openRequests(draft);
  const [head] = draft.history;
  if (!head) return;
  if (forceDeploy === head.version.tag) draft.used.add('force-deploy');
  if (bypassGates === head.version.tag) draft.used.add('bypass-gates');
  if (unblockFailed && head.bakeStatus !== 'Failed') draft.used.add('unblock-failed');
}

function adopt(draft: Draft): void {
  const head = adopted(draft.observed.carried ?? [], draft.available, draft.now);
  if (!head) return;
  const circumstances = { previous: undefined, manual: false, unblocked: false, unhealthy: false };
  draft.history = [head];
  draft.commits = true;
  put(draft, bakeFailureDisabled({ ...circumstances, onFailure: draft.config.onFailure }));
  const message = `${head.message}: version ${head.version.tag}`;
  put(draft, { type: READY, status: 'True', reason: 'RolloutSucceeded', message });
  draft.news.push({ type: 'Normal', reason: 'DeploymentAdopted', message, about: `${head.id}` });
}

function decide(draft: Draft): void {
  const { observed, config, now } = draft;
  const requests = openRequests(draft);
  const situation = situationOf(observed, { ...draft, requests }, config, now);
  const { selection, verdict } = situation;
  // Remembered past the deployment: see shownBypass.
  if (verdict.condition.reason === 'GatesBypassed') put(draft, verdict.condition);
  // Without its ImagePolicy the order of releases is not known; a hand and a rollback need no order.
  const ready = config.problems.length === 0 && (!isForward(selection) || observed.imagePolicy !== undefined);
  if (ready && mayDeploy(situation) && !waitsForHealth(draft, selection.manual)) {
    commit(draft, situation, requests);
    return;
  }
  // A glass broken for nothing must not let a later version past a gate.
  if (situation.pending === undefined && requests.glass) draft.used.add(GLASS_KEY);
  // A message for a manual deployment that there is none of must not end up with a later one (quirk Q25).
  const waitsForHand = selection.manual && (selection.next !== undefined || selection.problem !== undefined);
  if (!waitsForHand) for (const key of ['deploy-message', 'deploy-user']) useUp(draft, key);
}

/** See healthSettlesAt. Nothing was healthy before a first deployment, and a hand does not wait. */
function waitsForHealth(draft: Draft, manual: boolean): boolean {
  const { config, history, now, observed } = draft;
  if (manual || !config.bakes || history.length === 0) return false;
  const settlesAt = healthSettlesAt(observed.healthChecks, now);
  if (settlesAt !== undefined) draft.wakeAt.push(settlesAt);
  return settlesAt !== undefined;
}

function useUp(draft: Draft, key: string): void {
  if (openRequests(draft).pending.includes(key)) draft.used.add(key);
}
