/**
 * The FluxBindings of the objects bound to Rollouts, with the Gates that these objects require now.
 * The decorator that writes a FluxBinding may lag or fail indefinitely, so the FluxBinding's list of Gates counts only
 * while it has exactly the present Gates of the object.
 */
import type { FluxObject } from '../../../api/flux.ts';
import type { ObjectName } from '../../../api/kubernetes.ts';
import type { FluxBinding, Rollout } from '../../../api/types.ts';
import { requiredGatesOfBinding } from '../../gate/gateRefs.ts';
import { byRefKey, identityOf, refKey } from '../../kube/names.ts';
import { objectsBoundTo } from '../../managedField/managedFields.ts';
import { type RefRules, recordedRefs, requiredGates } from '../../objectGates/objectGates.ts';
import { unseenBinding } from '../deployment/progress.ts';
import type { GateSelectors } from './requiredGates.ts';

interface BoundObject {
  /** The Flux object; metadata is enough. */
  object: FluxObject;
  /** One of the Rollouts that the object is bound to. */
  rollout: Rollout;
  /** The object's FluxBinding; undefined if it is that of an earlier object of this name. */
  binding: FluxBinding | undefined;
  /** Whether the binding has exactly the Gates that the object's annotations name. */
  isCurrent: boolean;
}

/**
 * The objects that are bound to these Rollouts, without those that are being deleted. Each object is there once: it may
 * be bound to many of them.
 */
export function boundObjects(
  rollouts: readonly Rollout[],
  objects: readonly FluxObject[],
  bindings: readonly FluxBinding[],
  rules: RefRules,
): BoundObject[] {
  const byTarget = new Map(bindings.map((binding) => [targetOf(binding), binding]));
  const rolloutOf = new Map<FluxObject, Rollout>();
  for (const rollout of rollouts) {
    for (const object of objectsBoundTo(rollout.metadata.name ?? '', objects)) rolloutOf.set(object, rollout);
  }
  return [...rolloutOf].flatMap(([object, rollout]) => {
    if (object.metadata.deletionTimestamp) return [];
    const found = byTarget.get(keyOf(object));
    const binding = found?.spec?.target.uid === (object.metadata.uid ?? '') ? found : undefined;
    return [{ object, rollout, binding, isCurrent: binding !== undefined && hasGatesOf(binding, object, rules) }];
  });
}

/** The names of the objects that are bound to the Rollout, by the objects themselves or by their FluxBindings. */
export function namesOfBound(
  { metadata }: Rollout,
  bindings: readonly FluxBinding[],
  objects: readonly FluxObject[],
): ObjectName[] {
  const { namespace = '', name = '' } = metadata;
  const bound = objectsBoundTo(name, objects).map((object) => ({
    kind: object.kind,
    name: object.metadata.name ?? '',
  }));
  const targets = bindings.flatMap(({ spec }) => spec?.target ?? []);
  const byKey = new Map([...bound, ...targets].map((each) => [`${each.kind}/${each.name}`, each]));
  return [...byKey.values()].map((each) => ({ kind: each.kind, namespace, name: each.name }));
}

/**
 * One binding for each object, with the Gates that the object requires now.
 * @param selecting the Gates that may select Flux objects of the namespace; undefined if the current bindings count
 */
export function currentBindings(
  bindings: readonly FluxBinding[],
  bound: readonly BoundObject[],
  selecting: GateSelectors | undefined,
  rules: RefRules,
): FluxBinding[] {
  const known = new Set(bound.map(({ object }) => keyOf(object)));
  // The Gates of an object that was deleted or unbound count until its binding is deleted.
  const others = bindings.filter((binding) => !known.has(targetOf(binding)));
  if (!selecting) return [...others, ...bound.flatMap(({ binding }) => binding ?? [])];
  const { gates, namespaceLabels, truncated = false } = selecting;
  const candidates = gates.map(identityOf);
  const context = { ...rules, gates: byRefKey(gates), namespaceLabels, candidates, truncated };
  return [...others, ...bound.map((each) => withCurrentGates(each, context))];
}

function withCurrentGates(
  { object, rollout, binding }: BoundObject,
  context: Parameters<typeof requiredGates>[1],
): FluxBinding {
  const { named, selecting, tooMany } = requiredGates(object, context);
  const refs = tooMany ? [tooMany] : [...named, ...selecting];
  const { spec, ...own } = binding ?? unseenBinding(rollout, object.kind, object.metadata.name ?? '');
  return { ...own, spec: { ...spec!, gates: refs.map(({ namespace, name }) => ({ namespace, gate: name })) } };
}

function hasGatesOf({ spec }: FluxBinding, object: FluxObject, rules: RefRules): boolean {
  const { refs, isComplete } = recordedRefs(object, rules);
  const wanted = new Set(refs.map(refKey));
  const known = new Set(requiredGatesOfBinding(spec).map(refKey));
  return isComplete && wanted.size === known.size && [...wanted].every((key) => known.has(key));
}

function targetOf({ spec }: FluxBinding): string {
  return `${spec?.target.kind}/${spec?.target.name}`;
}

function keyOf({ kind, metadata }: FluxObject): string {
  return `${kind}/${metadata.name}`;
}
