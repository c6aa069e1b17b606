/** The references in annotations of a Flux object for which a write is denied: too many, or to other namespaces. */
import { REQUIRED_GATES } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import { uniqueRefs, without } from '../kube/names.ts';
import { LIMITS } from '../limits.ts';
import { managedFieldsOf } from '../managedField/managedFields.ts';
import { foreignGates, foreignText, gatesInAnnotation } from '../objectGates/objectGates.ts';

/**
 * The sentence that denies a write that names too much to be evaluated; undefined if it doesn't.
 * This is checked before anything is read.
 */
export function tooManyReferencesProblem(object: FluxObject, oldObject: FluxObject | undefined): string | undefined {
  for (const field of ['annotations', 'labels'] as const) {
    const [count, before] = [object, oldObject].map((each) => Object.keys(each?.metadata[field] ?? {}).length);
    if (count! > LIMITS[field] && count! > before!)
      return `metadata.${field} has ${count} entries, and at most ${LIMITS[field]} are allowed: remove some.`;
  }
  const named = [object, ...(oldObject ? [oldObject] : [])].flatMap((each) => gatesInAnnotation(each).refs);
  if (uniqueRefs(named).length > LIMITS.requiredGates) {
    return (
      `metadata.annotations[${REQUIRED_GATES}]: the old and the new value together name more than ${LIMITS.requiredGates} ` +
      'Gates (limit requiredGates): change the annotation in several writes.'
    );
  }
  if (!managedFieldsOf(object).tooMany || (oldObject && managedFieldsOf(oldObject).tooMany)) return undefined;
  return (
    `metadata.annotations name more than ${LIMITS.boundRollouts} Rollouts or ${LIMITS.managedFields} variables ` +
    '(limits boundRollouts, managedFields): name fewer.'
  );
}

/** The sentence that denies a write which names Gates of other namespaces that the object did not name before. */
export function newForeignGateProblem(object: FluxObject, oldObject: FluxObject | undefined): string | undefined {
  const [first] = without(foreignGates(object), oldObject ? foreignGates(oldObject) : []);
  return first && foreignText(first);
}
