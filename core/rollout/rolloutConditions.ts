/**
 * The conditions of a Rollout.
 * Types and reasons are in docs/rollouts.md; a transient condition exists only while it applies.
 */
import {
  COPIED,
  DEPLOYMENT_BLOCKED,
  FIRST_DEPLOYMENT_NOT_GATED,
  HEALTH_CHECKS_LEFT_OUT,
  HEALTH_CHECKS_MISSING,
  PINNED,
  PROGRESSING,
  ROLLED_BACK,
  WAITING_FOR_BUDGET,
  WAITING_FOR_ROLLOUT_GATES,
  WAITING_FOR_ROLLOUTS,
} from '../../api/conditions.ts';
import type { Condition, EpochMs } from '../../api/kubernetes.ts';
import type { Blocker, FluxBinding, HealthCheck, HistoryEntry, Rollout } from '../../api/types.ts';
import type { Waiting } from '../budget/turn.ts';
import { falseCondition, type NewCondition, setCondition, trueCondition } from '../kube/conditions.ts';
import { formatTime, parseTime } from '../kube/time.ts';
import { type BakeTimes, deployDeadline, isBaking } from './deployment/bake.ts';
import {
  type FailedCheck,
  healthChecksLeftOut,
  healthChecksMissing,
  notReady,
  unhealthyMessage,
} from './deployment/healthChecks.ts';
import { boundTo, targetName, unapplied } from './deployment/progress.ts';
import { rollbackCondition } from './deployment/rollback.ts';
import { BLOCKER_KINDS } from './evaluation/blockers.ts';
import type { Evaluation, RolloutState } from './evaluation/evaluation.ts';
import type { Observed, RolloutConfig } from './evaluation/inputs.ts';
import { isForward } from './evaluation/nextVersion.ts';
import { allowsNothing, namesInTheWay, rolloutGatesOf } from './evaluation/rolloutGates.ts';
import { type Requests, requestedText } from './evaluation/rolloutRequests.ts';
import { readyNow } from './ready.ts';

/** Sets each in turn. */
export function setConditions(
  conditions: readonly Condition[],
  all: readonly NewCondition[],
  now: EpochMs,
): readonly Condition[] {
  return all.reduce<readonly Condition[]>((list, each) => setCondition(list, each, now), conditions);
}

/** All conditions once a decision has been made. `requests`: those that are not used up. */
export function nextConditions(
  observed: Observed,
  config: RolloutConfig,
  { state, evaluation, waiting }: { state: RolloutState; evaluation: Evaluation; waiting?: Waiting },
  requests: Requests,
  problems: readonly string[],
  now: EpochMs,
): readonly Condition[] {
  const { rollout } = observed;
  const order = waitingForRollouts(observed, evaluation);
  const gates = waitingForRolloutGates(observed, evaluation, config.gateFirstDeployment || state.history.length > 0);
  const transient: [type: string, NewCondition | undefined][] = [
    [ROLLED_BACK, rollbackCondition(state.history, evaluation.rollback, evaluation.closed)],
    [PROGRESSING, progressing(state.history[0], observed, config)],
    [WAITING_FOR_ROLLOUT_GATES, gates],
    [WAITING_FOR_ROLLOUTS, order],
    [WAITING_FOR_BUDGET, waiting?.condition],
    [COPIED, copied(evaluation)],
    [PINNED, pinned(observed, evaluation, requests)],
    [FIRST_DEPLOYMENT_NOT_GATED, firstDeploymentNotGated(observed, state, config)],
    [HEALTH_CHECKS_LEFT_OUT, healthChecksLeftOut(observed.healthLeftOut, rollout)],
    [HEALTH_CHECKS_MISSING, healthChecksMissing(observed, rollout)],
  ];
  const over = new Set(transient.flatMap(([type, condition]) => (condition ? [] : [type])));
  const blocked = deploymentBlocked(observed, state, evaluation, config);
  const ready = readyNow(
    observed,
    state,
    evaluation,
    [blocked, ...(order ? [order] : []), ...(waiting ? [waiting.condition] : []), ...(gates ? [gates] : [])],
    requests,
    problems,
  );
  const conditions = [
    evaluation.rolloutGatesResult.condition,
    blocked,
    ...transient.flatMap(([, condition]) => condition ?? []),
    ...(ready ? [ready] : []),
  ];
  return setConditions(
    state.conditions.filter(({ type }) => !over.has(type)),
    conditions,
    now,
  );
}

// What keeps the next version out, in the conditions of its Rollout: every wait has a sentence.

