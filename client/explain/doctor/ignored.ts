/** Which objects keep what a Rollout has set while admission is away: those whose Kustomization ignores the field (Flux 2.9, docs/take-over.md). */
import type { FluxObject } from '../../../api/flux.ts';
import { firstFew } from '../../../core/kube/firstFew.ts';
import { groupOf, identityOf, refKey } from '../../../core/kube/names.ts';
import { pinAnnotationsOf, pinPath } from '../../../core/pin/annotations.ts';
import { applierOf } from '../../../core/suspend/applier.ts';
import { type Finding, fine } from './finding.ts';

interface IgnoreRule {
  paths?: string[];
  target?: Partial<Record<'group' | 'kind' | 'namespace' | 'name' | 'labelSelector' | 'annotationSelector', string>>;
}

/** @param objects with pinned fields, or without */
export function ignoredFindings(objects: readonly FluxObject[], kustomizations: readonly FluxObject[]): Finding[] {
  const appliers = new Map(kustomizations.map((each) => [refKey(identityOf(each)), each]));
  const applied = objects.flatMap((object) => {
    const { pins } = pinAnnotationsOf(object);
    const ref = applierOf(object);
    const applier = ref && appliers.get(refKey(ref));
    if (pins.length === 0 || !applier) return [];
    const rules = ((applier.spec as { ignore?: IgnoreRule[] } | undefined)?.ignore ?? []).filter(isAbout(object));
    const ignored = new Set(rules.flatMap(({ paths = [] }) => paths));
    return [{ object, keeps: pins.every((pin) => ignored.has(pointer(pinPath(pin)))) }];
  });
  if (applied.length === 0) return [];
  const reset = applied
    .filter(({ keeps }) => !keeps)
    .map(({ object }) => `${object.kind} ${refKey(identityOf(object))}`);
  const text =
    reset.length === 0
      ? 'each object that a Kustomization applies keeps its version while admission is away'
      : `${reset.length} of ${applied.length} objects would get the version in Git if admission were removed: ${firstFew(reset)}; spec.ignore of their Kustomizations prevents it (docs/take-over.md)`;
  return [fine('Fields', text)];
}

/** Names may be patterns, and selectors are Flux's to judge: such a rule counts. */
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
