/** What a Rollout does now: adopt what its objects carry, deploy the next version, or wait. */
import { READY } from '../../api/conditions.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { HistoryEntry, Rollout } from '../../api/types.ts';
import { takeTurn, type Waiting } from '../budget/turn.ts';
import { givenReason } from '../gate/bypassReason.ts';
import type { GateResult } from '../gate/evaluateGates.ts';
import { healthCheckLabels } from '../health/association.ts';
import { knownHealth } from '../health/known.ts';
import type { NewEvent } from '../kube/events.ts';
import { refKey } from '../kube/names.ts';
import { formatTime } from '../kube/time.ts';
import { LIMITS } from '../limits.ts';
import { oneLine } from '../text/oneLine.ts';
import { setConditions } from './conditions.ts';
import { adopted } from './deployment/adopt.ts';
import { isBaking } from './deployment/bake.ts';
import { type Beginning, deploy } from './deployment/entry.ts';
import { deploymentEvent } from './deployment/events.ts';
import { healthSettlesAt, sortedChecks } from './deployment/healthChecks.ts';
import { readyMessage } from './deployment/messages.ts';
import { boundTo } from './deployment/progress.ts';
import { bakeFailureDisabled } from './deployment/recovery.ts';
import { lengthOfWayBack } from './deployment/rollback.ts';
import { isUnwatched } from './deployment/unwatched.ts';
import type { RolloutConfig } from './evaluation/config.ts';
import { type Evaluation, evaluate, mayDeploy, offeredVersions, type RolloutState } from './evaluation/evaluation.ts';
import type { Observed } from './evaluation/observed.ts';
import { requesterOf } from './evaluation/requesters.ts';
import { type RequestKey, type Requests, requestsOf } from './evaluation/requests.ts';
import { isForward } from './evaluation/select.ts';
import { withoutFirstSeen } from './release/age.ts';
import { withMetadata } from './release/metadata.ts';
import { retained } from './release/retention.ts';

const OF_FORCE_DEPLOY: readonly RequestKey[] = ['force-deploy', 'deploy-message', 'deploy-user'];

export interface Decision {
  /** After it. */
  state: RolloutState;
  /** Of that state: what could come next, and what is in its way. */
  evaluation: Evaluation;
  /** Whether there is a new deployment. */
  commits: boolean;
  /** Requests that it uses up. */
  used: RequestKey[];
  events: NewEvent[];
  /** What it waits for a slot of. */
  waiting?: Waiting;
  requeueAt: EpochMs[];
}

type Deployed = Omit<Decision, 'evaluation' | 'commits' | 'waiting' | 'requeueAt'>;

/** `usedBefore`: requests that earlier steps have used up. */
export function decide(
  observed: Observed,
  config: RolloutConfig,
  state: RolloutState,
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
  if (state.history.length === 0 && observed.carried?.length) return commit(adopt(observed, config, state, now));
  const requests = requestsAfter([]);
  const evaluation = evaluate(observed, state, config, requests, now);
  const shown = withShownBypass(state, evaluation, now);
  const requeueAt: EpochMs[] = [];
  const idle = { state: shown, evaluation, commits: false, used: usedInVain(evaluation, requests), events: [] };
  if (mayDeploy(evaluation)) {
    const settlesAt = waitsForHealth(observed, config, shown, evaluation, now);
    if (settlesAt !== undefined) requeueAt.push(settlesAt);
    else {
      const waiting = waitsForBudget(observed, config, shown, evaluation, now);
      if (!waiting) return commit(deployNext(observed, config, shown, evaluation, requests, now));
      return { ...idle, waiting, requeueAt: waiting.requeueAt };
    }
  }
  return { ...idle, requeueAt };
}

function adopt({ carried = [] }: Observed, { onFailure }: RolloutConfig, state: RolloutState, now: EpochMs): Deployed {
  const head = adopted(carried, state.available, now)!;
  const circumstances = { previous: undefined, manual: false, unblocked: false, unhealthy: false, onFailure };
  const message = `${head.message}: version ${head.version.tag}`;
  const conditions = [
    bakeFailureDisabled(circumstances),
    { type: READY, status: 'True' as const, reason: 'RolloutSucceeded', message },
  ];
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
  return takeTurn(rollout, budgets, offered, selection.next, now);
}

/** See healthSettlesAt. Nothing was healthy before a first deployment, and a person does not wait. */
function waitsForHealth(
  { healthChecks }: Observed,
  { bakes }: RolloutConfig,
  { history }: RolloutState,
  { selection }: Evaluation,
  now: EpochMs,
): EpochMs | undefined {
  return selection.manual || !bakes || history.length === 0 ? undefined : healthSettlesAt(healthChecks, now);
}

