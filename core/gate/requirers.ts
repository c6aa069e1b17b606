/** The objects that require a Gate, open or closed: Flux objects, by their bindings, and Rollouts. */
import { REQUIRED_GATES } from '../../api/annotations.ts';
import { KINDS } from '../../api/kinds.ts';
import type { KubeObject, NamespacedName, ObjectName } from '../../api/kubernetes.ts';
import type { FluxBinding, Gate, Rollout } from '../../api/types.ts';
import { groupByEach } from '../collection/groupByEach.ts';
import { identityOf, refKey } from '../kube/names.ts';
import { requiredByBinding } from './closedGates.ts';
import { ANY_REF, gatesNamedBy, parseGateRefs } from './gateRefs.ts';
import {
  gateSelectsRollout,
  reachesBeyond,
  requirerText,
  selectsFlux,
  selectsNamespace,
  selectsRollouts,
} from './gateSelection.ts';

/** Objects that may require a Gate. */
export interface Requiring {
  bindings: readonly FluxBinding[];
  rollouts: readonly Rollout[];
  /** Labels of each Namespace, by its name. */
  namespaces: ReadonlyMap<string, Readonly<Record<string, string>>>;
}

/** The objects that may require Gates, with the kind and metadata of every governed Flux object. */
export interface RequiringObjects extends Requiring {
  objects: readonly KubeObject[];
}

/** The objects that require the Gate, sorted by kind, namespace and name. */
export function requirersOf(gate: Gate, requiring: Requiring): ObjectName[] {
  return requirersWithSelection(gate, requiring).map(({ requirer }) => requirer);
}

/**
 * The requirers that block the deletion of a closed Gate: those in its own namespace, and those that it selects. An
 * object of another namespace that merely names the Gate doesn't count, because any user could create one; without the
 * Gate it stays held.
 */
export function requirersBlockingDeletion(gate: Gate, requiring: Requiring): ObjectName[] {
  const { namespace } = identityOf(gate);
  return requirersWithSelection(gate, requiring).flatMap(({ requirer, selected }) =>
    selected || requirer.namespace === namespace ? [requirer] : [],
  );
}

function requirersWithSelection(
  gate: Gate,
  { bindings, rollouts, namespaces }: Requiring,
): { requirer: ObjectName; selected: boolean }[] {
  const { namespace, name } = identityOf(gate);
  const isThis = (ref: NamespacedName) => ref.namespace === namespace && ref.name === name;
  const objects = bindings.flatMap(({ spec, metadata }) => {
    const ref = requiredByBinding(spec).refs.find(isThis);
    if (!spec || !ref) return [];
    const { kind, name } = spec.target;
    return [{ requirer: { kind, namespace: metadata.namespace ?? '', name }, selected: ref.selected === true }];
  });
  const requiring = rollouts.flatMap((rollout) => {
    const labels = namespaces.get(rollout.metadata.namespace ?? '') ?? {};
    const selected = gateSelectsRollout(gate, rollout, labels);
    const isRequired = selected || gatesNamedBy(rollout, ANY_REF).some(isThis);
    return isRequired ? [{ requirer: { kind: KINDS.Rollout.kind, ...identityOf(rollout) }, selected }] : [];
  });
  return [...objects, ...requiring].sort((a, b) => (requirerText(a.requirer) < requirerText(b.requirer) ? -1 : 1));
}

// An index of all objects in the cluster by the Gates that they name and by their namespace. With it, the cost of
// evaluating a Gate depends only on the objects that may require the Gate.

/** A function that returns the objects that may require a Gate. The lists must not change afterwards. */
export function requiringIndex(all: RequiringObjects): (gate: Gate) => RequiringObjects {
  const { namespaces } = all;
  const bindings = indexOf(all.bindings, ({ spec }) => requiredByBinding(spec).refs);
  const rollouts = indexOf(all.rollouts, (rollout) => gatesNamedBy(rollout, ANY_REF));
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

/** A function that returns the objects that name a Gate, and those in namespaces for which `reaches` is true. */
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
