/** Deployments without bake settings: over once Flux has applied them, and the next version need not wait for that. */
import type { HistoryEntry, Rollout } from '../../../api/types.ts';

/** Whether new deployments of the Rollout bake. */
export function bakes({ spec }: Pick<Rollout, 'spec'>): boolean {
  return spec?.bakeTime !== undefined || spec?.deployTimeout !== undefined || spec?.healthCheckSelector !== undefined;
}

/**
 * Whether the deployment needs no bake.
 * A bake that has begun, or that knows HealthChecks, stays one when its settings are removed.
 */
export function hasNoBake(head: HistoryEntry, rollout: Pick<Rollout, 'spec'>): boolean {
  return !bakes(rollout) && head.bakeStartTime === undefined && !head.knownHealth?.length;
}
