/**
 * The Flux objects bound to Rollouts, with their FluxBindings and the Gates that they require now.
 * The decorators that write a FluxBinding and the object's annotations may lag or fail indefinitely, so neither shows
 * reliably which Gates select the object.
 */
import type { FluxObject } from '../../api/flux.ts';
import { FLUX_BINDINGS } from '../../api/kinds.ts';
import type { ObjectName } from '../../api/kubernetes.ts';
import type { FluxBinding, Rollout } from '../../api/types.ts';
import { bindingGates } from '../gate/closedGates.ts';
import type { RefRules } from '../gate/gateRefs.ts';
import type { SelectingGates } from '../gate/gateSelection.ts';
import { objectName } from '../kube/names.ts';
import { objectsOfRollout } from '../managedField/managedFields.ts';
import { requiredByObject } from '../objectGates/objectGates.ts';
import { boundLabel } from './bindingSpec.ts';

/**
 * The FluxBindings of the objects that are bound to the Rollout, by their fields or their label. The label counts too
 * because a new CRD may drop stored fields, and a bake must not begin because of that.
 */
export function bindingsOfRollout({ metadata }: Rollout, bindings: readonly FluxBinding[]): FluxBinding[] {
  const label = boundLabel(metadata.name ?? '');
  return bindings.filter(
    (binding) =>
      binding.metadata.namespace === metadata.namespace &&
      !binding.metadata.deletionTimestamp &&
      (label in (binding.metadata.labels ?? {}) ||
        binding.spec?.fields?.some(({ rollout }) => rollout === metadata.name)),
  );
}

/** A FluxBinding without proof, for a bound object that has none yet. */
export function bindingWithoutProof(rollout: Rollout, kind: string, name: string): FluxBinding {
  return {
    apiVersion: FLUX_BINDINGS.apiVersion,
    kind: 'FluxBinding',
    metadata: { name: objectName(kind, name), namespace: rollout.metadata.namespace ?? '' },
    spec: {
      target: { apiVersion: '', kind, name, uid: '' },
      fields: [{ rollout: rollout.metadata.name ?? '' }],
    },
  };
}

interface BoundObject {
  /** The Flux object; metadata is enough. */
  object: FluxObject;
  /** The stored FluxBinding, unless it belongs to an earlier object of this name; otherwise one that proves nothing. */
  binding: FluxBinding;
}

/**
 * The objects that are bound to these Rollouts, without those that are being deleted. Each object is listed once, even
 * if it is bound to several of the Rollouts.
 */
function boundObjects(
  rollouts: readonly Rollout[],
  objects: readonly FluxObject[],
  bindings: readonly FluxBinding[],
): BoundObject[] {
  const byTarget = new Map(bindings.map((binding) => [targetOf(binding), binding]));
  const rolloutOf = new Map<FluxObject, Rollout>();
  for (const rollout of rollouts) {
    for (const object of objectsOfRollout(rollout.metadata.name ?? '', objects)) rolloutOf.set(object, rollout);
  }
  return [...rolloutOf].flatMap(([object, rollout]) => {
    if (object.metadata.deletionTimestamp) return [];
    const stored = byTarget.get(keyOf(object));
    const isOwn = stored?.spec?.target.uid === (object.metadata.uid ?? '');
    return [
      { object, binding: isOwn ? stored : bindingWithoutProof(rollout, object.kind, object.metadata.name ?? '') },
    ];
  });
}

/** The names of the objects that are bound to the Rollout, by the objects themselves or by their FluxBindings. */
export function boundObjectNames(
  { metadata }: Rollout,
  bindings: readonly FluxBinding[],
  objects: readonly FluxObject[],
): ObjectName[] {
  const { namespace = '', name = '' } = metadata;
  const bound = objectsOfRollout(name, objects).map((object) => ({
    kind: object.kind,
    name: object.metadata.name ?? '',
  }));
  const targets = bindings.flatMap(({ spec }) => spec?.target ?? []);
  const byKey = new Map([...bound, ...targets].map((each) => [`${each.kind}/${each.name}`, each]));
  return [...byKey.values()].map((each) => ({ kind: each.kind, namespace, name: each.name }));
}

/**
 * One binding for each object that is bound to these Rollouts of one namespace: the stored one, or one that proves
 * nothing.
 * @param bindings the stored bindings of these Rollouts
 * @param objects the namespace's objects
 */
export function completeBindings(
  rollouts: readonly Rollout[],
  objects: readonly FluxObject[],
  bindings: readonly FluxBinding[],
): FluxBinding[] {
  return withStored(bindings, boundObjects(rollouts, objects, bindings));
}

/** The bindings of `completeBindings`, with the Gates that the objects require now: stored Gates may be out of date. */
export function currentBindings(
  rollouts: readonly Rollout[],
  objects: readonly FluxObject[],
  bindings: readonly FluxBinding[],
  selectingGates: SelectingGates,
  rules: RefRules,
): FluxBinding[] {
  const bound = boundObjects(rollouts, objects, bindings);
  return withStored(
    bindings,
    bound.map((each) => ({ ...each, binding: withCurrentGates(each, selectingGates, rules) })),
  );
}

function withStored(bindings: readonly FluxBinding[], bound: readonly BoundObject[]): FluxBinding[] {
  const known = new Set(bound.map(({ object }) => keyOf(object)));
  // A deleted or unbound object counts, with its Gates, until its binding is deleted.
  const others = bindings.filter((binding) => !known.has(targetOf(binding)));
  return [...others, ...bound.map(({ binding }) => binding)];
}

function withCurrentGates(
  { object, binding }: BoundObject,
  selectingGates: SelectingGates,
  rules: RefRules,
): FluxBinding {
  const { refs, limit } = requiredByObject(object, selectingGates, rules);
  const gates = bindingGates({ refs: limit ? [] : refs, limit });
  return { ...binding, spec: { ...binding.spec!, gates } };
}

function targetOf({ spec }: FluxBinding): string {
  return `${spec?.target.kind}/${spec?.target.name}`;
}

function keyOf({ kind, metadata }: FluxObject): string {
  return `${kind}/${metadata.name}`;
}
