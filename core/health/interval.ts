/** How often a HealthCheck of class kustomization is looked at again. */
import { HEALTHCHECK_REQUEUE_INTERVAL } from '../../api/annotations.ts';
import type { HealthCheck } from '../../api/types.ts';
import { parseDuration } from '../kube/duration.ts';

const DEFAULT_MS = 30_000;
const MIN_MS = 5_000;

/** Milliseconds: 30 s where the annotation is absent or does not parse, at least 5 s. */
export function requeueInterval(healthCheck: HealthCheck): number {
  const wanted = parseDuration(healthCheck.metadata.annotations?.[HEALTHCHECK_REQUEUE_INTERVAL]) ?? DEFAULT_MS;
  return Math.max(wanted, MIN_MS);
}
