/** The conditions of a Rollout. Types and reasons are in docs/rollouts.md; one that comes and goes is there only while it says something. */
import {
  COPIED,
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
import type { Waiting } from '../budget/turn.ts';
import { healthChecksLeftOut, healthChecksMissing } from '../deployment/healthChecks.ts';
import { progressing } from '../deployment/progressing.ts';
import { rollbackCondition } from '../deployment/rollback.ts';
import type { RolloutConfig } from '../evaluation/config.ts';
import type { Evaluation, RolloutState } from '../evaluation/evaluation.ts';
import type { Observed } from '../evaluation/observed.ts';
import type { Requests } from '../evaluation/requests.ts';
import { type NewCondition, setCondition } from '../kube/conditions.ts';
import {
  copied,
  deploymentBlocked,
  firstDeploymentNotGated,
  pinned,
  waitingForRolloutGates,
  waitingForRollouts,
} from './blocked.ts';
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
  const gates = waitingForRolloutGates(observed, evaluation);
  const passing: [type: string, NewCondition | undefined][] = [
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
  const over = new Set(passing.flatMap(([type, condition]) => (condition ? [] : [type])));
  const blocked = deploymentBlocked(observed, state, evaluation, config);
  const ready = readyNow(
    observed,
    state,
    evaluation,
    [blocked, ...(order ? [order] : []), ...(waiting ? [waiting.condition] : []), ...(gates ? [gates] : [])],
    requests,
    problems,
  );
  const said = [
    evaluation.verdict.condition,
    blocked,
    ...passing.flatMap(([, condition]) => condition ?? []),
    ...(ready ? [ready] : []),
  ];
  return setConditions(
    state.conditions.filter(({ type }) => !over.has(type)),
    said,
    now,
  );
}
