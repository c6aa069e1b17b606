/** What requires a Gate, open or closed: Flux objects by their bindings, and Rollouts. A closed Gate holds all of them. */

import { KINDS } from '../../api/kinds.ts';
import type { NamespacedName, ObjectName } from '../../api/kubernetes.ts';
import type { Requiring } from '../../api/ports.ts';
import type { Gate } from '../../api/types.ts';
import { identityOf } from '../kube/names.ts';
import { gateRefsOf, gatesOf } from './refs.ts';
import { gateSelectsRollout } from './selects.ts';

export type Requirer = ObjectName;

/** Sorted by kind, namespace and name. */
export function requirersOf(gate: Gate, requiring: Requiring): Requirer[] {
  return found(gate, requiring).map(({ requirer }) => requirer);
}

/**
 * The requirers that keep a closed Gate from being deleted: those of its own namespace, and those that it selects. One of another namespace that
 * only names it does not: anybody may name any Gate, and what names one that does not exist stays closed.
 */
export function holdersOf(gate: Gate, requiring: Requiring): Requirer[] {
  const { namespace } = identityOf(gate);
  return found(gate, requiring).flatMap(({ requirer, selected }) =>
    selected || requirer.namespace === namespace ? [requirer] : [],
  );
}

function found(gate: Gate, { bindings, rollouts, namespaces }: Requiring): { requirer: Requirer; selected: boolean }[] {
  const { namespace, name } = identityOf(gate);
  const isThis = (ref: NamespacedName) => ref.namespace === namespace && ref.name === name;
  const objects = bindings.flatMap(({ spec, metadata }) => {
    const ref = gatesOf(spec).find(isThis);
    if (!spec || !ref) return [];
    const { kind, name } = spec.target;
    return [{ requirer: { kind, namespace: metadata.namespace ?? '', name }, selected: ref.selected === true }];
  });
  const requiring = rollouts.flatMap((rollout) => {
    const labels = namespaces.get(rollout.metadata.namespace ?? '') ?? {};
    const selected = gateSelectsRollout(gate, rollout, labels);
    const isRequired = selected || gateRefsOf(rollout).some(isThis);
    return isRequired ? [{ requirer: { kind: KINDS.Rollout.kind, ...identityOf(rollout) }, selected }] : [];
  });
  return [...objects, ...requiring].sort((a, b) => (requirerText(a.requirer) < requirerText(b.requirer) ? -1 : 1));
}

/** `Kustomization apps/web`. */
export function requirerText({ kind, namespace, name }: Requirer): string {
  return `${kind} ${namespace}/${name}`;
}
