/**
 * Selection (`spec.selects`): one Gate for a team, a namespace or a cluster, without annotations on the objects that it
 * holds.
 */
import { SELECTS_LABEL, SELECTS_ROLLOUTS_LABEL } from '../../api/annotations.ts';
import { GATES, GOVERNED_KINDS, governedKindOf, KINDS } from '../../api/kinds.ts';
import type { KubeObject, ObjectName } from '../../api/kubernetes.ts';
import type { RelatedResourceRule } from '../../api/metacontroller.ts';
import type { ResourceRef } from '../../api/ports.ts';
import type { Gate, Rollout } from '../../api/types.ts';
import { groupOf } from '../kube/names.ts';
import { matchesSelector, SelectorError } from '../kube/selector.ts';

/** Values of both labels. Gates that select in their own namespace are found there only, at no cost to others. */
const OWN_NAMESPACE = 'own-namespace';
const BEYOND = '';
/** Values of SELECTS_LABEL on Gates that select Rollouts alone: one list finds them too, and they trigger no object. */
const ROLLOUTS_ALONE = { [OWN_NAMESPACE]: 'own-namespace-rollouts', [BEYOND]: 'rollouts' } as const;
type Reach = keyof typeof ROLLOUTS_ALONE;

type SelectsLabel = typeof SELECTS_LABEL | typeof SELECTS_ROLLOUTS_LABEL;

/** Gates that may select Flux objects and Rollouts of one namespace. */
export interface SelectingGates {
  /** Gates without a selection are ignored. */
  gates: readonly Gate[];
  /** Labels of the Namespace. */
  namespaceLabels: Readonly<Record<string, string>>;
  /** Whether there are more Gates than one list returns. The others count as closed. */
  isTruncated?: boolean;
}

/** The rules of a customize hook that relate the Gates that may select an object of the namespace. */
export function selectingGateRules(namespace: string, label: SelectsLabel): RelatedResourceRule[] {
  return [
    // With one rule for both values, a Gate of one namespace would trigger the objects of every other.
    { ...GATES, labelSelector: { matchLabels: { [label]: BEYOND } } },
    { ...GATES, namespace, labelSelector: { matchLabels: { [label]: OWN_NAMESPACE } } },
  ];
}

type GateList = ResourceRef & { labelSelector: string };

/** The lists of Gates that may select a Flux object or Rollout of the namespace. */
export function selectingGateLists(namespace: string): GateList[] {
  return [listOfGatesBeyond(), { ...GATES, namespace, labelSelector: selectorOf(OWN_NAMESPACE) }];
}

/** The list of Gates that select by a namespaceSelector. */
export function listOfGatesBeyond(): GateList {
  return { ...GATES, labelSelector: selectorOf(BEYOND) };
}

function selectorOf(reach: Reach): string {
  return `${SELECTS_LABEL} in (${reach},${ROLLOUTS_ALONE[reach]})`;
}

/** Whether the Gate selects the Flux object. Without `kinds` it selects every governed kind of Flux. */
export function gateSelects(
  gate: Gate,
  object: KubeObject<any, any>,
  namespaceLabels: Readonly<Record<string, string>>,
): boolean {
  const kind = governedKindOf(groupOf(object.apiVersion), object.kind);
  return kind !== undefined && selectsKind(gate, kind) && matches(gate, object, namespaceLabels);
}

/**
 * Whether the Gate selects the Rollout. It must list Rollouts in `kinds`, so that older Gates for Flux objects don't
 * begin to hold deployments.
 */
export function gateSelectsRollout(
  gate: Gate,
  rollout: Rollout,
  namespaceLabels: Readonly<Record<string, string>>,
): boolean {
  return selectsRollouts(gate) && matches(gate, rollout, namespaceLabels);
}

/** Whether the Gate selects objects of this kind. Without `kinds` it selects every Flux kind, and no Rollout. */
export function selectsKind({ spec }: Pick<Gate, 'spec'>, kind: string): boolean {
  if (!spec?.selects) return false;
  const kinds: readonly string[] = spec.selects.kinds ?? [];
  return kinds.length === 0 ? kind !== KINDS.Rollout.kind : kinds.includes(kind);
}

export function selectsRollouts(gate: Gate): boolean {
  return selectsKind(gate, KINDS.Rollout.kind);
}

/**
 * Whether the Gate selects by namespace and labels.
 * An absent labelSelector means all objects.
 */
function matches(
  gate: Gate,
  { metadata }: Pick<KubeObject, 'metadata'>,
  namespaceLabels: Readonly<Record<string, string>>,
): boolean {
  return (
    selectsNamespace(gate, metadata.namespace, namespaceLabels) &&
    compiled(() => matchesSelector(gate.spec.selects?.labelSelector, metadata.labels))
  );
}

/**
 * Whether the Gate may select objects of the namespace.
 * An absent namespaceSelector means the Gate's own namespace, an empty one all.
 */
export function selectsNamespace(
  { spec, metadata }: Gate,
  namespace: string | undefined,
  labels: Readonly<Record<string, string>>,
): boolean {
  const selector = spec.selects?.namespaceSelector;
  return selector ? compiled(() => matchesSelector(selector, labels)) : namespace === metadata.namespace;
}

/**
 * The result of a match; false for an invalid selector. Admission denies those, and a stored one must not stop the
 * hooks of every Flux object.
 */
function compiled(match: () => boolean): boolean {
  try {
    return match();
  } catch (error) {
    if (error instanceof SelectorError) return false;
    throw error;
  }
}

/** Whether the decorators of Flux objects find the Gate, by its label. */
export function hasFluxLabel({ metadata }: Gate): boolean {
  const value = metadata.labels?.[SELECTS_LABEL];
  return value === OWN_NAMESPACE || value === BEYOND;
}

export function selectsFlux(gate: Gate): boolean {
  return GOVERNED_KINDS.some(({ kind }) => selectsKind(gate, kind));
}

/** The labels by which the Gate is found; undefined for a label that it must not have. */
export function selectsLabels(gate: Gate): Record<SelectsLabel, string | undefined> {
  const reach = reachesBeyond(gate.spec?.selects) ? BEYOND : OWN_NAMESPACE;
  const rollouts = selectsRollouts(gate);
  return {
    [SELECTS_LABEL]: selectsFlux(gate) ? reach : rollouts ? ROLLOUTS_ALONE[reach] : undefined,
    [SELECTS_ROLLOUTS_LABEL]: rollouts ? reach : undefined,
  };
}

/**
 * The problem of a Gate that selects beyond its namespace in an installation that forbids it. A stored Gate still
 * holds.
 */
export const BEYOND_FORBIDDEN =
  'spec.selects.namespaceSelector: NO_CROSS_NAMESPACE_REFS forbids Gates that hold objects of other namespaces.';

export function reachesBeyond(selects: Gate['spec']['selects'] | undefined): boolean {
  return selects?.namespaceSelector !== undefined;
}

/** The object that requires a Gate, as text: `Kustomization apps/web`. */
export function requirerText({ kind, namespace, name }: ObjectName): string {
  return `${kind} ${namespace}/${name}`;
}
