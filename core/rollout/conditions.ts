/** The conditions of a Rollout. Types, reasons and the texts that clients match are in docs/rollouts.md and docs/compatibility.md. */
import { DEPLOYMENT_BLOCKED, GATE_CLOSED, HEALTH_CHECKS_LEFT_OUT, READY, ROLLED_BACK } from '../../api/conditions.ts';
import type { Condition, EpochMs } from '../../api/kubernetes.ts';
import type { HistoryEntry } from '../../api/types.ts';
import { isBaking } from '../deployment/bake.ts';
import { healthChecksLeftOut } from '../deployment/healthChecks.ts';
import { bakeSummary, MARKED_SUCCESSFUL } from '../deployment/messages.ts';
import { rollbackCondition } from '../deployment/rollback.ts';
import { closedText } from '../gate/judge.ts';
import { findCondition, type NewCondition, setCondition } from '../kube/conditions.ts';
import { RELEASE_TOO_YOUNG, type YoungRelease } from '../release/age.ts';
import { foreignMessage, notInstalledMessage } from './configMap.ts';
import type { Evaluation, RolloutState } from './evaluation.ts';
import type { Observed } from './observed.ts';
import type { Requests } from './requests.ts';
import { isForward } from './select.ts';

/** Reasons of DeploymentBlocked that Ready repeats while there is nothing deployed. */
const UNTIL_IT_PASSES: readonly string[] = [GATE_CLOSED, RELEASE_TOO_YOUNG];

/** The CRD's limit for a condition's message. */
const MAX_MESSAGE = 32_768;

/** Sets each in turn. */
export function setConditions(
  conditions: readonly Condition[],
  all: readonly NewCondition[],
  now: EpochMs,
): readonly Condition[] {
  return all.reduce<readonly Condition[]>(
    (list, each) => setCondition(list, { ...each, message: each.message.slice(0, MAX_MESSAGE) }, now),
    conditions,
  );
}

/** All conditions once a decision has been made. `requests`: those that are not used up. */
export function nextConditions(
  observed: Observed,
  { state, evaluation }: { state: RolloutState; evaluation: Evaluation },
  requests: Requests,
  problems: readonly string[],
  now: EpochMs,
): readonly Condition[] {
  const { rollout } = observed;
  const passing: [type: string, NewCondition | undefined][] = [
    [ROLLED_BACK, rollbackCondition(state.history, evaluation.rollback, evaluation.closed)],
    [HEALTH_CHECKS_LEFT_OUT, healthChecksLeftOut(observed.healthLeftOut, rollout)],
  ];
  const over = new Set(passing.flatMap(([type, condition]) => (condition ? [] : [type])));
  const ready = readyNow(observed, state, evaluation, requests, problems);
  const said = [
    evaluation.verdict.condition,
    deploymentBlocked(evaluation),
    ...passing.flatMap(([, condition]) => condition ?? []),
    ...(ready ? [ready] : []),
  ];
  return setConditions(
    state.conditions.filter(({ type }) => !over.has(type)),
    said,
    now,
  );
}

/** A problem outweighs the state of the deployment while it lasts; afterwards that state is restored. Undefined: Ready stays. */
function readyNow(
  observed: Observed,
  { history, available, conditions }: RolloutState,
  evaluation: Evaluation,
  requests: Requests,
  problems: readonly string[],
): NewCondition | undefined {
  const [head] = history;
  const { selection } = evaluation;
  const all = [
    ...problems,
    ...(selection.problem ? [selection.problem] : []),
    ...otherProblems(observed, available, requests),
  ];
  const isIdle = !isBaking(head) && head?.bakeStatus !== 'Failed';
  if (all.length > 0) return rolloutFailed(all);
  if (available.length === 0 && isIdle && !selection.manual) return NO_RELEASES;
  return isPassing(findCondition(conditions, READY)) ? readyOf(head, deploymentBlocked(evaluation)) : undefined;
}

function otherProblems(
  { rollout, configMapIsForeign, configMapUnsupported }: Observed,
  available: RolloutState['available'],
  { bypassGates }: Requests,
): string[] {
  // The request stays, for the version may come: the next deployment uses it up, whichever it is.
  const isUnknown = bypassGates !== undefined && !available.some(({ tag }) => tag === bypassGates);
  return [
    ...(isUnknown ? [`bypass gates version ${bypassGates} is not in available releases`] : []),
    ...(configMapIsForeign ? [foreignMessage(rollout)] : []),
    ...(configMapUnsupported ? [notInstalledMessage(rollout)] : []),
  ];
}

function deploymentBlocked({ selection, unhealthy, pending, closed, young }: Evaluation): NewCondition {
  const waits = closed.length > 0 ? [`Version ${pending} is waiting approval, ${closedText(closed)}`] : [];
  const sick = isForward(selection) && unhealthy !== undefined ? [unhealthy] : [];
  const message = [...sick, ...waits].join('; ');
  if (sick.length > 0) return blocked('True', 'UnhealthyHealthChecks', message);
  if (waits.length > 0) return blocked('True', GATE_CLOSED, message);
  if (pending === undefined && young[0] && isForward(selection)) return tooYoung(young[0]);
  return blocked('False', selection.manual ? 'ManualDeployment' : 'HealthChecksHealthy', '');
}

function tooYoung({ tag, deployableAt }: YoungRelease): NewCondition {
  const message = `Version ${tag} may be deployed from ${deployableAt} on: spec.minimumReleaseAge counts from when it was first seen`;
  return blocked('True', RELEASE_TOO_YOUNG, message);
}

function blocked(status: 'True' | 'False', reason: string, message: string): NewCondition {
  return { type: DEPLOYMENT_BLOCKED, status, reason, message };
}

const NO_RELEASES: NewCondition = ready('False', 'RolloutSucceeded', 'No releases available');

function rolloutFailed(problems: readonly string[]): NewCondition {
  return ready('False', 'RolloutFailed', problems.join('; '));
}

/** Whether Ready tells of something that may be over by now, so that it must be restored. */
export function isPassing(condition: Condition | undefined): boolean {
  if (!condition) return true;
  return (
    condition.status === 'False' && ['RolloutFailed', 'RolloutSucceeded', ...UNTIL_IT_PASSES].includes(condition.reason)
  );
}

/** Ready as the deployment itself would have it. */
function readyOf(head: HistoryEntry | undefined, waits: NewCondition): NewCondition {
  if (!head) {
    if (UNTIL_IT_PASSES.includes(waits.reason)) return ready('False', waits.reason, waits.message);
    return ready('False', 'RolloutSucceeded', 'No release candidates found');
  }
  const said = head.bakeStatusMessage ?? '';
  if (head.bakeStatus === 'Failed') return ready('False', 'BakeTimeFailed', said || bakeSummary(head));
  if (head.lastRetryTimestamp && head.bakeStatus !== 'Succeeded') {
    return ready('False', 'BakeTimeFailed', 'The deployment failed and is being retried.');
  }
  if (said.startsWith(MARKED_SUCCESSFUL)) return ready('True', 'DeploymentMarkedSuccessful', said);
  if (head.bakeStatus === 'Succeeded' && head.bakeStartTime) return ready('True', 'BakeTimePassed', said);
  return ready('True', 'RolloutSucceeded', `Release deployed successfully. ${bakeSummary(head)}`);
}

function ready(status: 'True' | 'False', reason: string, message: string): NewCondition {
  return { type: READY, status, reason, message };
}
