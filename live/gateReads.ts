/**
 * Live reads of Gates and the objects that require them, for hooks before a deployment and for webhooks in a write:
 * both must find the same Gates.
 */
import type { FluxObject } from '../api/flux.ts';
import { BOUND_KINDS, FLUX_BINDINGS, GATES } from '../api/kinds.ts';
import type { NamespacedName } from '../api/kubernetes.ts';
import type { ClusterReader, HookCall } from '../api/ports.ts';
import type { FluxBinding, Gate, Rollout } from '../api/types.ts';
import { boundLabel } from '../core/binding/bindingSpec.ts';
import { reachesBeyond, type SelectingGates, selectingGateLists } from '../core/gate/gateSelection.ts';
import { byRefKey, refKey } from '../core/kube/names.ts';
import { LIMITS } from '../core/limits.ts';
import { inParallel } from './inParallel.ts';
import { namespaceLabels, objectsOfKinds } from './objectReads.ts';

/** The Gates of these names that exist, by `refKey`. */
export async function readGates(
  refs: readonly NamespacedName[],
  cluster: Pick<ClusterReader, 'get'>,
): Promise<Map<string, Gate>> {
  const read = ({ namespace, name }: NamespacedName) => cluster.get<Gate>({ ...GATES, namespace, name });
  const gates = await inParallel(refs, read);
  return byRefKey(gates.filter((gate) => gate !== undefined));
}

/** The most Gates that are read one by one. For more, all Gates are listed, unless these are too large. */
const MAX_GATE_READS = 3;
/** The maximum age of a Gate: one read serves all objects that require it. */
const GATE_MAX_AGE_MS = 1000;
const ALL_GATES = { ...GATES, atMost: LIMITS.listedAllGates, maxBytes: LIMITS.selectingGatesBytes };

/**
 * The existing Gates of these names, at most a second old.
 * @param maxAgeMs a lower maximum age. Without effect for many Gates: a tenant can name many on many objects
 */
export async function recentGates(
  refs: readonly NamespacedName[],
  { cluster, sharedReads }: Pick<HookCall, 'cluster' | 'sharedReads'>,
  maxAgeMs = GATE_MAX_AGE_MS,
): Promise<Gate[]> {
  const areMany = refs.length > MAX_GATE_READS;
  if (areMany) {
    const all = await sharedReads.recent(GATE_MAX_AGE_MS, 'gates', () => listAllGates(cluster));
    if (all) return refs.flatMap((ref) => all.get(refKey(ref)) ?? []);
  }
  const longestMs = areMany ? GATE_MAX_AGE_MS : maxAgeMs;
  const read = (ref: NamespacedName) =>
    sharedReads.recent(longestMs, `gate ${refKey(ref)}`, () => readGates([ref], cluster));
  return (await inParallel(refs, read)).flatMap((gates) => [...gates.values()]);
}

/** All Gates by `refKey`; undefined if they are too many or too large. */
async function listAllGates(cluster: ClusterReader): Promise<ReadonlyMap<string, Gate> | undefined> {
  const { listed, isTruncated } = await cluster.listAtMost<Gate>(ALL_GATES);
  return isTruncated ? undefined : byRefKey(listed);
}

/**
 * The Gates that may select Flux objects and Rollouts of the namespace.
 * `isTruncated`: there are more, or larger ones, than are read.
 */
export async function listSelecting(
  namespace: string,
  cluster: ClusterReader,
): Promise<{ gates: Gate[]; isTruncated: boolean }> {
  const limits = { atMost: LIMITS.selectingGates, maxBytes: LIMITS.selectingGatesBytes };
  const refs = selectingGateLists(namespace);
  const lists = await Promise.all(refs.map((list) => cluster.listAtMost<Gate>({ ...list, ...limits })));
  return { gates: lists.flatMap(({ listed }) => listed), isTruncated: lists.some(({ isTruncated }) => isTruncated) };
}

/** The Gates of `listSelecting`, with the labels of the Namespace if one of them selects by these. */
export async function readSelectingGates(namespace: string, cluster: ClusterReader): Promise<SelectingGates> {
  const listed = await listSelecting(namespace, cluster);
  return { ...listed, namespaceLabels: await labelsSelectedBy(listed.gates, namespace, cluster) };
}

/** The labels of the Namespace; none if no Gate selects by them. */
export async function labelsSelectedBy(
  gates: readonly Gate[],
  namespace: string,
  cluster: ClusterReader,
): Promise<Record<string, string>> {
  return gates.some(({ spec }) => reachesBeyond(spec?.selects)) ? namespaceLabels(namespace, cluster) : {};
}

/** The FluxBindings of the objects bound to these Rollouts of one namespace, from a single list. */
export async function listBindings(
  rollouts: readonly [Rollout, ...Rollout[]],
  cluster: ClusterReader,
): Promise<FluxBinding[]> {
  const [first, ...others] = rollouts.map(({ metadata }) => boundLabel(metadata.name ?? ''));
  const ref = { ...FLUX_BINDINGS, namespace: rollouts[0].metadata.namespace ?? '' };
  if (others.length === 0) return cluster.list<FluxBinding>({ ...ref, labelSelector: first! });
  const labels = new Set([first, ...others]);
  const isBound = ({ metadata }: FluxBinding) => Object.keys(metadata.labels ?? {}).some((label) => labels.has(label));
  const bindings: FluxBinding[] = [];
  for await (const page of cluster.pages<FluxBinding>(ref)) bindings.push(...page.filter(isBound));
  return bindings;
}

/** The metadata of the objects that annotations may bind to a Rollout of the namespace. */
export function listBindableObjects(namespace: string, cluster: ClusterReader): Promise<FluxObject[]> {
  return objectsOfKinds(BOUND_KINDS, namespace, cluster);
}
