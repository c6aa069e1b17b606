/** Recovery mode: a deployment made during trouble is not failed by that trouble. */
import { BAKE_FAILURE_DISABLED } from '../../../api/conditions.ts';
import type { HistoryEntry } from '../../../api/types.ts';
import type { NewCondition } from '../../kube/conditions.ts';
import type { OnFailure } from './rollback.ts';

export interface Circumstances {
  previous: HistoryEntry | undefined;
  manual: boolean;
  /** A person let the deployment pass a failed one. */
  unblocked: boolean;
  onFailure: OnFailure;
  unhealthy: boolean;
}

/** Decided once, when the deployment is made. */
export function bakeFailureDisabled({
  previous,
  manual,
  unblocked,
  onFailure,
  unhealthy,
}: Circumstances): NewCondition {
  const before = previous?.bakeStatus;
  // Without Hold the next version, or the last good one, follows a failed one as a matter of course, with a full bake.
  const matterOfCourse = before === 'Failed' && onFailure !== 'Hold' && !manual && !unblocked;
  if (before && before !== 'Succeeded' && !matterOfCourse) {
    const what = before === 'Failed' ? 'failed' : 'was cancelled';
    return disabled('PreviousBakeFailed', `Previous deployment ${what}.`);
  }
  if (manual && unhealthy) return disabled('DeployedWithUnhealthyHealthChecks', 'Deployed during an active incident.');
  return { type: BAKE_FAILURE_DISABLED, status: 'False', reason: 'Normal', message: '' };
}

function disabled(reason: string, why: string): NewCondition {
  const message = `${why} Health check failures will not fail this deployment.`;
  return { type: BAKE_FAILURE_DISABLED, status: 'True', reason, message };
}
