/** The Gates of a Flux object, read: where its decorator is not sent them. */
import type { FluxObject } from '../../api/flux.ts';
import { GATES } from '../../api/kinds.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { ClusterReader, HookCall, Recent } from '../../api/ports.ts';
import type { Gate } from '../../api/types.ts';
import { type Gating, gatingOf } from '../../core/hold/gating.ts';
import { type RefRules, recordedNames } from '../../core/hold/requiredGates.ts';
import { identityOf, refKey } from '../../core/kube/names.ts';

/** Gates that are read one by one. For objects that name more, all are listed. */
const MAX_READS = 3;
/** How long one read serves all objects. */
const SHARED_MS = 1000;
/** The same where the object says otherwise: of a freeze it may know more than a read before. */
const DOUBTED_MS = 200;

/** As they are now. A list of all is at most a second old. */
export async function readGates(
  refs: readonly NamespacedName[],
  cluster: ClusterReader,
  recent: Recent,
): Promise<Gate[]> {
  if (refs.length > MAX_READS) return listed(refs, SHARED_MS, cluster, recent);
  const found = await Promise.all(refs.map((ref) => cluster.get<Gate>({ ...GATES, ...ref })));
  return found.filter((gate) => gate !== undefined);
}

/** What the object's Gates mean for what is reported of it: as they were a second ago at most. */
export async function readGating(
  object: FluxObject,
  { now, cluster, recent }: Pick<HookCall, 'now' | 'cluster' | 'recent'>,
  rules: RefRules,
): Promise<{ gating: Gating; gates: Gate[] }> {
  const refs = recordedNames(object, rules);
  const read = async (maxAgeMs: number) => {
    const gates = await recentGates(refs, maxAgeMs, cluster, recent);
    return {
      gates,
      gating: gatingOf(object, new Map(gates.map((gate) => [refKey(identityOf(gate)), gate])), now, rules),
    };
  };
  const known = await read(SHARED_MS);
  return known.gating.isMarked || refs.length === 0 ? known : read(DOUBTED_MS);
}

async function recentGates(
  refs: readonly NamespacedName[],
  maxAgeMs: number,
  cluster: ClusterReader,
  recent: Recent,
): Promise<Gate[]> {
  if (refs.length > MAX_READS) return listed(refs, maxAgeMs, cluster, recent);
  const get = (ref: NamespacedName) => () => cluster.get<Gate>({ ...GATES, ...ref });
  const found = await Promise.all(refs.map((ref) => recent.within(maxAgeMs, `gate ${refKey(ref)}`, get(ref))));
  return found.filter((gate) => gate !== undefined);
}

async function listed(
  refs: readonly NamespacedName[],
  maxAgeMs: number,
  cluster: ClusterReader,
  recent: Recent,
): Promise<Gate[]> {
  const wanted = new Set(refs.map(refKey));
  const all = await recent.within(maxAgeMs, 'gates', () => cluster.list<Gate>(GATES));
  return all.filter((gate) => wanted.has(refKey(identityOf(gate))));
}
