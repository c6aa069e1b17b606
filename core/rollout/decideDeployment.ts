/**
 * The decision about the next deployment of a Rollout: it adopts the version that its objects carry, deploys the next
 * version, or waits.
 */
import { READY } from '../../api/conditions.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { HistoryEntry, Rollout } from '../../api/types.ts';
import { type SlotWait, slotWaitOf } from '../budget/slotRequest.ts';
import { givenReason } from '../gate/bypassReason.ts';
import type { GateResult } from '../gate/evaluateGates.ts';
import { healthCheckLabels } from '../health/association.ts';
import { knownHealth } from '../health/knownHealth.ts';
import { setConditions, trueCondition } from '../kube/conditions.ts';
import type { NewEvent } from '../kube/events.ts';
import { refKey } from '../kube/names.ts';
import { formatTime } from '../kube/time.ts';
import { LIMITS } from '../limits.ts';
import { imageOfReleases } from '../policy/imagePolicy.ts';
import { oneLine } from '../text/oneLine.ts';
import { deploymentEvent, readyMessage, type Trigger } from './deployment/deploymentMessages.ts';
import {
  addDeployment,
  adoptedEntry,
  BAKE_FAILURE_ENABLED,
  bakeFailureDisabled,
  type Deployment,
  type InitialPhase,
} from './deployment/entry.ts';
import { healthSettlesAt } from './deployment/healthChecks.ts';
import { hasNoBake, isUnfinished } from './deployment/history.ts';
import { rollbackDepth } from './deployment/rollback.ts';
import { deployableNow, type Evaluation, evaluateRollout, offeredVersions } from './evaluation/evaluation.ts';
import { isForward, type NextChoice } from './evaluation/nextVersion.ts';
import type { Observed, RolloutConfig, RolloutContext, RolloutState } from './evaluation/observed.ts';
import { GATES_IN_HISTORY } from './evaluation/requiredGates.ts';
import { type RequestKey, type Requests, requesterOf, requestsOf } from './evaluation/rolloutRequests.ts';
import { withMetadata, withoutFirstSeen } from './release/metadata.ts';
import { retainedReleases } from './release/retention.ts';

export interface DeploymentDecision {
  /** The state after the decision. */
  state: RolloutState;
  /** The evaluation of `state`: the next version, and its blockers. */
  evaluation: Evaluation;
  /** Whether the history has a new deployment. */
  commits: boolean;
  /** Requests that the decision uses up. */
  used: RequestKey[];
  events: NewEvent[];
  /** The wait for a budget's slot. */
  slotWait?: SlotWait;
  requeueAt: EpochMs[];
}

type DeploymentResult = Pick<DeploymentDecision, 'state' | 'used' | 'events'>;

/** @param usedBefore requests that earlier steps of the plan have used up */
export function decideDeployment(context: RolloutContext, usedBefore: readonly RequestKey[]): DeploymentDecision {
  const { observed, config, state: before, now } = context;
  const commit = ({ state, used, events }: DeploymentResult): DeploymentDecision => {
    const requests = requestsOf(observed.rollout, new Set([...usedBefore, ...used]));
    const evaluation = evaluateRollout({ ...context, state, requests });
    return { state, used, events, evaluation, commits: true, requeueAt: [] };
  };
  if (before.history.length === 0 && observed.carried.length > 0) return commit(adopt(context));
  const evaluation = evaluateRollout(context);
  const { rolloutGatesResult } = evaluation;
  // The bypass stays visible after its version is deployed: see shownBypass.
  const shown = rolloutGatesResult.condition.reason === 'GatesBypassed' ? [rolloutGatesResult.condition] : [];
  const state = { ...before, conditions: setConditions(before.conditions, shown, now) };
  const used = unneededTexts(evaluation, context.requests);
  const stay: DeploymentDecision = { state, evaluation, commits: false, used, events: [], requeueAt: [] };
  const next = deployableNow(evaluation);
  if (!next) return stay;
  // Nothing was healthy before a first deployment, and a manual one doesn't wait.
  const awaitsHealth = next.trigger !== 'Manual' && config.bakes && state.history.length > 0;
  const settlesAt = awaitsHealth ? healthSettlesAt(observed.healthChecks, now) : undefined;
  if (settlesAt !== undefined) return { ...stay, requeueAt: [settlesAt] };
  const slotWait = slotWaitFor(context, next, evaluation);
  if (slotWait) return { ...stay, slotWait, requeueAt: slotWait.requeueAt };
  return commit(deployNext({ ...context, state }, next, evaluation));
}

function adopt({ observed, config, state, now }: RolloutContext): DeploymentResult {
  const bake = { bakes: config.bakes, knownHealth: healthBefore(observed, config, undefined) };
  const head = adoptedEntry(observed.carried, state.available, bake, now);
  const message = `${head.message}: version ${head.version.tag}`;
  const conditions = [BAKE_FAILURE_ENABLED, trueCondition(READY, 'RolloutSucceeded', message)];
  return {
    state: { ...state, history: [head], conditions: setConditions(state.conditions, conditions, now) },
    used: [],
    events: [deploymentEvent(head, 'Normal', 'DeploymentAdopted', message)],
  };
}

/** The wait for slots. Without budgets there is none yet: they are read only in the live reads before a commit. */
function slotWaitFor(context: RolloutContext, next: NextChoice, evaluation: Evaluation): SlotWait | undefined {
  const { rollout, budgets } = context.observed;
  if (!budgets || !isForward(next)) return undefined;
  return slotWaitOf(rollout, budgets, offeredVersions(context, evaluation), next.version, context.now);
}

