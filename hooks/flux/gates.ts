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
/** How long one read serves all objects, in milliseconds. */
const SHARED_MS = 1000;
/** How old a read may be where the object's marks contradict it: a freeze may have marked the object since. */
const DOUBTED_MS = 200;

/** The Gates as they are now; a list of all may be a second old. */
export async function readGates(
  refs: readonly NamespacedName[],
  cluster: ClusterReader,
  recent: Recent,
): Promise<Gate[]> {
  if (refs.length > MAX_READS) return listed(refs, cluster, recent);
  const found = await Promise.all(refs.map((ref) => cluster.get<Gate>({ ...GATES, ...ref })));
  return found.filter((gate) => gate !== undefined);
}

/** The object's Gates, at most a second old, and what they mean for the report on it. */
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
  if (refs.length > MAX_READS) return listed(refs, cluster, recent);
  const get = (ref: NamespacedName) => () => cluster.get<Gate>({ ...GATES, ...ref });
  const found = await Promise.all(refs.map((ref) => recent.within(maxAgeMs, `gate ${refKey(ref)}`, get(ref))));
  return found.filter((gate) => gate !== undefined);
}

/** At most once a second for all objects together, doubted or not: a tenant can name many Gates on many objects. */
async function listed(refs: readonly NamespacedName[], cluster: ClusterReader, recent: Recent): Promise<Gate[]> {
  const wanted = new Set(refs.map(refKey));
  const all = await recent.within(SHARED_MS, 'gates', () => cluster.list<Gate>(GATES));
  return all.filter((gate) => wanted.has(refKey(identityOf(gate))));
}