/** The first blocker gives the reason; the message names all. */
function deploymentBlocked(
  { rollout }: Observed,
  { history: [head] }: RolloutState,
  evaluation: Evaluation,
  config: RolloutConfig,
): NewCondition {
  const { selection, unhealthy, pending: version, blockers, young } = evaluation;
  // As in the Go controller: whether a version waits or not.
  const health = isForward(selection)
    ? unhealthy.slice(0, 1).map((check) => ({ reason: UNHEALTHY, text: unhealthyMessage(check), commands: [] }))
    : [];
  const requested = selection.manual && version !== undefined ? requestedText(rollout, version) : '';
  const inputs = { by: requested && `, ${requested},`, head, config, evaluation };
  const waits = BLOCKER_KINDS.flatMap(({ type, sentence }) => {
    if (!sentence) return [];
    const first = blockers.find((each) => each.type === type && each.version === version && isReported(each));
    if (!first || version === undefined) return [];
    const found = sentence({ ...inputs, version });
    const { text, commands = [] } = typeof found === 'string' ? { text: found } : found;
    return [{ reason: first.reason, text, commands }];
  });
  const all = [...health, ...waits];
  if (all[0]) {
    const commands = all.flatMap((each) => each.commands);
    return { ...trueCondition(DEPLOYMENT_BLOCKED, all[0].reason, all.map(({ text }) => text).join('; ')), commands };
  }
  const age = blockers.find(({ type }) => type === 'MinimumAge');
  if (age && young[0]) {
    const why = 'spec.minimumReleaseAge counts from when it was first seen';
    return trueCondition(
      DEPLOYMENT_BLOCKED,
      age.reason,
      `Version ${young[0].tag} waits until ${young[0].deployableAt}: ${why}`,
    );
  }
  return falseCondition(DEPLOYMENT_BLOCKED, selection.manual ? 'ManualDeployment' : 'HealthChecksHealthy', '');
}

const UNHEALTHY = 'UnhealthyHealthChecks';

/** RolledBack reports what a rollback waits for before its target is known. */
function isReported({ type, effect }: Blocker): boolean {
  return type !== 'Failure' || effect === 'Blocks';
}

/** Whether spec.targetRepository has the release. */
function copied({ copy }: Evaluation): NewCondition | undefined {
  if (!copy) return undefined;
  const { version, url, progress } = copy;
  if (progress.state !== 'Copied') {
    const reason = progress.state === 'Copying' ? 'Copying' : 'CopyFailed';
    return falseCondition(COPIED, reason, `Version ${version.tag} is not in ${url}: ${progress.message}`);
  }
  const { digest, bytes, uploadedBytes } = progress.copy;
  const as = digest === undefined ? '' : ` as ${digest}`;
  const sent =
    bytes === undefined || uploadedBytes === undefined ? '' : `: ${uploadedBytes} of ${bytes} bytes were sent`;
  return trueCondition(COPIED, 'Copied', `Version ${version.tag} is in ${url}${as}${sent}`);
}

/** GatesPassing has the texts of the Go controller, which name no gate. */
function waitingForRolloutGates(
  { rollout, rolloutGates }: Observed,
  { selection, pending, blockers, candidates, rolloutGatesResult }: Evaluation,
  isGated: boolean,
): NewCondition | undefined {
  if (pending === undefined) return undefined;
  const waits = (names: string) =>
    trueCondition(WAITING_FOR_ROLLOUT_GATES, 'RolloutGatesBlocking', `Version ${pending} waits for ${names}`);
  if (selection.initial) {
    return blockers.some(({ reason }) => reason === 'RolloutGatesBlocking')
      ? waits(namesInTheWay(rolloutGatesOf(rollout, rolloutGates), [{ tag: pending }]))
      : undefined;
  }
  const { promoted } = rolloutGatesResult;
  const isHeld = isGated ? allowsNothing(rolloutGatesResult) : promoted.length === 0;
  if (!isHeld || !isForward(selection)) return undefined;
  // If upstream Rollouts let nothing through, RolloutGates are named only if they would not either.
  const names = namesInTheWay(rolloutGatesOf(rollout, rolloutGates), promoted.length > 0 ? promoted : candidates);
  if (names === '' && promoted.length === 0) return undefined;
  return waits(names || 'RolloutGates without a common allowed version');
}

/** Which upstream Rollouts are waited for, and why; a broken order is reported even while no version waits. */
function waitingForRollouts(
  { upstream }: Observed,
  { pending, blockers, upstream: verdicts }: Evaluation,
): NewCondition | undefined {
  if (upstream?.problem) {
    const { reason, message } = upstream.problem;
    return trueCondition(
      WAITING_FOR_ROLLOUTS,
      reason,
      `${message}: no version is deployed automatically until it is corrected`,
    );
  }
  if (!blockers.some(({ type, version }) => type === 'Upstream' && version !== undefined)) return undefined;
  const names = verdicts.flatMap(({ waits }) => waits ?? []);
  const reason = verdicts.some(({ isMissing }) => isMissing) ? 'RolloutNotFound' : 'NotSucceeded';
  return trueCondition(WAITING_FOR_ROLLOUTS, reason, `Version ${pending} waits for ${names.join(', ')}`);
}

/** A pinned Rollout looks healthy: it must say itself what it holds back. */
function pinned(
  { rollout }: Observed,
  { candidates }: Evaluation,
  { forceDeploy }: Requests,
): NewCondition | undefined {
  const wanted = rollout.spec?.wantedVersion;
  if (!wanted) return undefined;
  const newer = candidates.find(({ tag }) => tag !== wanted)?.tag;
  const parts = [
    `spec.wantedVersion pins version ${wanted}: newer versions wait until it is removed`,
    ...(newer === undefined ? [] : [`${newer} is available`]),
    ...(forceDeploy === undefined || forceDeploy === wanted ? [] : [waitingText(forceDeploy, rollout)]),
  ];
  return trueCondition(PINNED, 'WantedVersion', parts.join('; '));
}