function deployNext(context: RolloutContext, next: NextChoice, evaluation: Evaluation): DeploymentResult {
  const { observed, config, state, requests, now } = context;
  const { rollout } = observed;
  const [previous] = state.history;
  const deployment = nextDeployment(context, next, evaluation);
  const { tag } = deployment.version;
  const { history, events } = addDeployment(rollout, state.history, deployment, now);
  const length = Math.max(config.historyLimit, rollbackDepth(history, config));
  const kept = history.slice(0, Math.min(length, LIMITS.history));
  // Nothing has gone wrong with a deployment without a bake that is replaced before Flux has applied it.
  const isReplaced = previous !== undefined && isUnfinished(previous) && hasNoBake(previous, rollout);
  const conditions = [
    bakeFailureDisabled({
      previous: isReplaced ? undefined : previous,
      manual: deployment.trigger === 'Manual',
      unblocked: deployment.unblocked,
      onFailure: config.onFailure,
      unhealthy: evaluation.unhealthy.length > 0,
    }),
    trueCondition(READY, 'RolloutSucceeded', readyMessage(deployment, history[0]!, rollout)),
  ];
  const retention = { days: config.retentionDays, minCount: config.minReleases };
  const { rollbackFrom } = deployment;
  return {
    state: {
      ...state,
      history: kept,
      available:
        history.length > kept.length ? retainedReleases(state.available, kept, retention, now) : state.available,
      // A user has deployed this version again after its rollback: automation may deploy it again too.
      rolledBack: [
        ...state.rolledBack.filter((each) => each !== tag),
        ...(rollbackFrom === undefined ? [] : [rollbackFrom]),
      ],
      conditions: setConditions(state.conditions, conditions, now),
    },
    used: requestsUsedBy(tag, requests),
    events,
  };
}

function nextDeployment(
  { observed, config, state, requests }: RolloutContext,
  next: NextChoice,
  { rolloutGatesResult, storedApprovals, bypassed }: Evaluation,
): Deployment {
  const { rollout, metadata } = observed;
  const [previous] = state.history;
  const { trigger, version: tag } = next;
  const isManual = trigger === 'Manual';
  const text = (given: string | undefined) =>
    isManual && given && !isForceDeployOfAnother(tag, requests) ? oneLine(given) : undefined;
  const release = state.available.find((each) => each.tag === tag) ?? withMetadata({ tag }, metadata[tag]);
  return {
    trigger,
    version: trigger === 'Rollback' ? next.rollback.to : withoutFirstSeen(release),
    image: imageOfReleases(rollout, observed.imagePolicy),
    forced: isManual && requests.forceDeploy === tag,
    bypassed: rolloutGatesResult.condition.reason === 'GatesBypassed' && requests.bypassGates === tag,
    unblocked: requests.unblockFailed && previous?.bakeStatus === 'Failed' && trigger !== 'Rollback',
    rollbackFrom: trigger === 'Rollback' ? next.rollback.from : undefined,
    phase: initialPhase(observed, config, trigger),
    approvals: storedApprovals,
    bypass: bypassRecord(rollout, bypassed),
    message: text(requests.deployMessage),
    user: text(requests.deployUser),
    requestedBy: isManual ? requesterOf(rollout, tag).by : undefined,
    knownHealth: healthBefore(observed, config, previous),
  };
}

/** The reports of the HealthChecks before the deployment; undefined if only times show which reports are newer. */
function healthBefore({ rollout, healthChecks }: Observed, config: RolloutConfig, previous: HistoryEntry | undefined) {
  const isRecorded = !config.kuberikCompat && healthCheckLabels(rollout.spec?.healthCheckSelector) !== undefined;
  return isRecorded ? knownHealth(healthChecks, previous?.knownHealth) : undefined;
}

function initialPhase({ bindings }: Observed, config: RolloutConfig, trigger: Trigger): InitialPhase {
  if (trigger === 'InitialVersion') return 'ranBefore';
  if (config.bakes) return 'bakes';
  if (config.kuberikCompat) return 'noBake';
  return bindings.length > 0 ? 'awaitsApply' : 'nothingBound';
}

function bypassRecord(rollout: Rollout, bypassed: readonly GateResult[]): HistoryEntry['bypass'] {
  const given = bypassed.length > 0 ? givenReason(rollout) : undefined;
  if (!given) return undefined;
  const gates = bypassed.slice(0, GATES_IN_HISTORY).map(({ ref }) => refKey(ref));
  return { by: given.by, at: formatTime(given.at), reason: oneLine(given.reason.slice(0, LIMITS.reason)), gates };
}

// Requests that end with a decision, so that a request from before a deployment doesn't act on a later one.

/** The message and the user of a force-deploy, which wait with it. */
const DEPLOY_TEXTS: readonly RequestKey[] = ['deploy-message', 'deploy-user'];

/** Every pending request, except a force-deploy of another version. */
function requestsUsedBy(tag: string, requests: Requests): RequestKey[] {
  const waits: readonly RequestKey[] = isForceDeployOfAnother(tag, requests) ? ['force-deploy', ...DEPLOY_TEXTS] : [];
  return requests.pending.filter((key) => !waits.includes(key));
}

function isForceDeployOfAnother(tag: string, { forceDeploy }: Requests): boolean {
  return forceDeploy !== undefined && forceDeploy !== tag;
}

/** The message and the user of a manual deployment that was withdrawn. */
function unneededTexts({ choice }: Evaluation, requests: Requests): RequestKey[] {
  const isAwaited = requests.forceDeploy !== undefined || (choice.trigger === 'Manual' && choice.is !== 'nothing');
  return isAwaited ? [] : requests.pending.filter((key) => DEPLOY_TEXTS.includes(key));
}
