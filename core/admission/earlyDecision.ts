/** What is decided on a write of a Flux object before anything is read: most writes change nothing governed. */
import { REQUIRED_GATES, UNCOUNTED_ON_FLUX_OBJECTS } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import { LIMIT_OF_ROLLOUTS, LIMIT_TEXTS, type RefRules } from '../gate/gateRefs.ts';
import { isDeeperThan, sameJson } from '../kube/json.ts';
import { uniqueRefs, without } from '../kube/names.ts';
import { LIMITS } from '../limits.ts';
import { managedFieldsOf } from '../managedField/managedFields.ts';
import { type Denial, subjectOf } from '../objectGates/gateTexts.ts';
import { foreignGates, foreignText, gatesInAnnotation } from '../objectGates/objectGates.ts';
import { isSuspendedByUs } from '../objectGates/objectState.ts';

/**
 * Whether a write changes nothing that Rollouts and Gates govern, and so needs no decision.
 * On an object that we suspended even an unchanged write is decided, since it may be its applier's apply, which resumes
 * it. A write of finalizers is not, so that the object can be deleted without this server.
 * In CEL, in manifests/webhooks/mutating.yaml: `changed`, `nothing-governed-changed` and `something-else-changed`.
 */
export function isOutOfScope(object: FluxObject, oldObject: FluxObject): boolean {
  const same = (['annotations', 'labels', 'ownerReferences'] as const).every((field) =>
    sameJson(object.metadata[field] ?? {}, oldObject.metadata[field] ?? {}),
  );
  if (!same || !sameJson(object.spec, oldObject.spec)) return false;
  const changesOther = (['finalizers', 'managedFields', 'generateName'] as const).some(
    (field) => !sameJson(object.metadata[field], oldObject.metadata[field]),
  );
  // One that runs for a bypassing deployment is not suspended, although it has the annotation.
  if (isSuspendedByUs(oldObject)) return !sameJson(object.metadata.finalizers, oldObject.metadata.finalizers);
  // A burst of such writes makes the decorator's suspending write conflict again and again. So the webhook decides them
  // too, and suspends the object in one of them.
  return !changesOther || oldObject.metadata.deletionTimestamp !== undefined;
}

/** The form of the API server, which reads `0354` as 354, and `0` as "whatever is stored". */
const RESOURCE_VERSION = /^[1-9]\d*$/;

/**
 * Whether the API server will reject the write with a 409, because its resourceVersion is not the stored one.
 * Webhooks are called before that check. A decorator that writes from an old cache would look like a user who undoes
 * the last change; a denial would count as its failure, while a conflict is retried.
 */
export function willConflict(object: FluxObject, oldObject: FluxObject): boolean {
  const version = object.metadata.resourceVersion ?? '';
  const stored = oldObject.metadata.resourceVersion ?? '';
  return RESOURCE_VERSION.test(version) && RESOURCE_VERSION.test(stored) && version !== stored;
}

/** The denial of a write that names too much, or is nested too deeply, to be evaluated. */
export function limitDenial(
  object: FluxObject,
  oldObject: FluxObject | undefined,
  rules: RefRules,
): Denial | undefined {
  const limit = tooManyReferencesProblem(object, oldObject, rules) ?? nestingProblem(object, oldObject);
  return limit === undefined ? undefined : { reason: 'limit', text: `${subjectOf(object)}: ${limit}` };
}

function tooManyReferencesProblem(
  object: FluxObject,
  oldObject: FluxObject | undefined,
  rules: RefRules,
): string | undefined {
  for (const field of ['annotations', 'labels'] as const) {
    const count = countOfKeys(object.metadata[field]);
    if (count > LIMITS[field] && count > countOfKeys(oldObject?.metadata[field]))
      return `metadata.${field} has ${count} entries, and at most ${LIMITS[field]} are allowed: remove some.`;
  }
  const named = [object, ...(oldObject ? [oldObject] : [])].flatMap((each) => gatesInAnnotation(each, rules).refs);
  if (uniqueRefs(named).length > LIMITS.requiredGates) {
    return (
      `metadata.annotations[${REQUIRED_GATES}]: the old and the new value together name more than ${LIMITS.requiredGates} ` +
      'Gates (limit requiredGates): change the annotation in several writes.'
    );
  }
  if (!managedFieldsOf(object).tooMany || (oldObject && managedFieldsOf(oldObject).tooMany)) return undefined;
  return `${LIMIT_TEXTS[LIMIT_OF_ROLLOUTS]}.`;
}

function countOfKeys(entries: Record<string, string> | undefined): number {
  return Object.keys(entries ?? {}).filter((key) => !UNCOUNTED_ON_FLUX_OBJECTS.has(key)).length;
}

/** The denial of a write that names a Gate of another namespace that the object did not name before. */
export function foreignGateDenial(
  object: FluxObject,
  oldObject: FluxObject | undefined,
  rules: RefRules,
): Denial | undefined {
  const [first] = without(foreignGates(object, rules), oldObject ? foreignGates(oldObject, rules) : []);
  return first && { reason: 'not_permitted', text: `${subjectOf(object)}: ${foreignText(first)}` };
}

/**
 * The problem of a spec that is too deep to be compared field by field.
 * A stored spec that is too deep blocks no write that leaves it alone: otherwise the object could not be suspended.
 */
function nestingProblem(object: FluxObject, oldObject: FluxObject | undefined): string | undefined {
  if (!isDeeperThan(LIMITS.nesting, object.spec)) return undefined;
  if (oldObject && sameJson(specWithoutSuspend(object), specWithoutSuspend(oldObject))) return undefined;
  return `spec is nested more than ${LIMITS.nesting} levels deep (limit nesting): nest it less deeply.`;
}

function specWithoutSuspend({ spec }: FluxObject): unknown {
  const { suspend: _, ...rest } = spec ?? {};
  return rest;
}
