/**
 * References to Gates: `spec.gates` of a Rollout and of a FluxBinding, and the annotation `gate.fluxcd.io/gates:
 * a,ns/b` of a Flux object.
 */
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { FluxBindingSpec, Rollout } from '../../api/types.ts';
import { splitNames } from '../kube/names.ts';

const NAMESPACE = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const NAME = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;

/** The name in place of Gates that are too many to be evaluated or listed. No Gate can have it. */
export const BEYOND = '(too-many)';

/** Stands for the Gates of an object that requires more than are evaluated. It is always closed. */
export const TOO_MANY: NamespacedName = { namespace: '', name: BEYOND };

export function isTooMany({ namespace, name }: NamespacedName): boolean {
  return namespace === TOO_MANY.namespace && name === TOO_MANY.name;
}

/** The Gates that a Rollout names in `spec.gates`; without a namespace, a Gate of the Rollout's own namespace. */
export function gateRefsOf({ spec, metadata }: Rollout): NamespacedName[] {
  return (spec?.gates ?? []).map(({ name, namespace }) => ({ namespace: namespace || metadata.namespace || '', name }));
}

export interface RequiredGate extends NamespacedName {
  /** The Gate selects the object; the object does not name it. */
  selected?: boolean;
}

/** No Gate can have the name, and one that does not exist counts as closed. */
const UNKNOWN = '(unknown)';

/**
 * The Gates that the object of a FluxBinding requires.
 * Those that an older version wrote are unknown, until the object's decorator writes them again.
 */
export function gatesOf(spec: FluxBindingSpec | undefined): RequiredGate[] {
  return (spec?.gates ?? []).map(({ namespace, gate, selected }) => ({
    namespace,
    name: gate ?? UNKNOWN,
    ...(selected && { selected }),
  }));
}

/**
 * The Gates named, each once, in their order; a name without a namespace means the object's own.
 * `problems` has a sentence for each part that names no Gate.
 * Such a part must not open anything: callers treat it as a closed Gate.
 */
export function parseGateRefs(
  annotation: string | undefined,
  namespace: string,
): { refs: NamespacedName[]; problems: string[]; tooMany: boolean } {
  const refs = new Map<string, NamespacedName>();
  const problems: string[] = [];
  const parts = splitNames(annotation ?? '');
  // An annotation that is not read to its end names nothing: the rest could be a closed Gate.
  for (const part of parts ?? []) {
    if (part === '') continue;
    const [name, ns = namespace, ...rest] = part.split('/').reverse();
    if (rest.length > 0 || !NAME.test(name!) || !NAMESPACE.test(ns)) {
      problems.push(`'${part}' in gate.fluxcd.io/gates does not name a Gate: expected <name> or <namespace>/<name>.`);
    } else {
      refs.set(`${ns}/${name}`, { namespace: ns, name: name! });
    }
  }
  return { refs: [...refs.values()], problems, tooMany: parts === undefined };
}
