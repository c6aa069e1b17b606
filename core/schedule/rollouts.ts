/** For which Rollouts a schedule has a gate, where more match than it may have. */
import type { KubeObject } from '../../api/kubernetes.ts';
import type { RolloutGate } from '../../api/types.ts';
import { refKey } from '../kube/names.ts';
import { LIMITS } from '../limits.ts';

/** Namespace, name and age of a Rollout. */
export interface ListedRollout {
  namespace: string;
  name: string;
  createdAt?: string | undefined;
}

export interface MatchingRollouts {
  listed: readonly ListedRollout[];
  /** More match than `listed` has. */
  isTruncated: boolean;
}

export interface ScheduledRollouts {
  rollouts: readonly ListedRollout[];
  /** Why some that match have no gate. */
  problem?: string;
}

/**
 * Namespaces take turns, so that one with many Rollouts takes no gate from another; in each the Rollouts that have a gate come
 * first, then the oldest. Where not all are listed, a gate that exists stays: a Rollout that is not seen is not known to be gone.
 */
export function scheduledRollouts(
  { listed, isTruncated }: MatchingRollouts,
  observed: readonly RolloutGate[],
): ScheduledRollouts {
  if (!isTruncated && listed.length <= LIMITS.scheduledRollouts) return { rollouts: listed };
  const gated = new Map(observed.map((gate) => [refKey(rolloutOf(gate)), rolloutOf(gate)]));
  const seen = new Set(listed.map(refKey));
  const unseen = isTruncated ? [...gated.values()].filter((ref) => !seen.has(refKey(ref))) : [];
  const turns = [...Map.groupBy([...listed, ...unseen], ({ namespace }) => namespace).values()].flatMap((all) =>
    all.toSorted((a, b) => order(a, b, gated)).map((rollout, turn) => ({ rollout, turn })),
  );
  const inTurn = turns.toSorted((a, b) => a.turn - b.turn).map(({ rollout }) => rollout);
  const count = isTruncated ? `more than ${LIMITS.listedRollouts}` : listed.length;
  const limit = isTruncated ? `limits scheduledRollouts and listedRollouts` : 'limit scheduledRollouts';
  return {
    rollouts: inTurn.slice(0, LIMITS.scheduledRollouts),
    problem:
      `spec.rolloutSelector matches ${count} Rollouts, and at most ${LIMITS.scheduledRollouts} have a gate (${limit}): ` +
      'the newest of the namespaces with the most have none; narrow the selector, or split the schedule',
  };
}

function rolloutOf({ metadata, spec }: RolloutGate): ListedRollout {
  return { namespace: metadata.namespace ?? '', name: spec?.rolloutRef.name ?? '' };
}

function order(a: ListedRollout, b: ListedRollout, gated: ReadonlyMap<string, unknown>): number {
  const key = (each: ListedRollout) => `${gated.has(refKey(each)) ? 0 : 1} ${each.createdAt ?? ''} ${each.name}`;
  return key(a) < key(b) ? -1 : 1;
}

/** What is kept of the metadata of a Rollout. */
export function listedRollout({ metadata }: Pick<KubeObject, 'metadata'>): ListedRollout {
  return { namespace: metadata.namespace ?? '', name: metadata.name ?? '', createdAt: metadata.creationTimestamp };
}
