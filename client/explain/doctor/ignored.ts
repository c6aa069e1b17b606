/** Which objects keep what a Rollout has set while admission is away: those whose Kustomization ignores the field (Flux 2.9, docs/take-over.md). */
import type { FluxObject } from '../../../api/flux.ts';
import type { Rollout } from '../../../api/types.ts';
import { pinAnnotationsOf, pinPath } from '../../../core/admission/managedFields/annotations.ts';
import { applierOf } from '../../../core/admission/suspend/applier.ts';
import { firstFew } from '../../../core/kube/firstFew.ts';
import { groupOf, identityOf, refKey } from '../../../core/kube/names.ts';
import { writeBackName } from '../../../core/policy/derivedPolicy.ts';
import { type Finding, fine, problem } from './finding.ts';

interface IgnoreRule {
  paths?: string[];
  target?: Partial<Record<'group' | 'kind' | 'namespace' | 'name' | 'labelSelector' | 'annotationSelector', string>>;
}

/** @param objects with pinned fields, or without. @param rollouts those with spec.writeBack want Git to set the fields */
export function ignoredFindings(
  objects: readonly FluxObject[],
  kustomizations: readonly FluxObject[],
  rollouts: readonly Rollout[] = [],
): Finding[] {
  const appliers = new Map(kustomizations.map((each) => [refKey(identityOf(each)), each]));
  const writingBack = new Set(rollouts.filter(writeBackName).map((each) => refKey(identityOf(each))));
  const fields = objects.flatMap((object) => {
    const ref = applierOf(object);
    const applier = ref && appliers.get(refKey(ref));
    if (!applier) return [];
    const rules = ((applier.spec as { ignore?: IgnoreRule[] } | undefined)?.ignore ?? []).filter(isAbout(object));
    const ignored = new Set(rules.flatMap(({ paths = [] }) => paths));
    const name = `${object.kind} ${refKey(identityOf(object))}`;
    return pinAnnotationsOf(object).pins.map((pin) => ({
      name,
      applier: refKey(ref),
      isIgnored: ignored.has(pointer(pinPath(pin))),
      isOfGit: writingBack.has(refKey({ namespace: object.metadata.namespace ?? '', name: pin.rollout })),
    }));
  });
  const blocked = fields.filter(({ isOfGit, isIgnored }) => isOfGit && isIgnored);
  return [
    ...blocked.map(({ name, applier }) =>
      problem(
        'Fields',
        `${name} gets its version from Git (spec.writeBack), and spec.ignore of Kustomization ${applier} keeps it away`,
        'remove the path of the version from spec.ignore',
      ),
    ),
    ...resetFinding(fields.filter(({ isOfGit }) => !isOfGit)),
  ];
}

function resetFinding(fields: readonly { name: string; isIgnored: boolean }[]): Finding[] {
  const names = new Set(fields.map(({ name }) => name));
  if (names.size === 0) return [];
  const reset = [...new Set(fields.filter(({ isIgnored }) => !isIgnored).map(({ name }) => name))];
  const text =
    reset.length === 0
      ? 'each object that a Kustomization applies keeps its version while admission is away'
      : `${reset.length} of ${names.size} objects would get the version in Git if admission were removed: ${firstFew(reset)}; spec.ignore of their Kustomizations prevents it (docs/take-over.md)`;
  return [fine('Fields', text)];
}

/** Names may be patterns, and Flux evaluates the selectors: such a rule counts. */
function isAbout({ apiVersion, kind, metadata }: FluxObject): (rule: IgnoreRule) => boolean {
  const about = { group: groupOf(apiVersion), kind, namespace: metadata.namespace, name: metadata.name };
  return ({ target = {} }) =>
    (['group', 'kind', 'namespace', 'name'] as const).every((key) => {
      const wanted = target[key];
      return !wanted || wanted === about[key] || /[^a-zA-Z0-9.-]/.test(wanted);
    });
}

/** RFC 6901. */
function pointer(path: readonly string[]): string {
  return path.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
