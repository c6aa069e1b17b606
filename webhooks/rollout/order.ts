/** What a new `spec.after` names, read live: a Rollout after itself is refused, one after what is not there gets a Warning. */
import { NAMESPACES, ROLLOUTS } from '../../api/kinds.ts';
import type { WebhookCall } from '../../api/ports.ts';
import type { Rollout } from '../../api/types.ts';
import { sameJson } from '../../core/kube/json.ts';
import { identityOf, refKey } from '../../core/kube/names.ts';
import { consenting, namespacesToAsk } from '../../core/order/consent.ts';
import { orderProblem, unreadStages } from '../../core/order/cycle.ts';
import { stageName, stageRefs } from '../../core/order/refs.ts';

export interface Order {
  /** Why it is refused. */
  problem?: string;
  warnings: string[];
}

/** An order that was let in before may stay: otherwise nothing else on the object could change. */
export async function judgeOrder(rollout: Rollout, before: Rollout | undefined, call: WebhookCall): Promise<Order> {
  if (!rollout.spec?.after?.length || sameJson(rollout.spec.after, before?.spec?.after)) return { warnings: [] };
  const read = new Map<string, Rollout | undefined>();
  for (let next = unreadStages(rollout, read); next.length > 0; next = unreadStages(rollout, read)) {
    const found = await Promise.all(next.map((ref) => call.cluster.get<Rollout>({ ...ROLLOUTS, ...ref })));
    next.forEach((ref, index) => void read.set(refKey(ref), found[index]));
  }
  const problem = orderProblem(rollout, read);
  if (problem) return { problem: `${problem.message}: no version would ever be deployed automatically`, warnings: [] };
  return { warnings: await missing(rollout, read, call) };
}

async function missing(
  rollout: Rollout,
  read: ReadonlyMap<string, Rollout | undefined>,
  { cluster, settings }: WebhookCall,
): Promise<string[]> {
  const refs = stageRefs(rollout);
  const found = refs.flatMap((ref) => read.get(refKey(ref)) ?? []);
  const asked = settings.watchWithoutConsent ? [] : namespacesToAsk(rollout, found);
  const namespaces = await Promise.all(asked.map((name) => cluster.get({ ...NAMESPACES, name })));
  const seen = settings.watchWithoutConsent ? found : consenting(rollout, found, namespaces);
  const known = new Set(seen.map((stage) => refKey(identityOf(stage))));
  const { namespace: home } = rollout.metadata;
  return refs
    .filter((ref) => !known.has(refKey(ref)))
    .map((ref) => {
      const lacks = ref.namespace === home ? 'does not exist' : 'does not exist or may not be seen from here';
      return `spec.after: Rollout '${stageName(ref, home)}' ${lacks}: every version waits until it does`;
    });
}
