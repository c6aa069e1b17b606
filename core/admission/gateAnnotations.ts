/**
 * The Gates that the annotations of a Flux object name, and the writes refused because their annotations name too much
 * or too far.
 */
import { REQUIRED_GATES, SELECTED_BY } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import { isTooMany, parseGateRefs, TOO_MANY } from '../gate/gateRefs.ts';
import { refKey, uniqueRefs, without } from '../kube/names.ts';
import { LIMITS } from '../limits.ts';
import { managedFieldsOf } from '../managedField/managedFields.ts';
import { MAX_LIST } from '../suspension/stateAnnotation.ts';

/**
 * The setting NO_CROSS_NAMESPACE_REFS: a Gate of another namespace is not followed, which counts as a name of no Gate.
 */
export interface RefRules {
  ownNamespaceOnly?: boolean;
}

const MAX_PROBLEMS = 20;
const MAX_PROBLEM = 400;

/** The Gates that the annotation names. None if it names too many: they need not be read. */
export function gatesInAnnotation(
  object: FluxObject,
  { ownNamespaceOnly = false }: RefRules = {},
): { refs: NamespacedName[]; problems: string[]; tooMany: boolean } {
  const { namespace = '', annotations } = object.metadata;
  const parsed = parseGateRefs(annotations?.[REQUIRED_GATES], namespace);
  const refs = ownNamespaceOnly ? parsed.refs.filter((ref) => ref.namespace === namespace) : parsed.refs;
  const all = [...parsed.problems, ...(ownNamespaceOnly ? foreignGates(object).map(foreignText) : [])];
  const problems = all.slice(0, MAX_PROBLEMS).map((problem) => problem.slice(0, MAX_PROBLEM));
  const tooMany = parsed.tooMany || refs.length > LIMITS.requiredGates;
  return { refs: tooMany ? [] : refs, problems, tooMany };
}

/**
 * The Gates that the annotation SELECTED_BY names, which proves nothing: see `selectingGates`.
 * Undefined if it does not name them all.
 */
export function gatesInSelectedBy(object: FluxObject): NamespacedName[] | undefined {
  const selectedBy = object.metadata.annotations?.[SELECTED_BY];
  if (selectedBy?.includes(TOO_MANY.name)) return undefined;
  const { refs, tooMany } = parseGateRefs(selectedBy, object.metadata.namespace ?? '');
  return tooMany || refs.length > LIMITS.requiredGates ? undefined : refs;
}

/** The Gates that both annotations name. Not complete if they name too many. */
export function recordedRefs(
  object: FluxObject,
  rules: RefRules = {},
): { refs: NamespacedName[]; isComplete: boolean } {
  const { refs: named, tooMany } = gatesInAnnotation(object, rules);
  const selecting = gatesInSelectedBy(object);
  const refs = uniqueRefs([...named, ...(selecting ?? [])].filter((ref) => !isTooMany(ref)));
  return { refs, isComplete: !tooMany && selecting !== undefined };
}

/** What one write makes the webhook read of Gates. */
interface GateReads {
  /** To be read by name. */
  refs: NamespacedName[];
  /** Whether to list Gates, since SELECTED_BY may not name all that select the object. */
  list: boolean;
  /** Whether Gates are evaluated that may select by the Namespace's labels. */
  namespace: boolean;
}

/**
 * The reads for these objects: the one as stored and the one as it would become.
 * `mustList`: SELECTED_BY may not name them all yet.
 */
export function gatesToRead(objects: readonly FluxObject[], rules: RefRules, mustList = false): GateReads {
  const named = objects.flatMap((object) => gatesInAnnotation(object, rules).refs);
  const selectedBy = objects.map(gatesInSelectedBy);
  const selecting = selectedBy.flatMap((refs) => refs ?? []);
  const all = uniqueRefs([...named, ...selecting]);
  const list = mustList || selectedBy.includes(undefined) || all.length > LIMITS.requiredGates;
  return { refs: list ? uniqueRefs(named) : all, list, namespace: list || selecting.length > 0 };
}

/**
 * The text of SELECTED_BY; undefined for none.
 * If it can't name them all, it says so, and the webhook lists the Gates itself.
 */
export function selectedByText(
  { named, selecting }: { named: NamespacedName[]; selecting: NamespacedName[] },
  truncated = false,
): string | undefined {
  if (truncated || isTooManyGates(named, selecting)) return TOO_MANY.name;
  const text = selecting.map(refKey).sort().join(',');
  return text.length > MAX_LIST ? TOO_MANY.name : text || undefined;
}

export function isTooManyGates(...lists: NamespacedName[][]): boolean {
  return uniqueRefs(lists.flat()).length > LIMITS.requiredGates;
}

/**
 * The sentence that refuses a write that names too much to be evaluated; undefined otherwise.
 * Checked before anything is read.
 */
export function refuseTooManyReferences(object: FluxObject, oldObject: FluxObject | undefined): string | undefined {
  const [count, before] = [object, oldObject].map((each) => Object.keys(each?.metadata.annotations ?? {}).length);
  if (count! > LIMITS.annotations && count! > before!) {
    return `metadata.annotations has ${count} entries, and at most ${LIMITS.annotations} are allowed: remove some.`;
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
    `metadata.annotations: names more than ${LIMITS.boundRollouts} Rollouts or ${LIMITS.managedFields} variables, ` +
    'which are the limits of one object.'
  );
}

/** The sentence that refuses a write which names Gates of other namespaces that the object did not name before. */
export function refuseForeign(object: FluxObject, oldObject: FluxObject | undefined): string | undefined {
  const [first] = without(foreignGates(object), oldObject ? foreignGates(oldObject) : []);
  return first && foreignText(first);
}

/** The Gates of other namespaces that the object names. */
function foreignGates({ metadata: { namespace = '', annotations } }: FluxObject): NamespacedName[] {
  return parseGateRefs(annotations?.[REQUIRED_GATES], namespace).refs.filter((ref) => ref.namespace !== namespace);
}

function foreignText(ref: NamespacedName): string {
  return (
    `${REQUIRED_GATES} references Gate '${refKey(ref)}' of another namespace, and NO_CROSS_NAMESPACE_REFS forbids references ` +
    'to other namespaces.'
  );
}
