/**
 * References to Gates: in `spec.gates` of a Rollout and of a FluxBinding, and in the annotation `gate.fluxcd.io/gates`
 * of a Flux object (`a,ns/b`).
 */
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { FluxBindingSpec, Rollout } from '../../api/types.ts';
import { isObjectName, splitNames, uniqueRefs } from '../kube/names.ts';
import { LIMITS } from '../limits.ts';

const NAMESPACE = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** Stands for the Gates of an object that requires too many to evaluate. It counts as a closed Gate. */
export const LIMIT_OF_GATES: NamespacedName = { namespace: '', name: '(too-many)' };
/** Stands for the Rollouts and variables of an object that names too many. It counts as a closed Gate. */
export const LIMIT_OF_ROLLOUTS: NamespacedName = { namespace: '', name: '(too-many-rollouts)' };

/** The sentence for each limit, as the text after `held: `. No Gate can have one of these names. */
const LIMIT_TEXTS = new Map([
  [
    LIMIT_OF_GATES.name,
    'the object requires too many Gates (limits requiredGates, selectingGates, selectingGatesBytes): require fewer',
  ],
  [
    LIMIT_OF_ROLLOUTS.name,
    `more than ${LIMITS.boundRollouts} Rollouts or ${LIMITS.managedFields} variables are named (limits boundRollouts, managedFields): name fewer`,
  ],
]);

/** The sentence about the limit that the reference stands for; undefined for a reference to a Gate. */
export function limitText({ namespace, name }: NamespacedName): string | undefined {
  return namespace === '' ? LIMIT_TEXTS.get(name) : undefined;
}

/** Whether the reference stands for a limit, not for a Gate. */
export function isLimit(ref: NamespacedName): boolean {
  return limitText(ref) !== undefined;
}

/** The Gates that a Rollout names in `spec.gates`; without a namespace, a Gate of the Rollout's own namespace. */
export function gatesNamedBy({ spec, metadata }: Rollout): NamespacedName[] {
  return (spec?.gates ?? []).map(({ name, namespace }) => ({ namespace: namespace || metadata.namespace || '', name }));
}

export interface GateRef extends NamespacedName {
  /** Whether the Gate selects the object; otherwise the object names the Gate. */
  selected?: boolean;
}

/** The Gates that the object of a FluxBinding requires. */
export function gatesOfBinding(spec: FluxBindingSpec | undefined): GateRef[] {
  return (spec?.gates ?? []).map(({ namespace, gate, selected }) => ({
    namespace,
    name: gate,
    ...(selected && { selected }),
  }));
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
