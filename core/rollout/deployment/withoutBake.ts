/** Deployments without bake settings: they end once Flux has applied them, and the next version doesn't wait for it. */
import type { HistoryEntry, Rollout } from '../../../api/types.ts';

/** Whether new deployments of the Rollout bake. */
export function bakes({ spec }: Pick<Rollout, 'spec'>): boolean {
  return spec?.bakeTime !== undefined || spec?.deployTimeout !== undefined || spec?.healthCheckSelector !== undefined;
}

/** Whether the deployment needs no bake. A bake that has started, or recorded HealthChecks, stays without settings. */
export function hasNoBake(head: HistoryEntry, rollout: Pick<Rollout, 'spec'>): boolean {
  return !bakes(rollout) && head.bakeStartTime === undefined && !head.knownHealth?.length;
}
