/** References to Gates: in `spec.gates` of a Rollout, and in annotations of a Flux object (`a,ns/b`). */
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { Rollout } from '../../api/types.ts';
import { isObjectName, splitNames, uniqueRefs } from '../kube/names.ts';

const NAMESPACE = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

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
