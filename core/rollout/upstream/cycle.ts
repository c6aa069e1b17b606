/**
 * Whether a Rollout comes after itself: each Rollout of a cycle waits for the next one, and none ever gets a version. The doors
 * read the Rollouts; which ones, and what follows from them, is decided here.
 */
import type { NamespacedName } from '../../../api/kubernetes.ts';
import type { Rollout } from '../../../api/types.ts';
import { identityOf, refKey } from '../../kube/names.ts';
import { LIMITS } from '../../limits.ts';
import { stageName, stageRefs } from './refs.ts';

/** What was read, by `refKey`; undefined for what does not exist. */
export type ReadRollouts = ReadonlyMap<string, Rollout | undefined>;

export interface OrderProblem {
  reason: 'DependencyCycle' | 'TooManyStages';
  /** A clause without its end: callers add what follows from it. */
  message: string;
}

/** The stages, theirs, and so on, as far as they are known and not read yet. Read them and ask again, until there are none. */
export function unreadStages(rollout: Rollout, read: ReadRollouts): NamespacedName[] {
  const { reached } = walk(rollout, read);
  if (reached.size > LIMITS.stages) return [];
  return [...reached].flatMap(([key, ref]) => (read.has(key) ? [] : [ref]));
}

/** undefined where the order is sound, as far as it was read. */
export function orderProblem(rollout: Rollout, read: ReadRollouts): OrderProblem | undefined {
  const { reached, cycle } = walk(rollout, read);
  if (reached.size > LIMITS.stages) {
    const message = `spec.after reaches more than ${LIMITS.stages} Rollouts (limit stages), its stages' own stages included`;
    return { reason: 'TooManyStages', message };
  }
  if (!cycle) return undefined;
  const { namespace } = rollout.metadata;
  if (cycle.length === 0) return { reason: 'DependencyCycle', message: 'spec.after names the Rollout itself' };
  const own = identityOf(rollout);
  const path = [own, ...cycle, own].map((ref) => `'${stageName(ref, namespace)}'`).join(' after ');
  return { reason: 'DependencyCycle', message: `spec.after has a dependency cycle: ${path}` };
}

interface Walk {
  /** Every stage, the nearest first; one more than the limit at most. */
  reached: Map<string, NamespacedName>;
  /** The shortest way from the Rollout back to itself, without its ends. */
  cycle?: NamespacedName[];
}

/** Breadth first, each Rollout once: linear in what may be read. */
function walk(rollout: Rollout, read: ReadRollouts): Walk {
  const start = refKey(identityOf(rollout));
  const reached = new Map<string, NamespacedName>();
  const cameFrom = new Map<string, string>();
  const queue: { key: string; at: Rollout | undefined }[] = [{ key: start, at: rollout }];
  let cycle: NamespacedName[] | undefined;
  for (const { key: from, at } of queue) {
    if (!at) continue;
    for (const { namespace, name } of stageRefs(at)) {
      const ref = { namespace, name };
      const key = refKey(ref);
      if (key === start) cycle ??= wayTo(from, start, cameFrom, reached);
      if (key === start || reached.has(key)) continue;
      reached.set(key, ref);
      cameFrom.set(key, from);
      queue.push({ key, at: read.get(key) });
      if (reached.size > LIMITS.stages) return { reached };
    }
  }
  return { reached, ...(cycle && { cycle }) };
}

function wayTo(
  end: string,
  start: string,
  cameFrom: ReadonlyMap<string, string>,
  reached: ReadonlyMap<string, NamespacedName>,
): NamespacedName[] {
  const way: NamespacedName[] = [];
  for (let key = end; key !== start; key = cameFrom.get(key)!) way.push(reached.get(key)!);
  return way.reverse();
}
