/** Specs that are nested too deeply to be compared. How large an object may be is for the API server's policy: manifests/policies/object-sizes.yaml. */
import type { FluxObject } from '../../api/flux.ts';
import { isDeeperThan, sameJson } from '../kube/json.ts';
import { LIMITS } from '../limits.ts';

/**
 * The sentence that refuses a spec too deep to be compared field by field. What is stored already stays writable beside its spec:
 * else whoever nests deep enough could not be suspended.
 */
export function refuseNesting(object: FluxObject, oldObject: FluxObject | undefined): string | undefined {
  if (!isDeeperThan(LIMITS.nesting, object.spec)) return undefined;
  if (oldObject && sameJson(besideSuspend(object), besideSuspend(oldObject))) return undefined;
  return `spec is nested more than ${LIMITS.nesting} levels deep, which is the limit for what Gates and Rollouts hold: nest it less deeply.`;
}

function besideSuspend({ spec }: FluxObject): unknown {
  const { suspend: _, ...rest } = spec ?? {};
  return rest;
}
