/** `spec.selects`: one Gate for a team, a namespace or a cluster, with nothing added to the objects it holds. */
import { governedKindOf } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import { groupOf } from '../kube/names.ts';
import { matchesSelector, SelectorError } from '../kube/selector.ts';

/** Values of SELECTS_LABEL: Gates of one namespace are found there, so that many of them burden nobody else. */
export const SELECTS_OWN_NAMESPACE = 'own-namespace';
export const SELECTS_BEYOND = '';

/**
 * Whether the Gate selects the object. An absent namespaceSelector means the Gate's own namespace, an empty one all;
 * an absent labelSelector means all objects. A selector that does not compile selects nothing: the Gate itself says so
 * (admission denies it), and one such Gate must not stop the hooks of every Flux object.
 */
export function gateSelects(
  gate: Gate,
  object: KubeObject<any, any>,
  namespaceLabels: Readonly<Record<string, string>>,
): boolean {
  const { selects } = gate.spec;
  if (!selects || !governedKindOf(groupOf(object.apiVersion), object.kind)) return false;
  if (selects.kinds?.length && !(selects.kinds as string[]).includes(object.kind)) return false;
  try {
    const inNamespace = selects.namespaceSelector
      ? matchesSelector(selects.namespaceSelector, namespaceLabels)
      : object.metadata.namespace === gate.metadata.namespace;
    return inNamespace && matchesSelector(selects.labelSelector, object.metadata.labels);
  } catch (error) {
    if (error instanceof SelectorError) return false;
    throw error;
  }
}

/** By which label the Gate is found; undefined for none. */
export function selectsLabel({ spec }: Gate): string | undefined {
  if (!spec?.selects) return undefined;
  return reachesBeyond(spec.selects) ? SELECTS_BEYOND : SELECTS_OWN_NAMESPACE;
}

/** For a Gate that reaches beyond its namespace anyway: what was stored goes on holding. */
export const BEYOND_FORBIDDEN =
  'spec.selects.namespaceSelector: NO_CROSS_NAMESPACE_REFS forbids Gates that hold objects of other namespaces.';

export function reachesBeyond(selects: Gate['spec']['selects']): boolean {
  return selects?.namespaceSelector !== undefined;
}
