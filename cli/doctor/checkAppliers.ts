/** Checks which versions Kustomizations would reset without admission, and whether closed Gates make them fail. */
import type { FluxObject } from '../../api/flux.ts';
import { KINDS } from '../../api/kinds.ts';
import type { Rollout } from '../../api/types.ts';
import { parseInventory } from '../../core/health/objects/inventory.ts';
import { jsonPointer } from '../../core/kube/json.ts';
import { byRefKey, groupOf, identityOf, refKey } from '../../core/kube/names.ts';
import { isSetByGit } from '../../core/managedField/deployment.ts';
import { fieldPath, managedFieldsOf } from '../../core/managedField/managedFields.ts';
import { applierOf } from '../../core/suspension/applier.ts';
import { firstFew } from '../../core/text/firstFew.ts';
import { type Check, type Finding, fine, problem, reader } from './finding.ts';

export const checkAppliers: Check = async (inputs) => {
  const [gates, fields] = [reader(inputs, 'Gates'), reader(inputs, 'Fields')];
  const [kustomizations = [], sources = [], rollouts] = await Promise.all([
    gates.kind<FluxObject>('Kustomization'),
    fields.kind<FluxObject>('OCIRepository'),
    fields.kind<Rollout>('Rollout'),
  ]);
  const found = ignoredFindings([...kustomizations, ...sources], kustomizations, rollouts);
  return [...waitedGateFindings(kustomizations), ...found, ...gates.notes(), ...fields.notes()];
};

interface IgnoreRule {
  paths?: string[];
  target?: Partial<Record<'group' | 'kind' | 'namespace' | 'name' | 'labelSelector' | 'annotationSelector', string>>;
}

/**
 * Findings about managed fields and spec.ignore of the Kustomizations that apply the objects (Flux 2.9, docs/adopt.md).
 * An ignored field keeps its version while admission is down; a field that Git sets (spec.writeBack) must not be
 * ignored.
 */
export function ignoredFindings(
  objects: readonly FluxObject[],
  kustomizations: readonly FluxObject[],
  rollouts: readonly Rollout[] = [],
): Finding[] {
  const appliers = byRefKey(kustomizations);
  const writingBack = new Set(rollouts.filter(isSetByGit).map((each) => refKey(identityOf(each))));
  const fields = objects.flatMap((object) => {
    const ref = applierOf(object);
    const applier = ref && appliers.get(refKey(ref));
    if (!applier) return [];
    const rules = ((applier.spec as { ignore?: IgnoreRule[] } | undefined)?.ignore ?? []).filter(appliesTo(object));
    const ignored = new Set(rules.flatMap(({ paths = [] }) => paths));
    return managedFieldsOf(object).fields.map((field) => ({
      name: `${object.kind} ${refKey(identityOf(object))}`,
      applier: refKey(ref),
      isIgnored: ignored.has(jsonPointer(fieldPath(field))),
      isOfGit: writingBack.has(refKey({ namespace: object.metadata.namespace ?? '', name: field.rollout })),
    }));
  });
  const blocked = fields.filter(({ isOfGit, isIgnored }) => isOfGit && isIgnored);
  const blockedText = (name: string, applier: string) =>
    `${name} gets its version from Git (spec.writeBack), but spec.ignore of Kustomization ${applier} keeps the old one`;
  return [
    ...blocked.map(({ name, applier }) =>
      problem('Fields', blockedText(name, applier), 'remove the path of the version from spec.ignore'),
    ),
    ...resetFinding(fields.filter(({ isOfGit }) => !isOfGit)),
  ];
}

function resetFinding(fields: readonly { name: string; isIgnored: boolean }[]): Finding[] {
  const all = new Set(fields.map(({ name }) => name)).size;
  if (all === 0) return [];
  const reset = [...new Set(fields.filter(({ isIgnored }) => !isIgnored).map(({ name }) => name))];
  if (reset.length === 0)
    return [fine('Fields', 'each object that a Kustomization applies keeps its version while admission is down')];
  const what = `${reset.length} of ${all} objects would get the version in Git if admission were removed`;
  const help = 'to prevent that, set spec.ignore in their Kustomizations';
  return [fine('Fields', `${what}: ${firstFew(reset)}; ${help}`)];
}

/** Whether a rule applies to the object. Patterns and selectors, which only Flux evaluates, count as a match. */
function appliesTo({ apiVersion, kind, metadata }: FluxObject): (rule: IgnoreRule) => boolean {
  const about = { group: groupOf(apiVersion), kind, namespace: metadata.namespace, name: metadata.name };
  return ({ target = {} }) =>
    (['group', 'kind', 'namespace', 'name'] as const).every((key) => {
      const wanted = target[key];
      return !wanted || wanted === about[key] || /[^a-zA-Z0-9.-]/.test(wanted);
    });
}

const GATES = new Set([KINDS.Gate, KINDS.RolloutGate].map(({ group, kind }) => `${group}/${kind}`));

interface WaitingSpec {
  wait?: boolean;
  healthCheckExprs?: { apiVersion?: string; kind?: string }[];
}

const kindKey = ({ apiVersion = '', kind = '' }: { apiVersion?: string; kind?: string }) =>
  `${groupOf(apiVersion)}/${kind}`;

/** Findings about Kustomizations that wait for Gates which they apply: a closed one makes them fail. */
export function waitedGateFindings(kustomizations: readonly FluxObject[]): Finding[] {
  return kustomizations.flatMap(({ metadata, spec, status }) => {
    const { wait, healthCheckExprs = [] } = (spec ?? {}) as WaitingSpec;
    if (!wait) return [];
    const evaluated = new Set(healthCheckExprs.map(kindKey));
    const { entries } = (status as { inventory?: { entries?: unknown } } | undefined)?.inventory ?? {};
    const { resources } = parseInventory(entries);
    const waited = resources.filter((each) => GATES.has(kindKey(each)) && !evaluated.has(kindKey(each)));
    if (waited.length === 0) return [];
    const names = firstFew(waited.map(({ kind, namespace, name }) => `${kind} ${namespace}/${name}`));
    const what = `Kustomization ${metadata.namespace}/${metadata.name} has wait: true and applies ${names}`;
    const text = `${what}: while one is closed, Flux reports the Kustomization as failed`;
    return problem('Gates', text, 'add the healthCheckExprs of docs/depend-on-a-gate.md');
  });
}
