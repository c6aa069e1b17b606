/**
 * Live reads of Gates and of what requires them, for hooks before a deployment and for webhooks in a write: both must
 * find the same Gates.
 */
import { SELECTS_LABEL } from '../api/annotations.ts';
import type { FluxObject } from '../api/flux.ts';
import { BOUND_KINDS, FLUX_BINDINGS, GATES } from '../api/kinds.ts';
import type { NamespacedName } from '../api/kubernetes.ts';
import type { ClusterReader, HookCall, Settings } from '../api/ports.ts';
import type { FluxBinding, Gate, Rollout } from '../api/types.ts';
import { isTooMany } from '../core/gate/gateRefs.ts';
import { isTruncated, reachesBeyond, type SelectsLabel, selectingGateLists } from '../core/gate/gateSelection.ts';
import { boundLabel, byRefKey, identityOf, refKey } from '../core/kube/names.ts';
import type { RefRules } from '../core/objectGates/objectGates.ts';
import { boundObjects, currentBindings } from '../core/rollout/evaluation/currentBindings.ts';
import type { GateSelectors } from '../core/rollout/evaluation/requiredGates.ts';
import { namespaceLabels, objectsOfKinds, type Reads } from './objectReads.ts';

/** The rule for references to Gates of other namespaces in this installation. */
export function refRules({ noCrossNamespaceRefs }: Settings): RefRules {
  return { ownNamespaceOnly: noCrossNamespaceRefs };
}

/** The Gates of these names that exist, by `refKey`. */
export async function readGates(
  refs: readonly NamespacedName[],
  cluster: Pick<ClusterReader, 'get'>,
): Promise<Map<string, Gate>> {
  const read = ({ namespace, name }: NamespacedName) => cluster.get<Gate>({ ...GATES, namespace, name });
  const gates = await Promise.all(refs.filter((ref) => !isTooMany(ref)).map(read));
  return byRefKey(gates.filter((gate) => gate !== undefined));
}

/** Gates that are read one by one. For objects that name more, all are listed. */
const MAX_GATE_READS = 3;
/** How old a list of all Gates may be, whatever age is requested: a tenant can name many Gates on many objects. */
const GATE_LIST_MAX_AGE_MS = 1000;

/** The existing Gates of these names, at most `maxAgeMs` old, or a second if many are named; 0: read now. */
export async function recentGates(
  refs: readonly NamespacedName[],
  maxAgeMs: number,
  { cluster, sharedReads }: Pick<HookCall, 'cluster' | 'sharedReads'>,
): Promise<Gate[]> {
  if (refs.length > MAX_GATE_READS) {
    const wanted = new Set(refs.map(refKey));
    const all = await sharedReads.recent(GATE_LIST_MAX_AGE_MS, 'gates', () => cluster.list<Gate>(GATES));
    return all.filter((gate) => wanted.has(refKey(identityOf(gate))));
  }
  const read = (ref: NamespacedName) => () => readGates([ref], cluster);
  const found = await Promise.all(refs.map((ref) => sharedReads.recent(maxAgeMs, `gate ${refKey(ref)}`, read(ref))));
  return found.flatMap((gates) => [...gates.values()]);
}

/** The Gates that may select objects of the namespace, by the label for Flux objects or Rollouts; see isTruncated. */
export function listSelecting(namespace: string, label: SelectsLabel, cluster: ClusterReader): Promise<Gate[][]> {
  return Promise.all(selectingGateLists(namespace, label).map((list) => cluster.list<Gate>(list)));
}

/** The Gates that may select objects of the namespace, with the labels of the Namespace if a Gate selects by them. */
export async function readSelectors(
  namespace: string,
  label: SelectsLabel,
  cluster: ClusterReader,
): Promise<GateSelectors> {
  const lists = await listSelecting(namespace, label, cluster);
  const gates = lists.flat();
  const isNeeded = gates.some(({ spec }) => reachesBeyond(spec?.selects));
  return {
    gates,
    namespaceLabels: isNeeded ? await namespaceLabels(namespace, cluster) : {},
    truncated: isTruncated(lists),
  };
}

/** The FluxBindings of the objects bound to a Rollout. */
export function listBindings({ metadata }: Rollout, cluster: ClusterReader): Promise<FluxBinding[]> {
  const { namespace, name } = identityOf({ metadata });
  return cluster.list<FluxBinding>({ ...FLUX_BINDINGS, namespace, labelSelector: boundLabel(name) });
}

/** The metadata of the objects that annotations may bind to a Rollout of the namespace. */
export function listBindable(namespace: string, cluster: ClusterReader): Promise<FluxObject[]> {
  return objectsOfKinds(BOUND_KINDS, namespace, cluster);
}

/**
 * For each Rollout of one namespace the bindings of its objects, with the Gates that these require now: an object whose
 * stored binding is missing or old has one too. Gates are listed only if a binding is not current.
 * @param bindings the stored bindings of each Rollout
 * @param objects the namespace's objects, from `listBindable`
 */
export async function readCurrentBindings(
  rollouts: readonly Rollout[],
  bindings: readonly (readonly FluxBinding[])[],
  objects: readonly FluxObject[],
  { cluster, settings }: Reads,
): Promise<FluxBinding[][]> {
  const namespace = rollouts[0]?.metadata.namespace ?? '';
  const rules = refRules(settings);
  const bound = rollouts.map((rollout, index) => boundObjects(rollout, objects, bindings[index]!, rules));
  const selecting = bound.flat().every(({ isCurrent }) => isCurrent)
    ? { gates: [], namespaceLabels: {} }
    : await readSelectors(namespace, SELECTS_LABEL, cluster);
  return rollouts.map((rollout, index) => currentBindings(rollout, bindings[index]!, bound[index]!, selecting, rules));
}
