/** What requires a Gate, open or closed: Flux objects by their bindings, and Rollouts. A closed Gate holds all of them. */

import { KINDS } from '../../api/kinds.ts';
import type { NamespacedName, ObjectName } from '../../api/kubernetes.ts';
import type { Requiring } from '../../api/ports.ts';
import type { Gate, Rollout } from '../../api/types.ts';
import { identityOf } from '../kube/names.ts';
import { gateRefsOf, gatesOf } from './refs.ts';
import { gateSelectsRollout } from './selects.ts';

export type Requirer = ObjectName;

/** Sorted by kind, namespace and name. */
export function requirersOf(gate: Gate, { bindings, rollouts, namespaces }: Requiring): Requirer[] {
  const { namespace, name } = identityOf(gate);
  const isNamed = (refs: readonly NamespacedName[]) =>
    refs.some((ref) => ref.namespace === namespace && ref.name === name);
  const isSelected = (rollout: Rollout) =>
    gateSelectsRollout(gate, rollout, namespaces.get(rollout.metadata.namespace ?? '') ?? {});
  const objects = bindings.flatMap(({ spec, metadata }) =>
    spec && isNamed(gatesOf(spec))
      ? [{ kind: spec.target.kind, namespace: metadata.namespace ?? '', name: spec.target.name }]
      : [],
  );
  const requiring = rollouts
    .filter((rollout) => isNamed(gateRefsOf(rollout)) || isSelected(rollout))
    .map((rollout) => ({ kind: KINDS.Rollout.kind, ...identityOf(rollout) }));
  return [...objects, ...requiring].sort((a, b) => (requirerText(a) < requirerText(b) ? -1 : 1));
}

/** `Kustomization apps/web`. */
export function requirerText({ kind, namespace, name }: Requirer): string {
  return `${kind} ${namespace}/${name}`;
}
