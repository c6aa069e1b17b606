/** Whether a Rollout as a cache has it is still the stored one, in everything that a deployment is decided from. */
import type { Rollout } from '../../api/types.ts';
import { sameJson } from './revision.ts';

/** `live`: undefined where it is gone. Labels and managed fields decide nothing. */
export function isStale(cached: Rollout, live: Rollout | undefined): boolean {
  return !live || !sameJson(decisive(cached), decisive(live));
}

function decisive({ metadata, status }: Rollout) {
  const { uid, generation, deletionTimestamp, annotations = {} } = metadata;
  return { uid, generation, deletionTimestamp, annotations, revision: status?.revision };
}
