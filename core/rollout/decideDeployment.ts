/**
 * The decision about the next deployment of a Rollout: it adopts the version that its objects carry, deploys the next
 * version, or waits for what blocks that.
 */
import { READY } from '../../api/conditions.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { HistoryEntry, Rollout, VersionInfo } from '../../api/types.ts';
import { MAX_OFFERED_VERSIONS, type SlotWait, slotWaitOf } from '../budget/slotRequest.ts';
import { givenReason } from '../gate/bypassReason.ts';
import { type ClosedGates, gateKeys } from '../gate/closedGates.ts';
import { healthCheckLabels } from '../health/association.ts';
import { knownHealth } from '../health/knownHealth.ts';
import { setConditions, trueCondition } from '../kube/conditions.ts';
import type { NewEvent } from '../kube/events.ts';
import { formatTime } from '../kube/time.ts';
import { LIMITS } from '../limits.ts';
import { imageOfReleases } from '../policy/imagePolicy.ts';
import { oneLine } from '../text/oneLine.ts';
import { deploymentEvent, historyMessage, originOf, readyMessage } from './deployment/deploymentMessages.ts';
import {
  adoptedEntry,
  BAKE_FAILURE_ENABLED,
  bakeFailureDisabled,
  initialBake,
  triggeredBy,
  withHead,
} from './deployment/entry.ts';
import { healthSettlesAt } from './deployment/healthChecks.ts';
import { hasNoBake, isUnfinished } from './deployment/history.ts';
import { copyBlockers, type FoundBlocker, findBlockers, isBlockedBy } from './evaluation/blockers.ts';
import { type CopyState, copyState } from './evaluation/copy.ts';
import { evaluateGatesOfVersion } from './evaluation/gatesOfRollout.ts';
import { isAutomatic, type NextChoice, type NextVersion, nextVersion } from './evaluation/nextVersion.ts';
import type { Observed, RolloutConfig, RolloutContext, RolloutState } from './evaluation/observed.ts';
import { rollbackDepth } from './evaluation/rollback.ts';
import { isForceDeployOfAnother, requesterOf, requestsUsedBy, withUsed } from './evaluation/rolloutRequests.ts';
import { GATES_IN_HISTORY, storedPermissions } from './evaluation/versionApprovals.ts';
import { withMetadata, withoutFirstSeen } from './release/metadata.ts';
import { retainedReleases } from './release/retention.ts';

/** The version that could come next, and everything that blocks it. */
export interface Evaluation extends NextVersion {
  /** All blockers except budgets: a slot is requested only when nothing else blocks. */
  blockers: FoundBlocker[];
  /** The copy of the release that spec.targetRepository is to have. */
  copy?: CopyState;
}

/** The evaluation of the context's state, with live or cached reads. */
function evaluateRollout(context: RolloutContext): Evaluation {
  const next = nextVersion(context);
  const found = findBlockers(next, context);
  const copy = copyState(context, deployableNow({ ...next, blockers: found }));
  return { ...next, copy, blockers: [...found, ...copyBlockers(copy)] };
}

/** The version to deploy now, unless a budget blocks it; undefined if there is none, or if something blocks it. */
function deployableNow({ choice, blockers }: Pick<Evaluation, 'choice' | 'blockers'>): NextChoice | undefined {
  return choice.is === 'next' && !isBlockedBy(blockers, choice.version) ? choice : undefined;
}

/** The decision whether a new deployment begins. */
export interface DeploymentDecision {
  /** The context after the decision: its state, and the requests that are left. */
  context: RolloutContext;
  /** The evaluation of `context`: the next version, and its blockers. */
  evaluation: Evaluation;
  /** Whether the history has a new deployment. */
  commits: boolean;
  events: NewEvent[];
  /** The wait for a budget's slot. */
  slotWait?: SlotWait;
  requeueAt: EpochMs[];
}

/** The decision whether a new deployment begins now: an adopted one, a rollback, a manual or an automatic one. */
export function decideDeployment(context: RolloutContext): DeploymentDecision {
  const { observed, config, state, now } = context;
  if (state.history.length === 0 && observed.carried.length > 0) return adopt(context);
  const evaluation = evaluateRollout(context);
  const stay: DeploymentDecision = { context, evaluation, commits: false, events: [], requeueAt: [] };
  const next = deployableNow(evaluation);
  if (!next) return stay;
  // Nothing was healthy before a first deployment, a manual one doesn't wait, and without a bake health doesn't matter.
  const awaitsHealth = next.trigger !== 'Manual' && config.bakes && state.history.length > 0;
  const settlesAt = awaitsHealth ? healthSettlesAt(observed.healthChecks, now) : undefined;
  if (settlesAt !== undefined) return { ...stay, requeueAt: [settlesAt] };
  const { rollout, budgets } = observed;
  // Only the live reads before a commit read the budgets.
  if (budgets && isAutomatic(next)) {
    const slotWait = slotWaitOf(rollout, budgets, offeredVersions(context, evaluation), next.version, now);
    if (slotWait) return { ...stay, slotWait, requeueAt: slotWait.requeueAt };
  }
  return deployNext(context, next, evaluation);
}

/** The decision to commit a new deployment, which `context` has already. */
function commit(context: RolloutContext, events: NewEvent[]): DeploymentDecision {
  return { context, evaluation: evaluateRollout(context), commits: true, events, requeueAt: [] };
}

function adopt(context: RolloutContext): DeploymentDecision {
  const { observed, config, state, now } = context;
  const bake = { bakes: config.bakes, knownHealth: healthBefore(observed, config, undefined) };
  const head = adoptedEntry(observed.carried, state.available, bake, now);
  const message = `${head.message}: version ${head.version.tag}`;
  const conditions = [BAKE_FAILURE_ENABLED, trueCondition(READY, 'RolloutSucceeded', message)];
  const adopted = { ...state, history: [head], conditions: setConditions(state.conditions, conditions, now) };
  return commit({ ...context, state: adopted }, [deploymentEvent(head, 'Normal', 'DeploymentAdopted', message)]);
}

