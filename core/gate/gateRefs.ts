/**
 * References to Gates: in `spec.gates` of a Rollout and of a FluxBinding, and in the annotation `gate.fluxcd.io/gates`
 * of a Flux object (`a,ns/b`).
 */
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { FluxBindingSpec, Rollout } from '../../api/types.ts';
import { splitNames, uniqueRefs } from '../kube/names.ts';

const NAMESPACE = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const NAME = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;

/** The name in place of Gates that are too many to be evaluated or listed. No Gate can have this name. */
export const BEYOND = '(too-many)';

/** Stands for the Gates of an object that requires more than are evaluated. It counts as a closed Gate. */
export const TOO_MANY: NamespacedName = { namespace: '', name: BEYOND };

export function isTooMany({ namespace, name }: NamespacedName): boolean {
  return namespace === TOO_MANY.namespace && name === TOO_MANY.name;
}

/** The Gates that a Rollout names in `spec.gates`; without a namespace, a Gate of the Rollout's own namespace. */
export function gateRefsOf({ spec, metadata }: Rollout): NamespacedName[] {
  return (spec?.gates ?? []).map(({ name, namespace }) => ({ namespace: namespace || metadata.namespace || '', name }));
}

export interface RequiredGate extends NamespacedName {
  /** Whether the Gate selects the object; otherwise the object names it. */
  selected?: boolean;
}

/** Stands for a missing name. No Gate can have this name, so the reference counts as closed. */
const UNKNOWN_NAME = '(unknown)';

/**
 * The Gates that the object of a FluxBinding requires.
 * Entries that an older version wrote have no name until the object's decorator writes them again.
 */
export function gatesOf(spec: FluxBindingSpec | undefined): RequiredGate[] {
  return (spec?.gates ?? []).map(({ namespace, gate, selected }) => ({
    namespace,
    name: gate ?? UNKNOWN_NAME,
    ...(selected && { selected }),
  }));
}

/**
 * The Gates in the annotation, each once, in their order; a name without a namespace means the object's own.
 * `problems` has a sentence for each part that names no Gate. Callers treat such a part as a closed Gate.
 */
export function parseGateRefs(
  annotation: string | undefined,
  namespace: string,
): { refs: NamespacedName[]; problems: string[]; tooMany: boolean } {
  const refs: NamespacedName[] = [];
  const problems: string[] = [];
  const parts = splitNames(annotation ?? '');
  // An annotation with too many parts names nothing: the rest could be a closed Gate.
  for (const part of parts ?? []) {
    if (part === '') continue;
    const [name, ns = namespace, ...rest] = part.split('/').reverse();
    if (rest.length > 0 || !NAME.test(name!) || !NAMESPACE.test(ns)) {
      problems.push(`'${part}' in gate.fluxcd.io/gates does not name a Gate: expected <name> or <namespace>/<name>.`);
    } else {
      refs.push({ namespace: ns, name: name! });
    }
  }
  return { refs: uniqueRefs(refs), problems, tooMany: parts === undefined };
}