/** Remembered past the deployment: see shownBypass. */
function withShownBypass(state: RolloutState, { verdict: { condition } }: Evaluation, now: EpochMs): RolloutState {
  if (condition.reason !== 'GatesBypassed') return state;
  return { ...state, conditions: setConditions(state.conditions, [condition], now) };
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
  { selection, verdict, unhealthy, approvals, passed }: Evaluation,
  requests: Requests,
  now: EpochMs,
): Deployed {
  const { rollout, metadata, healthChecks, likeKuberik } = observed;
  const { manual, next: tag = '', back, initial = false } = selection;
  const [previous] = state.history;
  const kind = {
    manual,
    forced: manual && requests.forceDeploy === tag,
    bypassed: verdict.condition.reason === 'GatesBypassed' && requests.bypassGates === tag,
    unblocked: requests.unblockFailed && previous?.bakeStatus === 'Failed' && back === undefined,
    rollbackFrom: back?.from,
    initial,
  };
  const known = state.available.find((release) => release.tag === tag);
  const remembersHealth = !likeKuberik && healthCheckLabels(rollout.spec?.healthCheckSelector) !== undefined;
  const { history, events } = deploy(
    rollout,
    state.history,
    {
      ...kind,
      version: back?.to ?? withoutFirstSeen(known ?? withMetadata({ tag }, metadata[tag])),
      begins: beginning(observed, config, initial),
      approvals,
      bypass: bypassRecord(rollout, passed),
      ...givenWith(tag, requests),
      requestedBy: requesterOf(rollout, tag).by,
      knownHealth: remembersHealth ? knownHealth(sortedChecks(healthChecks), previous?.knownHealth) : undefined,
    },
    now,
  );
  const length = Math.max(config.historyLimit, lengthOfWayBack(history, config));
  const kept = history.slice(0, Math.min(length, LIMITS.history));
  const { unblocked } = kind;
  // Nothing has gone wrong with it: it gave way before Flux had applied it.
  const replaces = previous !== undefined && isBaking(previous) && isUnwatched(previous, rollout);
  const conditions = [
    bakeFailureDisabled({
      previous: replaces ? undefined : previous,
      manual,
      unblocked,
      onFailure: config.onFailure,
      unhealthy: unhealthy.length > 0,
    }),
    {
      type: READY,
      status: 'True' as const,
      reason: 'RolloutSucceeded',
      message: readyMessage(kind, history[0]!, rollout),
    },
  ];
  const retention = { days: config.retentionDays, minCount: config.minReleases };
  return {
    state: {
      history: kept,
      available: history.length > kept.length ? retained(state.available, kept, retention, now) : state.available,
      // Whoever deploys a version that was rolled back wants it tried again.
      rolledBack: [...state.rolledBack.filter((each) => each !== tag), ...(back ? [back.from] : [])],
      barriers: state.barriers,
      authors: state.authors,
      conditions: setConditions(state.conditions, conditions, now),
    },
    used: usedWith(tag, requests),
    events,
  };
}

/** As many as the history keeps approvals of. */
const MAX_GATES = 10;
const MAX_REASON = 256;

function bypassRecord(rollout: Rollout, passed: readonly GateResult[]): HistoryEntry['bypass'] {
  const given = passed.length > 0 ? givenReason(rollout) : undefined;
  if (!given) return undefined;
  const gates = passed.slice(0, MAX_GATES).map(({ ref }) => refKey(ref));
  return { by: given.by, at: formatTime(given.at), reason: oneLine(given.reason.slice(0, MAX_REASON)), gates };
}

/** A force-deploy of another version goes on waiting, with the message and user that were given for it. */
function isOfAnother(deployed: string, { forceDeploy }: Requests): boolean {
  return forceDeploy !== undefined && forceDeploy !== deployed;
}

function givenWith(deployed: string, requests: Requests): { message: string | undefined; user: string | undefined } {
  if (isOfAnother(deployed, requests)) return { message: undefined, user: undefined };
  const [message, user] = [requests.deployMessage, requests.deployUser].map((text) => text && oneLine(text));
  return { message, user };
}

/** Nothing else that was asked before a deployment may act on a later one. */
function usedWith(deployed: string, requests: Requests): RequestKey[] {
  const stays: readonly RequestKey[] = isOfAnother(deployed, requests) ? OF_FORCE_DEPLOY : [];
  return requests.pending.filter((key) => !stays.includes(key));
}

/** What is asked for now and would end up with a later deployment if it stayed. */
function usedInVain({ selection }: Evaluation, requests: Requests): RequestKey[] {
  const isAwaited =
    requests.forceDeploy !== undefined ||
    (selection.manual && (selection.next !== undefined || selection.problem !== undefined));
  // The message of a manual deployment that does not come.
  return requests.pending.filter((key) => !isAwaited && (key === 'deploy-message' || key === 'deploy-user'));
}
