/** Effects of Kustomizations on what they apply: which versions they would reset without admission, which Gates would fail them. */
import type { FluxObject } from '../../api/flux.ts';
import { KINDS } from '../../api/kinds.ts';
import type { Rollout } from '../../api/types.ts';
import { parseInventory } from '../../core/health/objects/inventory.ts';
import { firstFew } from '../../core/kube/firstFew.ts';
import { byRefKey, groupOf, identityOf, refKey } from '../../core/kube/names.ts';
import { fieldPath, managedFieldsOf } from '../../core/managedField/managedFields.ts';
import { writeBackName } from '../../core/policy/derivedPolicy.ts';
import { applierOf } from '../../core/suspension/applier.ts';
import { type Check, type Finding, fine, problem, reader } from './finding.ts';

export const checkAppliers: Check = async (examined) => {
  const [gates, fields] = [reader(examined, 'Gates'), reader(examined, 'Fields')];
  const [kustomizations = [], sources = [], rollouts] = await Promise.all([
    gates.kind<FluxObject>('Kustomization'),
    fields.kind<FluxObject>('OCIRepository'),
    fields.kind<Rollout>('Rollout'),
  ]);
  const found = ignoredFindings([...kustomizations, ...sources], kustomizations, rollouts);
  return [...waitedGateFindings(kustomizations), ...found, ...gates.notes, ...fields.notes];
};

interface IgnoreRule {
  paths?: string[];
  target?: Partial<Record<'group' | 'kind' | 'namespace' | 'name' | 'labelSelector' | 'annotationSelector', string>>;
}

/**
 * Objects keep what a Rollout has set while admission is away if their Kustomization ignores the field (Flux 2.9, docs/adopt.md).
 * @param objects with managed fields, or without. @param rollouts those with spec.writeBack want Git to set the fields
 */
export function ignoredFindings(
  objects: readonly FluxObject[],
  kustomizations: readonly FluxObject[],
  rollouts: readonly Rollout[] = [],
): Finding[] {
  const appliers = byRefKey(kustomizations);
  const writingBack = new Set(rollouts.filter(writeBackName).map((each) => refKey(identityOf(each))));
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
    `${name} gets its version from Git (spec.writeBack), and spec.ignore of Kustomization ${applier} keeps it away`;
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
    return [fine('Fields', 'each object that a Kustomization applies keeps its version while admission is away')];
  const what = `${reset.length} of ${all} objects would get the version in Git if admission were removed`;
  const help = 'spec.ignore of their Kustomizations prevents it (docs/adopt.md)';
  return [fine('Fields', `${what}: ${firstFew(reset)}; ${help}`)];
}

/** Whether a rule is about the object. Names may be patterns, and Flux evaluates the selectors: such a rule counts. */
function appliesTo({ apiVersion, kind, metadata }: FluxObject): (rule: IgnoreRule) => boolean {
  const about = { group: groupOf(apiVersion), kind, namespace: metadata.namespace, name: metadata.name };
  return ({ target = {} }) =>
    (['group', 'kind', 'namespace', 'name'] as const).every((key) => {
      const wanted = target[key];
      return !wanted || wanted === about[key] || /[^a-zA-Z0-9.-]/.test(wanted);
    });
}

/** RFC 6901. */
function jsonPointer(path: readonly string[]): string {
  return path.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

const GATES = new Set([KINDS.Gate, KINDS.RolloutGate].map(({ group, kind }) => `${group}/${kind}`));

interface WaitingSpec {
  wait?: boolean;
  healthCheckExprs?: { apiVersion?: string; kind?: string }[];
}

const kindKey = ({ apiVersion = '', kind = '' }: { apiVersion?: string; kind?: string }) =>
  `${groupOf(apiVersion)}/${kind}`;

/** Kustomizations that wait for Gates which they apply themselves: while one is closed, Flux reports them as failed. */
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
    const text = `${what}: while a gate is closed, Flux reports the Kustomization as failed`;
    return problem('Gates', text, 'add the healthCheckExprs of docs/depend-on-a-gate.md');
  });
}