/**
 * The versions that automation could deploy now, newest first, for budgets to choose from: RolloutGates, upstream
 * Rollouts and Gates let each through.
 */
function offeredVersions(context: RolloutContext, { deployable, copy }: Evaluation): VersionInfo[] {
  const all = deployable.slice(0, MAX_OFFERED_VERSIONS);
  // A budget must not choose a version without a copy: only the newest has been copied.
  if (copy?.isAwaited) return all.slice(0, 1);
  return all.filter(({ tag }) => evaluateGatesOfVersion(context, tag).closed === undefined);
}

function deployNext(context: RolloutContext, next: NextChoice, evaluation: Evaluation): DeploymentDecision {
  const { observed, config, state, requests, now } = context;
  const { rollout } = observed;
  const [previous] = state.history;
  const head = newHead(context, next, evaluation);
  const { tag } = head.version;
  const { history, events } = withHead(head, state.history, rollout, now);
  const length = Math.max(config.historyLimit, rollbackDepth(history, config));
  const kept = history.slice(0, Math.min(length, LIMITS.history));
  // Nothing has gone wrong with a deployment without a bake that is replaced before Flux has applied it.
  const isReplaced = previous !== undefined && isUnfinished(previous) && hasNoBake(previous, rollout);
  const isUnhealthy = evaluation.unhealthyChecks.length > 0;
  const conditions = [
    bakeFailureDisabled(head, isReplaced ? undefined : previous, config.onFailure, isUnhealthy),
    trueCondition(READY, 'RolloutSucceeded', readyMessage(head, rollout)),
  ];
  const deployed: RolloutState = {
    ...state,
    history: kept,
    available: history.length > kept.length ? retainedReleases(state.available, kept, config, now) : state.available,
    // A user has deployed this version again after its rollback: automation may deploy it again too.
    rolledBack: [
      ...state.rolledBack.filter((each) => each !== tag),
      ...(head.rolledBackFrom === undefined ? [] : [head.rolledBackFrom]),
    ],
    conditions: setConditions(state.conditions, conditions, now),
  };
  const left = withUsed(rollout, requests, requestsUsedBy(tag, requests));
  return commit({ ...context, state: deployed, requests: left }, events);
}

/** Characters of a deploy-message: each entry of the history has one. */
const MAX_DEPLOY_MESSAGE = 2048;

/** The entry of the next deployment. */
function newHead(
  { observed, config, state, requests, now }: RolloutContext,
  next: NextChoice,
  { rolloutGatesResult, versionGates, requiredApprovals }: Evaluation,
): HistoryEntry {
  const { rollout, rolloutGates, bindings, metadata, imagePolicy } = observed;
  const [previous] = state.history;
  const { trigger, version: tag } = next;
  const isManual = trigger === 'Manual';
  const textFor = (given: string | undefined) =>
    isManual && given && !isForceDeployOfAnother(tag, requests) ? oneLine(given) : undefined;
  const message = textFor(requests.deployMessage)?.slice(0, MAX_DEPLOY_MESSAGE);
  const release = state.available.find((each) => each.tag === tag) ?? withMetadata({ tag }, metadata[tag]);
  const rolledBackFrom = trigger === 'Rollback' ? next.rollback.from : undefined;
  const origin = originOf(trigger, {
    isForced: isManual && requests.forceDeploy === tag,
    isBypassed: rolloutGatesResult.bypassed === tag,
    isUnblocked: requests.unblockFailed && previous?.bakeStatus === 'Failed' && trigger !== 'Rollback',
  });
  const image = imageOfReleases(rollout, imagePolicy);
  const requestedBy = isManual ? requesterOf(rollout, tag)?.by : undefined;
  const approvals = storedPermissions(versionGates.permissions, requiredApprovals, rolloutGates, tag);
  const bypass = bypassRecord(rollout, versionGates.bypassed);
  const recordsHealth = config.bakes && trigger !== 'InitialVersion';
  const knownHealth = recordsHealth ? healthBefore(observed, config, previous) : undefined;
  return {
    id: (previous?.id ?? 0) + 1,
    version: trigger === 'Rollback' ? next.rollback.to : withoutFirstSeen(release),
    image,
    timestamp: formatTime(now),
    message: message || historyMessage(origin, rolledBackFrom),
    origin,
    triggeredBy: triggeredBy(textFor(requests.deployUser)),
    ...(requestedBy && { requestedBy }),
    ...(message && { reason: message }),
    ...(approvals.length > 0 && { approvals }),
    bypass,
    rolledBackFrom,
    ...initialBake(trigger, config, bindings.length > 0),
    knownHealth,
  };
}

/** The reports of the HealthChecks before the deployment; undefined if only times show which reports are newer. */
function healthBefore({ rollout, healthChecks }: Observed, config: RolloutConfig, previous: HistoryEntry | undefined) {
  const isRecorded = !config.kuberikCompat && healthCheckLabels(rollout.spec?.healthCheckSelector) !== undefined;
  return isRecorded ? knownHealth(healthChecks, previous?.knownHealth) : undefined;
}

function bypassRecord(rollout: Rollout, bypassed: ClosedGates | undefined): HistoryEntry['bypass'] {
  const given = bypassed && givenReason(rollout);
  if (!given) return undefined;
  const gates = gateKeys(bypassed).slice(0, GATES_IN_HISTORY);
  return { by: given.by, at: formatTime(given.at), reason: oneLine(given.reason.slice(0, LIMITS.reason)), gates };
}
