/**
 * What to do about a Rollout: observed state and a time in, the status to store out.
 * Each step takes values and answers with values.
 * Planning again on the result changes nothing but the progress of a new deployment.
 */

import { BAKE_FAILURE_DISABLED, READY } from '../../api/conditions.ts';
import type { AnyObject, EpochMs } from '../../api/kubernetes.ts';
import type { HistoryEntry, Rollout, RolloutStatus } from '../../api/types.ts';
import { type Waiting, waitForSlots } from '../budget/turn.ts';
import { givenReason } from '../gate/bypassReason.ts';
import type { GateResult } from '../gate/evaluateGates.ts';
import { healthCheckLabels } from '../health/association.ts';
import { knownHealth } from '../health/known.ts';
import { findCondition, trueCondition } from '../kube/conditions.ts';
import type { NewEvent } from '../kube/events.ts';
import { refKey } from '../kube/names.ts';
import { formatTime } from '../kube/time.ts';
import { LIMITS } from '../limits.ts';
import { derivedPolicy } from '../policy/derivedPolicy.ts';
import { MAX_REASON } from '../record/record.ts';
import { withRevision } from '../status/revision.ts';
import { oneLine } from '../text/oneLine.ts';
import { releaseConfigMap } from './child.ts';
import { adopted } from './deployment/adoptDeployment.ts';
import { advanceHead, isBaking, retryHead } from './deployment/bake.ts';
import { deploymentEvent } from './deployment/deploymentEvents.ts';
import { readyMessage } from './deployment/deploymentMessages.ts';
import { addDeployment, type Beginning, bakeFailureDisabled } from './deployment/entry.ts';
import { healthSettlesAt, sortedChecks } from './deployment/healthChecks.ts';
import { boundTo } from './deployment/progress.ts';
import { rollbackDepth } from './deployment/rollback.ts';
import { hasNoBake } from './deployment/withoutBake.ts';
import {
  type Evaluation,
  evaluate,
  mayDeploy,
  offeredVersions,
  type RolloutState,
  storedState,
} from './evaluation/evaluation.ts';
import { type Observed, type RolloutConfig, readRolloutConfig } from './evaluation/inputs.ts';
import { namedGateRecords } from './evaluation/namedGates.ts';
import { isForward } from './evaluation/nextVersion.ts';
import { GATES_IN_HISTORY } from './evaluation/requiredGates.ts';
import { idleRequests, type RequestKey, type Requests, requesterOf, requestsOf } from './evaluation/rolloutRequests.ts';
import { authorsWanted } from './evaluation/versionApprovals.ts';
import { gateSummaries } from './gateSummaries.ts';
import { discoverReleases } from './release/discovery.ts';
import { withMetadata, withoutFirstSeen } from './release/metadata.ts';
import { retained } from './release/retention.ts';
import { nextConditions, setConditions } from './rolloutConditions.ts';
import { changeEvents, dated } from './rolloutEvents.ts';
import { blockerList, nextStatus } from './rolloutStatus.ts';
import { fitted, withBoundedHead } from './statusSize.ts';

interface Planned {
  /** The status to store, `revision` included. */
  status: RolloutStatus;
  /** The plan would deploy, but no budget has granted a slot. */
  waitsForBudget: boolean;
  /** The head counts as applied from now on: the hook makes sure that no bound object was overlooked. */
  endsApply: boolean;
  resyncAfterSeconds?: number;
  events: NewEvent[];
  /**
   * From the history as stored, the ConfigMap of spec.releaseConfigMap and the ImagePolicy of spec.writeBack; the Job
   * of spec.targetRepository, until the copy is stored in the status.
   */
  children: AnyObject[];
}

/** A plan that is safe to apply from cached data: the next sync corrects it. */
export interface ReversiblePlan extends Planned {
  commits: false;
  startsCopy: false;
}

/** A plan that cannot be undone. It is carried out only if it was made from live reads. */
export interface IrreversiblePlan extends Planned {
  /** A new history head. */
  commits: boolean;
  /** A version that waits for it is to be copied. */
  startsCopy: boolean;
}

export type Plan = ReversiblePlan | IrreversiblePlan;

export function isReversible(plan: Plan): plan is ReversiblePlan {
  return !plan.commits && !plan.startsCopy;
}

