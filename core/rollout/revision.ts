/** `status.revision`: compare-and-swap for a status that Metacontroller writes from a possibly stale read. */
import type { Rollout, RolloutStatus } from '../../api/types.ts';
import { sameJson } from '../kube/json.ts';

/** The status to answer with: as stored when nothing changes, else with the next revision. */
export function revised(rollout: Rollout, next: RolloutStatus): RolloutStatus {
  const stored = rollout.status ?? {};
  const { generation } = rollout.metadata;
  const unchanged = sameJson(contentOf(stored), contentOf(next));
  if (unchanged && rollout.status && (generation === undefined || stored.observedGeneration === generation))
    return stored;
  return {
    ...contentOf(next),
    ...(generation !== undefined && { observedGeneration: generation }),
    revision: (stored.revision ?? 0) + 1,
  };
}

function contentOf({ revision, observedGeneration, ...content }: RolloutStatus): RolloutStatus {
  return content;
}

/**
 * Whether a Rollout as a cache has it differs from the stored one in anything that a deployment is decided from: by its labels
 * Gates select it, managed fields decide nothing. `live` is undefined where it is gone.
 */
export function isStale(cached: Rollout, live: Rollout | undefined): boolean {
  return !live || !sameJson(decisive(cached), decisive(live));
}

function decisive({ metadata, status }: Rollout) {
  const { uid, generation, deletionTimestamp, annotations = {}, labels = {} } = metadata;
  return { uid, generation, deletionTimestamp, annotations, labels, revision: status?.revision };
}
