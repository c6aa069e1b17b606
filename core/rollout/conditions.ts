/** The Rollout's conditions that tell of its whole state: Ready and DeploymentBlocked (reference section 1.4). */
import { DEPLOYMENT_BLOCKED, GATE_CLOSED, READY } from '../../api/conditions.ts';
import type { Condition } from '../../api/kubernetes.ts';
import type { HistoryEntry } from '../../api/types.ts';
import { bakeSummary, MARKED_SUCCESSFUL } from '../deployment/messages.ts';
import type { JudgedGate } from '../gate/judge.ts';
import { refKey } from '../gate/refs.ts';
import type { NewCondition } from '../kube/conditions.ts';
import type { Situation } from './evaluation.ts';
import { isForward } from './select.ts';

export function deploymentBlocked({ selection, unhealthy, pending, closed }: Situation): NewCondition {
  const waits = closed.length > 0 ? [`Version ${pending} is waiting approval, ${closedText(closed)}`] : [];
  const sick = isForward(selection) && unhealthy !== undefined ? [unhealthy] : [];
  const message = [...sick, ...waits].join('; ');
  if (sick.length > 0) return blocked('True', 'UnhealthyHealthChecks', message);
  if (waits.length > 0) return blocked('True', GATE_CLOSED, message);
  return blocked('False', selection.manual ? 'ManualDeployment' : 'HealthChecksHealthy', '');
}

/** Each closed Gate in a few words, for a condition that everybody in the namespace reads. */
export function closedText(closed: readonly JudgedGate[]): string {
  const texts = closed.map(({ ref, message, missing, isLimit }) =>
    missing || isLimit ? message : `gate '${refKey(ref)}' is closed (${message})`,
  );
  return texts.join(', ');
}

function blocked(status: 'True' | 'False', reason: string, message: string): NewCondition {
  return { type: DEPLOYMENT_BLOCKED, status, reason, message };
}

export const NO_RELEASES: NewCondition = ready('False', 'RolloutSucceeded', 'No releases available');

export function rolloutFailed(problems: readonly string[]): NewCondition {
  return ready('False', 'RolloutFailed', problems.join('; '));
}

/** Whether Ready tells of something that may be over by now, so that it must be restored (quirk Q9). */
export function isPassing(condition: Condition | undefined): boolean {
  if (!condition) return true;
  return condition.status === 'False' && ['RolloutFailed', 'RolloutSucceeded', GATE_CLOSED].includes(condition.reason);
}

/** Ready as the deployment itself would have it. */
export function readyOf(head: HistoryEntry | undefined, waits: NewCondition): NewCondition {
  if (!head) {
    if (waits.reason === GATE_CLOSED) return ready('False', GATE_CLOSED, waits.message);
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