export function planRollout(observed: Observed, now: EpochMs): Plan {
  const { rollout } = observed;
  if (rollout.metadata.deletionTimestamp) {
    const nothing = { commits: false, waitsForBudget: false, endsApply: false, startsCopy: false };
    return { status: rollout.status ?? {}, ...nothing, events: [], children: [] };
  }
  const config = readRolloutConfig(rollout, observed);
  const stored = storedState(rollout.status);
  const requested = requestsOf(rollout);

  const { bindings, healthChecks, likeKuberik = false } = observed;
  const checks = sortedChecks(healthChecks);
  const retry = requested.retry ? retryHead(stored.history[0], checks, now) : undefined;
  const retried = retry ? retry.head : stored.history[0];
  const authorsOf = authorsWanted(observed.rolloutGates, observed.gates, rollout);
  const barriersOf = config.onFailure === 'Rollback' && isBaking(retried) ? [retried!.version.tag] : [];
  const hasMinimumAge = config.minimumReleaseAge !== undefined;
  const releases = discoverReleases({ ...observed, authorsOf, barriersOf, hasMinimumAge }, now);
  const { available, barriers, authors } = releases;
  const head = retried && {
    ...retried,
    version: withMetadata(retried.version, observed.metadata[retried.version.tag]),
  };
  const recovery = findCondition(stored.conditions, BAKE_FAILURE_DISABLED)?.status === 'True';
  const bound = boundTo(rollout, bindings);
  const context = { rollout, times: config, healthChecks: checks, bound, recovery, likeKuberik };
  // The head's progress comes first, so that the decision sees a bake that ends or starts in this sync.
  const progress = head && advanceHead(head, context, config.problems.length === 0, now);
  const history = progress ? [progress.head, ...stored.history.slice(1)] : [];
  const ready = progress?.ready ? [progress.ready] : [];
  const conditions = setConditions(stored.conditions, [...releases.conditions, ...ready], now);
  const idle: RequestKey[] = [...(retry ? (['retry'] as const) : []), ...idleRequests(requested, history[0])];
  const before = { ...stored, history, available, barriers, authors, conditions };
  const decision = decideDeployment(observed, config, before, idle, now);

  const used = new Set([...idle, ...decision.used]);
  const left = requestsOf(rollout, used);
  const problems = [...config.problems, ...releases.problems];
  const state = {
    ...decision.state,
    history: withBoundedHead(decision.state.history, stored.history[0], config.historyLimit),
    conditions: nextConditions(observed, config, decision, left, problems, now),
  };
  const named = namedGateRecords(observed);
  const { gates, leftOut } = gateSummaries(observed, decision.evaluation, now);
  const listed = blockerList([...decision.evaluation.blockers, ...(decision.waiting?.blockers ?? [])]);
  const next: RolloutStatus = {
    ...releases.fields,
    ...nextStatus(observed, state, decision.evaluation, left, used),
    ...(decision.waiting?.request && { slotRequest: decision.waiting.request }),
    ...(named.length > 0 && { namedGates: named }),
    blockers: listed.blockers,
    gates: [...gates, ...(decision.waiting?.gates ?? [])],
  };
  const status = withRevision(rollout, fitted(next, [...leftOut, ...listed.leftOut], now));
  const events = [...(retry ? [retry.event] : []), ...(progress?.events ?? []), ...decision.events];
  const changes = changeEvents(decision.evaluation, state.conditions, rollout.status);
  const requeues = [releases, progress, decision, decision.evaluation].flatMap((step) => step?.requeueAt ?? []);
  const configMap = observed.configMapProblem === undefined ? releaseConfigMap(rollout) : undefined;
  const policy = observed.writeBackProblem === undefined ? derivedPolicy(observed) : undefined;
  const { copy } = decision.evaluation;
  return {
    status,
    commits: decision.commits,
    startsCopy: Boolean(copy?.isAwaited && copy.begins),
    waitsForBudget: decision.waiting !== undefined,
    endsApply: progress?.endsApply ?? false,
    ...resyncAfter(requeues, observed, status, now),
    events: status === rollout.status ? [] : dated([...events, ...changes], status),
    children: [configMap, copy?.job, policy].filter((child) => child !== undefined),
  };
}

/** Changes of a Namespace's labels, and of HealthChecks in other namespaces, trigger no sync. */
const UNSEEN_REQUEUE_S = 60;
/** The interval while a HealthCheck of another namespace decides what happens next. */
const WATCHED_REQUEUE_S = 10;
const SHORTEST_S = 0.1;

