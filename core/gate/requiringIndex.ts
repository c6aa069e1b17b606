/**
 * The objects that may require a Gate, out of all in the cluster: found by the Gates that they name and by their
 * namespace, so that the evaluation of one Gate costs what it concerns.
 */
import { REQUIRED_GATES } from '../../api/annotations.ts';
import type { KubeObject, NamespacedName } from '../../api/kubernetes.ts';
import type { RequiringObjects } from '../../api/ports.ts';
import type { Gate } from '../../api/types.ts';
import { groupByEach } from '../groupByEach.ts';
import { identityOf, refKey } from '../kube/names.ts';
import { gatesNamedBy, parseGateRefs, requiredGatesOfBinding } from './gateRefs.ts';
import { reachesBeyond, selectsFlux, selectsNamespace, selectsRollouts } from './gateSelection.ts';

/** A function that returns the objects that may require a Gate. The lists must not change afterwards. */
export function requiringIndex(all: RequiringObjects): (gate: Gate) => RequiringObjects {
  const { namespaces } = all;
  const bindings = indexOf(all.bindings, ({ spec }) => requiredGatesOfBinding(spec));
  const rollouts = indexOf(all.rollouts, gatesNamedBy);
  const objects = indexOf(all.objects, ({ metadata: { annotations, namespace = '' } }) => {
    return parseGateRefs(annotations?.[REQUIRED_GATES], namespace).refs;
  });
  return (gate) => {
    const reaches = (namespace: string) => selectsNamespace(gate, namespace, namespaces.get(namespace) ?? {});
    const never = () => false;
    return {
      // A FluxBinding lists the Gates that select its object too.
      bindings: bindings(gate, never),
      rollouts: rollouts(gate, selectsRollouts(gate) ? reaches : never),
      objects: objects(gate, selectsFlux(gate) ? reaches : never),
      namespaces,
    };
  };
}

/** A function that returns the objects that name a Gate, and those of the namespaces for which `reaches` holds. */
function indexOf<T extends Pick<KubeObject, 'metadata'>>(
  objects: readonly T[],
  gatesOf: (object: T) => readonly NamespacedName[],
): (gate: Gate, reaches: (namespace: string) => boolean) => T[] {
  const byGate = groupByEach(objects, (object) => gatesOf(object).map(refKey));
  const byNamespace = Map.groupBy(objects, ({ metadata }) => metadata.namespace ?? '');
  return (gate, reaches) => {
    const found = new Set(byGate.get(refKey(identityOf(gate))));
    const own = gate.metadata.namespace ?? '';
    const namespaces = reachesBeyond(gate.spec.selects) ? byNamespace.keys() : [own];
    for (const namespace of namespaces) {
      if (!reaches(namespace)) continue;
      for (const object of byNamespace.get(namespace) ?? []) found.add(object);
    }
    return [...found];
  };
}