function waitingText(forceDeploy: string, rollout: Rollout): string {
  const by = requestedText(rollout, forceDeploy);
  return `the force-deploy of ${forceDeploy}${by && `, ${by},`} waits`;
}

/** The first version went out although RolloutGates would have held any other. */
function firstDeploymentNotGated(
  { rollout, rolloutGates }: Observed,
  { history }: RolloutState,
  { gateFirstDeployment }: RolloutConfig,
): NewCondition | undefined {
  const [head, ...older] = history;
  const isAutomatic = head?.id === 1 && older.length === 0 && head.origin?.[0] === 'Automatic';
  if (!head || !isAutomatic || gateFirstDeployment) return undefined;
  const names = namesInTheWay(rolloutGatesOf(rollout, rolloutGates), [head.version]);
  if (names === '') return undefined;
  const message =
    `Version ${head.version.tag} was deployed although ${names} would have held it: RolloutGates do not hold the first deployment of ` +
    'this Rollout. With spec.gateFirstDeployment: true they do';
  return trueCondition(FIRST_DEPLOYMENT_NOT_GATED, 'RolloutGatesBlocking', message);
}

// What an unfinished deployment waits for, and since when: nothing waits without saying why.

/** Beyond that the message only says that there are more: each change of it is a write of the status. */
const NAMED_IN_MESSAGE = 3;

/** undefined if the newest deployment is over. It names stored times only: the same state gives the same message. */
function progressing(
  head: HistoryEntry | undefined,
  {
    rollout,
    bindings,
    healthChecks,
  }: { rollout: Rollout; bindings: readonly FluxBinding[]; healthChecks: readonly HealthCheck[] },
  times: BakeTimes,
): NewCondition | undefined {
  if (!head || !isBaking(head)) return undefined;
  const { tag } = head.version;
  const started = parseTime(head.bakeStartTime);
  if (started !== undefined) {
    const waiting = notReady(healthChecks, head, rollout.metadata.namespace);
    const end = times.bakeTime === undefined ? undefined : started + times.bakeTime;
    const until = end === undefined ? '' : ` until ${formatTime(end)}`;
    if (waiting.length === 0)
      return trueCondition(
        PROGRESSING,
        'Baking',
        `Version ${tag} is baking${until}: a failing HealthCheck ends the bake`,
      );
    return trueCondition(
      PROGRESSING,
      'WaitingForHealth',
      `Version ${tag} bakes${until}, and then until ${checkNames(waiting)} ${waiting.length === 1 ? 'is' : 'are'} Healthy${bakeEndOf(end, times)}`,
    );
  }
  const missing = unapplied(head, boundTo(rollout, bindings), rollout);
  if (missing.length > 0) {
    const held = head.waitingSince === undefined ? '' : `. A closed gate has held it since ${head.waitingSince}`;
    const message = `Version ${tag} waits for ${named(missing.map(targetName), 'objects')} to apply it, since ${sinceOf(head)}`;
    return trueCondition(PROGRESSING, 'WaitingForApply', `${message}${held}${endOf(head, times)}`);
  }
  const checks = notReady(healthChecks, head, rollout.metadata.namespace);
  const since = head.appliedTime ?? sinceOf(head);
  const message = `Version ${tag} waits for ${checkNames(checks)} to become Healthy, since ${since}`;
  return trueCondition(PROGRESSING, 'WaitingForHealth', `${message}${endOf(head, times)}`);
}

function sinceOf(head: HistoryEntry): string {
  return head.lastRetryTimestamp ?? head.timestamp;
}

/** While a closed Gate holds it, the deadline moves on with the clock. */
function endOf(head: HistoryEntry, times: BakeTimes): string {
  if (times.deployTimeout === undefined) return '. No spec.deployTimeout is set: nothing else ends this wait';
  if (head.waitingSince !== undefined) return '';
  const deadline = deployDeadline(head, times);
  return deadline === undefined ? '' : `. It fails at ${formatTime(deadline)}`;
}

function bakeEndOf(end: EpochMs | undefined, { deployTimeout }: BakeTimes): string {
  if (deployTimeout === undefined) return '. No spec.deployTimeout is set: nothing else ends this wait';
  return end === undefined ? '' : `. It fails at ${formatTime(end + deployTimeout)}`;
}

function checkNames(checks: readonly FailedCheck[]): string {
  return named(checks.map(({ name, namespace }) => `HealthCheck '${namespace}/${name}'`).sort(), 'HealthChecks');
}

function named(names: readonly string[], what: string): string {
  if (names.length > NAMED_IN_MESSAGE) return `more than ${NAMED_IN_MESSAGE} ${what}`;
  return names.length > 0 ? names.join(', ') : what;
}
