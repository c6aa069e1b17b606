/** What one write makes the webhook read of Gates: bounded, whatever the objects name. */
import { GATES } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import { refKey } from '../kube/names.ts';
import { LIMITS } from '../limits.ts';
import { marksOf } from '../pin/annotations.ts';
import { foreignGates, foreignText, markedGates, namedGates, type RefRules } from './requiredGates.ts';

export interface GateReads {
  /** To be read by name. */
  refs: NamespacedName[];
  /** The mark does not name all Gates that select the object: list them. */
  list: boolean;
  /** Whether Gates are looked at that may select by the Namespace's labels. */
  namespace: boolean;
}

/** Of both, the object as stored and as it shall be. `isNew`: no decorator has marked it yet. */
export function gateReads(objects: readonly FluxObject[], rules: RefRules, isNew = false): GateReads {
  const named = objects.flatMap((object) => namedGates(object, rules).refs);
  const marks = objects.map(markedGates);
  const marked = marks.flatMap((refs) => refs ?? []);
  const all = unique([...named, ...marked]);
  const list = isNew || marks.includes(undefined) || all.length > LIMITS.requiredGates;
  return { refs: list ? unique(named) : all, list, namespace: list || marked.length > 0 };
}

/** The sentence that refuses a write which nobody could look at; undefined when it can be. Nothing is read before it. */
export function refuseCrowd(object: FluxObject, oldObject: FluxObject | undefined): string | undefined {
  const named = [object, ...(oldObject ? [oldObject] : [])].flatMap((each) => namedGates(each).refs);
  if (unique(named).length > LIMITS.requiredGates) {
    return (
      `metadata.annotations[${GATES}]: this write names Gates and leaves others, more than ${LIMITS.requiredGates} ` +
      'together, which is the limit: change the annotation in several writes.'
    );
  }
  if (!marksOf(object).tooMany || (oldObject && marksOf(oldObject).tooMany)) return undefined;
  return (
    `metadata.annotations: more than ${LIMITS.boundRollouts} Rollouts are named or ${LIMITS.pins} variables marked, ` +
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