/** Nothing if only a change that triggers a sync can make a difference. */
function resyncAfter(
  requeues: readonly EpochMs[],
  { rollout: { metadata, spec }, healthChecks }: Observed,
  { history }: RolloutStatus,
  now: EpochMs,
): Pick<Plan, 'resyncAfterSeconds'> {
  const seconds = requeues.map((at) => Math.max(SHORTEST_S, (at - now) / 1000));
  if (spec?.healthCheckSelector?.namespaceSelector) {
    const foreign = healthChecks.filter((check) => check.metadata.namespace !== metadata.namespace);
    const decides = foreign.some(({ status }) => status?.status !== 'Healthy' || isBaking(history?.[0]));
    seconds.push(decides ? WATCHED_REQUEUE_S : UNSEEN_REQUEUE_S);
  }
  return seconds.length > 0 ? { resyncAfterSeconds: Math.min(...seconds) } : {};
}

// What a Rollout does now: adopt what its objects carry, deploy the next version, or wait.

interface Decision {
  /** The state after it. */
  state: RolloutState;
  /** The evaluation of that state: the next version, and its blockers. */
  evaluation: Evaluation;
  /** Whether there is a new deployment. */
  commits: boolean;
  /** Requests that it uses up. */
  used: RequestKey[];
  events: NewEvent[];
  /** The wait for a budget's slot. */
  waiting?: Waiting;
  requeueAt: EpochMs[];
}

type Deployed = Omit<Decision, 'evaluation' | 'commits' | 'waiting' | 'requeueAt'>;

/** `usedBefore`: requests that earlier steps have used up. */
function decideDeployment(
  observed: Observed,
  config: RolloutConfig,
  before: RolloutState,
  usedBefore: readonly RequestKey[],
  now: EpochMs,
): Decision {
  const requestsAfter = (used: readonly RequestKey[]) =>
    requestsOf(observed.rollout, new Set([...usedBefore, ...used]));
  const commit = (deployed: Deployed): Decision => ({
    ...deployed,
    evaluation: evaluate(observed, deployed.state, config, requestsAfter(deployed.used), now),
    commits: true,
    requeueAt: [],
  });
  if (before.history.length === 0 && observed.carried?.length) return commit(adopt(observed, config, before, now));
  const requests = requestsAfter([]);
  const evaluation = evaluate(observed, before, config, requests, now);
  const { selection, rolloutGatesResult } = evaluation;
  // The bypass stays visible after its version is deployed: see shownBypass.
  const shown = rolloutGatesResult.condition.reason === 'GatesBypassed' ? [rolloutGatesResult.condition] : [];
  const state = { ...before, conditions: setConditions(before.conditions, shown, now) };
  const used = usedInVain(evaluation, requests);
  const idle: Decision = { state, evaluation, commits: false, used, events: [], requeueAt: [] };
  if (!mayDeploy(evaluation)) return idle;
  // Nothing was healthy before a first deployment, and a manual one doesn't wait.
  const awaitsHealth = !selection.manual && config.bakes && state.history.length > 0;
  const settlesAt = awaitsHealth ? healthSettlesAt(observed.healthChecks, now) : undefined;
  if (settlesAt !== undefined) return { ...idle, requeueAt: [settlesAt] };
  const waiting = waitsForBudget(observed, config, state, evaluation, now);
  if (waiting) return { ...idle, waiting, requeueAt: waiting.requeueAt };
  return commit(deployNext(observed, config, state, evaluation, requests, now));
}

function adopt({ carried = [] }: Observed, { onFailure }: RolloutConfig, state: RolloutState, now: EpochMs): Deployed {
  const head = adopted(carried, state.available, now)!;
  const circumstances = { previous: undefined, manual: false, unblocked: false, unhealthy: false, onFailure };
  const message = `${head.message}: version ${head.version.tag}`;
  const conditions = [bakeFailureDisabled(circumstances), trueCondition(READY, 'RolloutSucceeded', message)];
  return {
    state: { ...state, history: [head], conditions: setConditions(state.conditions, conditions, now) },
    used: [],
    events: [deploymentEvent(head, 'Normal', 'DeploymentAdopted', message)],
  };
}

/** Before a deployment is committed budgets are read live: without them there is nothing to wait for yet. */
function waitsForBudget(
  observed: Observed,
  config: RolloutConfig,
  state: RolloutState,
  evaluation: Evaluation,
  now: EpochMs,
): Waiting | undefined {
  const { rollout, budgets } = observed;
  const { selection } = evaluation;
  if (!budgets || selection.next === undefined || !isForward(selection)) return undefined;
  const offered = offeredVersions(observed, state, config, evaluation, now);
  return waitForSlots(rollout, budgets, offered, selection.next, now);
}

