/**
 * References to Gates: in `spec.gates` of a Rollout and of a FluxBinding, and in the annotation `gate.fluxcd.io/gates`
 * of a Flux object (`a,ns/b`).
 */
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { FluxBindingSpec, Rollout } from '../../api/types.ts';
import { isObjectName, refKey, splitNames, uniqueRefs } from '../kube/names.ts';
import { LIMITS } from '../limits.ts';

const NAMESPACE = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** The limit of an object that requires too many Gates to evaluate. */
export const LIMIT_OF_GATES = '(too-many)';
/** The limit of an object that names too many Rollouts or variables. */
export const LIMIT_OF_ROLLOUTS = '(too-many-rollouts)';

/**
 * A limit that an object exceeds: it counts as a closed Gate. Annotations and FluxBindings have this text in place of a
 * Gate's name, which it cannot be.
 */
export type Limit = typeof LIMIT_OF_GATES | typeof LIMIT_OF_ROLLOUTS;

/** The sentence about each limit, as the text after `held: `. */
export const LIMIT_TEXTS: Record<Limit, string> = {
  [LIMIT_OF_GATES]:
    'the object requires too many Gates (limits requiredGates, selectingGates, selectingGatesBytes): require fewer',
  [LIMIT_OF_ROLLOUTS]: `more than ${LIMITS.boundRollouts} Rollouts or ${LIMITS.managedFields} variables are named (limits boundRollouts, managedFields): name fewer`,
};

/** Whether the stored text stands for a limit, not for a Gate. */
export function isLimit(key: string): key is Limit {
  return Object.hasOwn(LIMIT_TEXTS, key);
}

interface RequiredGate extends NamespacedName {
  /** Whether the Gate selects the object; otherwise the object names it. */
  selected?: boolean;
}

/** The Gates that one or more objects require, each once. */
export interface RequiredGates {
  refs: RequiredGate[];
  /** Set if an object exceeds a limit: then it is held, and its Gates need not be evaluated. */
  limit?: Limit | undefined;
}

/** The Gates and the limit in a stored list. */
export function requiredIn<Ref extends NamespacedName>(
  stored: readonly Ref[],
): { refs: Ref[]; limit: Limit | undefined } {
  return { refs: stored.filter((ref) => !isLimit(refKey(ref))), limit: stored.map(refKey).find(isLimit) };
}

/** The entry of a limit in a stored list. */
export function storedLimit(limit: Limit): NamespacedName {
  return { namespace: '', name: limit };
}

/** All of these Gates, each once, without `selected`. If several limits are exceeded, the first by name. */
export function unionOf(all: readonly RequiredGates[]): RequiredGates {
  const refs = all.flatMap((each) => each.refs.map(({ namespace, name }) => ({ namespace, name })));
  return {
    refs: uniqueRefs(refs),
    limit: all.flatMap(({ limit }) => limit ?? []).sort()[0],
  };
}

/** The installation's rules for references to Gates. */
export interface RefRules {
  /** The setting NO_CROSS_NAMESPACE_REFS: a reference to a Gate of another namespace names no Gate. */
  noCrossNamespaceRefs: boolean;
}

/** For readers that don't know the setting, and show a Gate that it forbids like any other. */
export const ANY_REF: RefRules = { noCrossNamespaceRefs: false };

/** The references that name a Gate, in an object of this namespace. */
export function allowedRefs<Ref extends NamespacedName>(
  refs: readonly Ref[],
  home: string,
  { noCrossNamespaceRefs }: RefRules,
): Ref[] {
  return refs.filter(({ namespace }) => !noCrossNamespaceRefs || namespace === home);
}

/** The Gates that a Rollout names in `spec.gates`; without a namespace, a Gate of the Rollout's own namespace. */
export function gatesNamedBy({ spec, metadata: { namespace: home = '' } }: Rollout, rules: RefRules): NamespacedName[] {
  const named = (spec?.gates ?? []).map(({ name, namespace }) => ({ namespace: namespace || home, name }));
  return allowedRefs(named, home, rules);
}

/** The Gates that the object of a FluxBinding requires. */
export function requiredByBinding(spec: FluxBindingSpec | undefined): RequiredGates {
  return requiredIn((spec?.gates ?? []).map(({ gate, ...ref }) => ({ ...ref, name: gate })));
}

/** `spec.gates` of a FluxBinding. */
export function bindingGates({ refs, limit }: RequiredGates): NonNullable<FluxBindingSpec['gates']> {
  return [...(limit ? [storedLimit(limit)] : []), ...refs].map(({ name, ...ref }) => ({ ...ref, gate: name }));
}

/**
 * The Gates in the annotation, each once, in order; a name without a namespace refers to the object's own. `problems`
 * has a sentence for each part that isn't a Gate's name, which callers treat as a closed Gate.
 */
export function parseGateRefs(
  annotation: string | undefined,
  namespace: string,
): { refs: NamespacedName[]; problems: string[]; tooMany: boolean } {
  const refs: NamespacedName[] = [];
  const problems: string[] = [];
  const parts = splitNames(annotation ?? '');
  // If there are too many parts, none is parsed: the rest could name a closed Gate.
  for (const part of parts ?? []) {
    if (part === '') continue;
    const [name, ns = namespace, ...rest] = part.split('/').reverse();
    if (rest.length > 0 || !isObjectName(name!) || !NAMESPACE.test(ns)) {
      problems.push(`'${part}' in gate.fluxcd.io/gates does not name a Gate: expected <name> or <namespace>/<name>.`);
    } else {
      refs.push({ namespace: ns, name: name! });
    }
  }
  return { refs: uniqueRefs(refs), problems, tooMany: parts === undefined };
}
