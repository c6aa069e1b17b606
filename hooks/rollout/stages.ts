/** What there is of the stages of a Rollout, `spec.after`: as the cache has them, or live before a deployment. */
import { NAMESPACES, ROLLOUTS } from '../../api/kinds.ts';
import type { HookCall } from '../../api/ports.ts';
import type { Rollout } from '../../api/types.ts';
import { identityOf, refKey } from '../../core/kube/names.ts';
import { consenting, namespacesToAsk } from '../../core/rollout/upstream/consent.ts';
import { orderProblem, unreadStages } from '../../core/rollout/upstream/cycle.ts';
import { stageRefs } from '../../core/rollout/upstream/refs.ts';
import type { Stages } from '../../core/rollout/upstream/stages.ts';

type Reads = Pick<HookCall, 'cluster' | 'settings'>;

/** `cached`: related Rollouts. Their own stages are not related, and are read live: a change of them is to wake nobody. */
export async function stagesOf(rollout: Rollout, cached: readonly Rollout[], call: Reads): Promise<Stages | undefined> {
  const refs = stageRefs(rollout);
  if (refs.length === 0) return undefined;
  const byKey = new Map(cached.map((each) => [refKey(identityOf(each)), each]));
  return readStages(rollout, new Map(refs.map((ref) => [refKey(ref), byKey.get(refKey(ref))])), call);
}

export function liveStages(rollout: Rollout, call: Reads): Promise<Stages | undefined> {
  return stageRefs(rollout).length === 0 ? Promise.resolve(undefined) : readStages(rollout, new Map(), call);
}

/** Whether what was found may change without a sync: a Namespace that consents, or the other end of a cycle, wakes nobody. */
export function mayChangeUnseen(rollout: Rollout, { found, problem }: Stages): boolean {
  return problem !== undefined || stageRefs(rollout).length > found.length;
}

async function readStages(
  rollout: Rollout,
  read: Map<string, Rollout | undefined>,
  { cluster, settings }: Reads,
): Promise<Stages> {
  for (let next = unreadStages(rollout, read); next.length > 0; next = unreadStages(rollout, read)) {
    const found = await Promise.all(next.map((ref) => cluster.get<Rollout>({ ...ROLLOUTS, ...ref })));
    next.forEach((ref, index) => void read.set(refKey(ref), found[index]));
  }
  const problem = orderProblem(rollout, read);
  const found = stageRefs(rollout).flatMap((ref) => read.get(refKey(ref)) ?? []);
  const requested = settings.watchWithoutConsent ? [] : namespacesToAsk(rollout, found);
  const namespaces = await Promise.all(requested.map((name) => cluster.get({ ...NAMESPACES, name })));
  const seen = settings.watchWithoutConsent ? found : consenting(rollout, found, namespaces);
  return { found: seen, ...(problem && { problem }) };
}