function beginning({ rollout, bindings, likeKuberik }: Observed, config: RolloutConfig, initial: boolean): Beginning {
  if (initial) return 'ran before';
  if (config.bakes) return 'bakes';
  if (likeKuberik) return 'does not bake';
  return boundTo(rollout, bindings).length > 0 ? 'is to be applied' : 'nothing is bound';
}

function deployNext(
  observed: Observed,
  config: RolloutConfig,
  state: RolloutState,
  { selection, rolloutGatesResult, unhealthy, approvals, bypassed }: Evaluation,
  requests: Requests,
  now: EpochMs,
): Deployed {
  const { rollout, metadata, healthChecks, likeKuberik } = observed;
  const { manual, next: tag = '', rollback, initial = false } = selection;
  const [previous] = state.history;
  const kind = {
    manual,
    forced: manual && requests.forceDeploy === tag,
    bypassed: rolloutGatesResult.condition.reason === 'GatesBypassed' && requests.bypassGates === tag,
    unblocked: requests.unblockFailed && previous?.bakeStatus === 'Failed' && rollback === undefined,
    rollbackFrom: rollback?.from,
    initial,
  };
  // A force-deploy of another version continues to wait, with the message and user that were given for it.
  const isOfAnother = requests.forceDeploy !== undefined && requests.forceDeploy !== tag;
  const ofForceDeploy: readonly RequestKey[] = ['force-deploy', 'deploy-message', 'deploy-user'];
  const text = (given: string | undefined) => (isOfAnother || !given ? undefined : oneLine(given));
  const known = state.available.find((release) => release.tag === tag);
  const remembersHealth = !likeKuberik && healthCheckLabels(rollout.spec?.healthCheckSelector) !== undefined;
  const { history, events } = addDeployment(
    rollout,
    state.history,
    {
      ...kind,
      version: rollback?.to ?? withoutFirstSeen(known ?? withMetadata({ tag }, metadata[tag])),
      begins: beginning(observed, config, initial),
      approvals,
      bypass: bypassRecord(rollout, bypassed),
      message: text(requests.deployMessage),
      user: text(requests.deployUser),
      requestedBy: requesterOf(rollout, tag).by,
      knownHealth: remembersHealth ? knownHealth(sortedChecks(healthChecks), previous?.knownHealth) : undefined,
    },
    now,
  );
  const length = Math.max(config.historyLimit, rollbackDepth(history, config));
  const kept = history.slice(0, Math.min(length, LIMITS.history));
  // Nothing has gone wrong with it: it gave way before Flux had applied it.
  const replaces = previous !== undefined && isBaking(previous) && hasNoBake(previous, rollout);
  const conditions = [
    bakeFailureDisabled({
      previous: replaces ? undefined : previous,
      manual,
      unblocked: kind.unblocked,
      onFailure: config.onFailure,
      unhealthy: unhealthy.length > 0,
    }),
    trueCondition(READY, 'RolloutSucceeded', readyMessage(kind, history[0]!, rollout)),
  ];
  const retention = { days: config.retentionDays, minCount: config.minReleases };
  return {
    state: {
      ...state,
      history: kept,
      available: history.length > kept.length ? retained(state.available, kept, retention, now) : state.available,
      // Whoever deploys a version that was rolled back wants it tried again.
      rolledBack: [...state.rolledBack.filter((each) => each !== tag), ...(rollback ? [rollback.from] : [])],
      conditions: setConditions(state.conditions, conditions, now),
    },
    // No other request from before a deployment may act on a later one.
    used: requests.pending.filter((key) => !(isOfAnother && ofForceDeploy.includes(key))),
    events,
  };
}

function bypassRecord(rollout: Rollout, bypassed: readonly GateResult[]): HistoryEntry['bypass'] {
  const given = bypassed.length > 0 ? givenReason(rollout) : undefined;
  if (!given) return undefined;
  const gates = bypassed.slice(0, GATES_IN_HISTORY).map(({ ref }) => refKey(ref));
  return { by: given.by, at: formatTime(given.at), reason: oneLine(given.reason.slice(0, MAX_REASON)), gates };
}

/** Requests that would end up with a later deployment if they stayed. */
function usedInVain({ selection }: Evaluation, requests: Requests): RequestKey[] {
  const isAwaited =
    requests.forceDeploy !== undefined ||
    (selection.manual && (selection.next !== undefined || selection.problem !== undefined));
  // The message belongs to a manual deployment that was withdrawn.
  return requests.pending.filter((key) => !isAwaited && (key === 'deploy-message' || key === 'deploy-user'));
}
