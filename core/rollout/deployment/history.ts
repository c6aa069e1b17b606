/** The state of a deployment, and whether it counts, by its entry in the history. */
import type { HistoryEntry, Rollout } from '../../../api/types.ts';

/** Whether the deployment has not ended: it waits to be applied or for health, or it bakes. */
export function isUnfinished(head: HistoryEntry | undefined): boolean {
  return head?.bakeStatus === 'Deploying' || head?.bakeStatus === 'InProgress';
}

/** Whether the bake itself has begun: all bound objects are applied, and all checks were Healthy. */
export function hasBakeBegun(head: HistoryEntry): boolean {
  return head.bakeStatus === 'InProgress';
}

/** Whether a user requested this deployment. */
export function isManual({ requestedBy, triggeredBy }: HistoryEntry): boolean {
  return requestedBy !== undefined || triggeredBy?.kind === 'User';
}

// The versions that count as succeeded. The newest deployment of a version decides: after a later failure, an earlier
// success is no reason to deploy the version again.

/** Whether the deployment counts for its version: not if it was cancelled before it had a result. */
export function isCounted({ bakeStatus, lastRetryTimestamp }: HistoryEntry): boolean {
  return bakeStatus !== 'Cancelled' || lastRetryTimestamp !== undefined;
}

/** The deployment that succeeded of each tag that counts as succeeded, the newest first. */
export function succeededDeployments(history: readonly HistoryEntry[]): HistoryEntry[] {
  const decided = new Set<string>();
  return history.filter((entry) => {
    const { tag } = entry.version;
    if (!isCounted(entry) || decided.has(tag)) return false;
    decided.add(tag);
    return entry.bakeStatus === 'Succeeded';
  });
}

// Deployments without bake settings: they end once Flux has applied them, and the next version doesn't wait for it.

/** Whether new deployments of the Rollout bake. */
export function bakes({ spec }: Pick<Rollout, 'spec'>): boolean {
  return spec?.bakeTime !== undefined || spec?.deployTimeout !== undefined || spec?.healthCheckSelector !== undefined;
}

/** Whether the deployment needs no bake. A bake that has started, or recorded HealthChecks, stays without settings. */
export function hasNoBake(head: HistoryEntry, rollout: Pick<Rollout, 'spec'>): boolean {
  return !bakes(rollout) && head.bakeStartTime === undefined && !head.knownHealth?.length;
}
