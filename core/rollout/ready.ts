/**
 * Ready of a Rollout. Reasons and the texts that clients match are in docs/reference/conditions.md and
 * docs/compatibility.md.
 */
import { READY } from '../../api/conditions.ts';
import type { Condition } from '../../api/kubernetes.ts';
import type { HistoryEntry, Rollout } from '../../api/types.ts';
import { falseCondition, findCondition, type NewCondition, trueCondition } from '../kube/conditions.ts';
import { isUnfinished } from './deployment/bake.ts';
import { bakeSummary, deploymentSummary, MARKED_SUCCESSFUL, readyMessage } from './deployment/deploymentMessages.ts';
import { hasNoBake } from './deployment/withoutBake.ts';
import { READY_REASONS } from './evaluation/blockers.ts';
import type { Evaluation } from './evaluation/evaluation.ts';
import type { Observed, RolloutState } from './evaluation/inputs.ts';
import type { Requests } from './evaluation/rolloutRequests.ts';

/**
 * The condition Ready; undefined if it stays as it is. A problem hides the state of the deployment while it lasts.
 * @param waits the conditions of waits, which Ready repeats before the first deployment
 */
export function readyNow(
  observed: Observed,
  { history, available, conditions }: RolloutState,
  { selection }: Evaluation,
  waits: readonly NewCondition[],
  requests: Requests,
  problems: readonly string[],
): NewCondition | undefined {
  const [head] = history;
  const all = [
    ...problems,
    ...(selection.problem ? [selection.problem] : []),
    ...otherProblems(observed, available, requests),
  ];
  const isIdle = !isUnfinished(head) && head?.bakeStatus !== 'Failed';
  if (all.length > 0) return falseCondition(READY, 'RolloutFailed', all.join('; '));
  if (available.length === 0 && isIdle && !selection.manual) return NO_RELEASES;
  const before = findCondition(conditions, READY);
  if (isTemporary(before)) return restoredReady(head, observed.rollout, waits);
  return head && before ? progressReady(head, observed.rollout, before) : undefined;
}

function otherProblems(
  { configMapProblem }: Observed,
  available: RolloutState['available'],
  { bypassGates }: Requests,
): string[] {
  // The request stays, because the version may be discovered later. Any deployment uses it up.
  const isUnknown = bypassGates !== undefined && !available.some(({ tag }) => tag === bypassGates);
  return [
    ...(isUnknown ? [`bypass gates version ${bypassGates} is not in available releases`] : []),
    ...(configMapProblem ? [configMapProblem] : []),
  ];
}

const NO_RELEASES: NewCondition = falseCondition(READY, 'RolloutSucceeded', 'No releases available');

/** Whether Ready has reported a problem or a wait, which may be over by now. */
export function isTemporary(condition: Condition | undefined): boolean {
  if (!condition) return true;
  return (
    condition.status === 'False' && ['RolloutFailed', 'RolloutSucceeded', ...READY_REASONS].includes(condition.reason)
  );
}

/** Ready restored from the newest deployment, or from the waits before the first one. */
function restoredReady(head: HistoryEntry | undefined, rollout: Rollout, waits: readonly NewCondition[]): NewCondition {
  if (!head) {
    const shown = waits.map((wait) => (READY_REASONS.includes(wait.type) ? { ...wait, reason: wait.type } : wait));
    const wait = shown.find(({ reason }) => READY_REASONS.includes(reason));
    if (wait) return { ...wait, ...falseCondition(READY, wait.reason, wait.message) };
    return falseCondition(READY, 'RolloutSucceeded', 'No release candidates found');
  }
  const message = head.bakeStatusMessage ?? '';
  if (head.bakeStatus === 'Failed') return falseCondition(READY, 'BakeTimeFailed', message || bakeSummary(head));
  if (head.lastRetryTimestamp && head.bakeStatus !== 'Succeeded') {
    return falseCondition(READY, 'BakeTimeFailed', 'The deployment failed and is being retried.');
  }
  // The only message that code reads: the Go controller's dashboard marks a bake successful by this text alone.
  if (message.startsWith(MARKED_SUCCESSFUL)) return trueCondition(READY, 'DeploymentMarkedSuccessful', message);
  if (head.bakeStatus === 'Succeeded' && head.bakeStartTime) return trueCondition(READY, 'BakeTimePassed', message);
  return trueCondition(READY, 'RolloutSucceeded', `Release deployed successfully. ${deploymentSummary(head, rollout)}`);
}

/** Ready while the newest deployment progresses: its origin, and the state of its bake; undefined if Ready stays. */
function progressReady(head: HistoryEntry, rollout: Rollout, before: Condition): NewCondition | undefined {
  const origin = new Set(head.origin);
  const isApplied = head.bakeStatus === 'Succeeded' && hasNoBake(head, rollout);
  if (origin.has('Adopted') || !(isUnfinished(head) || isApplied) || before.reason !== 'RolloutSucceeded')
    return undefined;
  const ways = { bypassed: origin.has('GateBypass'), unblocked: origin.has('FailedBakeUnblock') };
  return trueCondition(READY, 'RolloutSucceeded', readyMessage(ways, head, rollout));
}
