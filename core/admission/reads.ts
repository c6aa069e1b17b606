/** What one write makes the webhook read of Gates: bounded, whatever the objects name. */
import { GATES } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import { refKey } from '../kube/names.ts';
import { LIMITS } from '../limits.ts';
import { pinAnnotationsOf } from './managedFields/annotations.ts';
import { foreignGates, foreignText, gatesInSelectedBy, namedGates, type RefRules } from './requiredGates.ts';

export interface GateReads {
  /** To be read by name. */
  refs: NamespacedName[];
  /** The annotation SELECTED_BY does not name all Gates that select the object: list them. */
  list: boolean;
  /** Whether Gates are looked at that may select by the Namespace's labels. */
  namespace: boolean;
}

/** Of both, the object as stored and as it would become. `mustList`: SELECTED_BY may not name them all yet. */
export function gateReads(objects: readonly FluxObject[], rules: RefRules, mustList = false): GateReads {
  const named = objects.flatMap((object) => namedGates(object, rules).refs);
  const selectedBy = objects.map(gatesInSelectedBy);
  const selecting = selectedBy.flatMap((refs) => refs ?? []);
  const all = unique([...named, ...selecting]);
  const list = mustList || selectedBy.includes(undefined) || all.length > LIMITS.requiredGates;
  return { refs: list ? unique(named) : all, list, namespace: list || selecting.length > 0 };
}

/** The sentence that refuses a write that names too much to be evaluated; undefined otherwise. Checked before anything is read. */
export function refuseTooManyReferences(object: FluxObject, oldObject: FluxObject | undefined): string | undefined {
  const [count, before] = [object, oldObject].map((each) => Object.keys(each?.metadata.annotations ?? {}).length);
  if (count! > LIMITS.annotations && count! > before!) {
    return `metadata.annotations has ${count} entries, and at most ${LIMITS.annotations} are allowed: remove some.`;
  }
  const named = [object, ...(oldObject ? [oldObject] : [])].flatMap((each) => namedGates(each).refs);
  if (unique(named).length > LIMITS.requiredGates) {
    return (
      `metadata.annotations[${GATES}]: before and after this write the annotation names more than ${LIMITS.requiredGates} ` +
      'Gates in all, which is the limit: change the annotation in several writes.'
    );
  }
  if (!pinAnnotationsOf(object).tooMany || (oldObject && pinAnnotationsOf(oldObject).tooMany)) return undefined;
  return (
    `metadata.annotations: more than ${LIMITS.boundRollouts} Rollouts are named or ${LIMITS.pins} variables pinned, ` +
    'which are the limits of one object.'
  );
}

/** The sentence that refuses a write which names Gates of other namespaces that the object did not name before. */
export function refuseForeign(object: FluxObject, oldObject: FluxObject | undefined): string | undefined {
  const known = new Set(oldObject ? foreignGates(oldObject).map(refKey) : []);
  const [first] = foreignGates(object).filter((ref) => !known.has(refKey(ref)));
  return first && foreignText(first);
}

function unique(refs: readonly NamespacedName[]): NamespacedName[] {
  return [...new Map(refs.map((ref) => [refKey(ref), ref])).values()];
}
