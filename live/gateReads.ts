/**
 * Live reads of the Gates that stop deployments, for hooks before a deployment and for webhooks in a write: both must
 * find the same ones.
 */
import { SELECTS_LABEL } from '../api/annotations.ts';
import type { FluxObject } from '../api/flux.ts';
import { BOUND_KINDS, FLUX_BINDINGS } from '../api/kinds.ts';
import type { ClusterReader } from '../api/ports.ts';
import type { FluxBinding, Gate, Rollout } from '../api/types.ts';
import { isTruncated, reachesBeyond, type SelectsLabel, selectingGateLists } from '../core/gate/gateSelection.ts';
import { boundLabel, identityOf } from '../core/kube/names.ts';
import { boundObjects, currentBindings } from '../core/rollout/evaluation/currentBindings.ts';
import type { GateSelectors } from '../core/rollout/evaluation/requiredGates.ts';
import { namespaceLabels, objectsOfKinds, type Reads } from './objectReads.ts';

/** The Gates that may select Rollouts or Flux objects of the namespace, as the label says; see isTruncated. */
export function listSelecting(namespace: string, label: SelectsLabel, cluster: ClusterReader): Promise<Gate[][]> {
  return Promise.all(selectingGateLists(namespace, label).map((list) => cluster.list<Gate>(list)));
}

/** The same, with the labels of the Namespace if they matter. */
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
 * For each Rollout of one namespace a binding for each object bound to it, also if it has none or an old one, with the
 * Gates that the object requires now. Gates are listed only if a binding is not current.
 * @param bindings those of each Rollout, as stored
 * @param objects as `listBindable` has them
 */
export async function withCurrentGates(
  rollouts: readonly Rollout[],
  bindings: readonly (readonly FluxBinding[])[],
  objects: readonly FluxObject[],
  { cluster, settings }: Reads,
): Promise<FluxBinding[][]> {
  const namespace = rollouts[0]?.metadata.namespace ?? '';
  const rules = { ownNamespaceOnly: settings.noCrossNamespaceRefs };
  const bound = rollouts.map((rollout, index) => boundObjects(rollout, objects, bindings[index]!, rules));
  const selecting = bound.flat().every(({ isCurrent }) => isCurrent)
    ? { gates: [], namespaceLabels: {} }
    : await readSelectors(namespace, SELECTS_LABEL, cluster);
  return rollouts.map((rollout, index) => currentBindings(rollout, bindings[index]!, bound[index]!, selecting, rules));
}
