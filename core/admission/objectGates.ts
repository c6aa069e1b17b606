/** The Gates that a Flux object requires, by name and by selection, and whether they are closed: the one answer of hooks and webhooks. */
import {
  ARTIFACT,
  AWAITS_ARTIFACT,
  DEPLOYED,
  GATES,
  ROLLOUT_PREFIX,
  SELECTED_BY,
  SELECTS_LABEL,
} from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { EpochMs, NamespacedName } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import { evaluateGates, type GateResults } from '../gate/evaluateGates.ts';
import { isTooMany, parseGateRefs, TOO_MANY } from '../gate/gateRefs.ts';
import { gateSelects } from '../gate/gateSelection.ts';
import { annotate } from '../kube/annotate.ts';
import { identityOf, refKey } from '../kube/names.ts';
import { LIMITS } from '../limits.ts';
import { managedFieldsOf } from './managedFields/managedFields.ts';
import { closingKey, INVALID_REFERENCE, MAX_LIST } from './suspend/stateAnnotation.ts';

/** The setting NO_CROSS_NAMESPACE_REFS: a Gate of another namespace is not followed, which counts as a name of no Gate. */
export interface RefRules {
  ownNamespaceOnly?: boolean;
}

/** The Gates there are, as read for one object. */
interface KnownGates extends RefRules {
  /** By `namespace/name`; a Gate that does not exist is absent. */
  gates: ReadonlyMap<string, Gate>;
  /** Labels of the object's own Namespace. */
  namespaceLabels: Readonly<Record<string, string>>;
  /** All Gates that may select the object, where they were listed; otherwise its annotation SELECTED_BY names them. */
  candidates?: readonly NamespacedName[];
  /** More candidates exist than one list may bring. */
  truncated?: boolean;
}

export interface GateContext extends KnownGates {
  now: EpochMs;
}

export interface RequiredGates {
  named: NamespacedName[];
  selecting: NamespacedName[];
  /** Parts of the annotation that name no Gate: they suspend the object, but its annotation may be corrected. */
  problems: string[];
  /** Beyond a limit: the object is behind a closed gate, whatever the Gates say. */
  tooMany: boolean;
}

/** The Gates of one object, evaluated. */
export interface ObjectGates extends RequiredGates, GateResults {
  /** What keeps the object from running: the closed Gates as `namespace/name`, and INVALID_REFERENCE. */
  names: string[];
  /** `names`, each with its closing: see `closingKey`. */
  closings: string[];
}

const MAX_PROBLEMS = 20;
const MAX_PROBLEM = 400;

/** The Gates that the annotation names. None where it names too many: they need not be read. */
export function gatesInAnnotation(
  object: FluxObject,
  { ownNamespaceOnly = false }: RefRules = {},
): { refs: NamespacedName[]; problems: string[]; tooMany: boolean } {
  const { namespace = '', annotations } = object.metadata;
  const parsed = parseGateRefs(annotations?.[GATES], namespace);
  const refs = ownNamespaceOnly ? parsed.refs.filter((ref) => ref.namespace === namespace) : parsed.refs;
  const all = [...parsed.problems, ...(ownNamespaceOnly ? foreignGates(object).map(foreignText) : [])];
  const problems = all.slice(0, MAX_PROBLEMS).map((problem) => problem.slice(0, MAX_PROBLEM));
  const tooMany = parsed.tooMany || refs.length > LIMITS.requiredGates;
  return { refs: tooMany ? [] : refs, problems, tooMany };
}

/** The Gates that the annotation SELECTED_BY names, which proves nothing: see `selectingGates`. Undefined where it does not name them all. */
export function gatesInSelectedBy(object: FluxObject): NamespacedName[] | undefined {
  const selectedBy = object.metadata.annotations?.[SELECTED_BY];
  if (selectedBy?.includes(TOO_MANY.name)) return undefined;
  const { refs, tooMany } = parseGateRefs(selectedBy, object.metadata.namespace ?? '');
  return tooMany || refs.length > LIMITS.requiredGates ? undefined : refs;
}

/** The candidates that exist and select the object: the text of SELECTED_BY counts for no more. */
export function selectingGates(
  object: FluxObject,
  candidates: readonly NamespacedName[],
  { gates, namespaceLabels }: KnownGates,
): NamespacedName[] {
  const keys = [...new Set(candidates.map(refKey))].sort();
  return keys.flatMap((key) => {
    const gate = gates.get(key);
    // The decorators find selecting Gates by this label, so without it the annotation would come and go.
    if (gate?.metadata.labels?.[SELECTS_LABEL] === undefined || !gateSelects(gate, object, namespaceLabels)) return [];
    return [identityOf(gate)];
  });
}

/** The Gates that may select one of these objects: the listed ones, or else those that the annotations name. */
export function candidatesOf(objects: readonly FluxObject[], context: KnownGates): readonly NamespacedName[] {
  return context.candidates ?? objects.flatMap((object) => gatesInSelectedBy(object) ?? []);
}

/** @param candidates Gates that may select the object; by default those of its own annotation */
export function requiredGates(
  object: FluxObject,
  context: KnownGates,
  candidates: readonly NamespacedName[] = candidatesOf([object], context),
): RequiredGates {
  return withSelecting(object, selectingGates(object, candidates, context), context.truncated ?? false, context);
}

function withSelecting(
  object: FluxObject,
  selecting: NamespacedName[],
  isTruncated: boolean,
  rules: RefRules,
): RequiredGates {
  const { refs: named, problems, tooMany: namesTooMany } = gatesInAnnotation(object, rules);
  const tooMany =
    namesTooMany || isTruncated || managedFieldsOf(object).tooMany === true || isTooManyGates(named, selecting);
  return { named, selecting, problems, tooMany };
}

/** Which Gates the object requires, and which of them are closed. */
export function objectGates(
  object: FluxObject,
  context: GateContext,
  candidates?: readonly NamespacedName[],
): ObjectGates {
  return evaluated(requiredGates(object, context, candidates), context.gates, context.now);
}

/** The Gates to read for `recordedGates`. */
export function recordedNames(object: FluxObject, rules: RefRules): NamespacedName[] {
  return [...gatesInAnnotation(object, rules).refs, ...(gatesInSelectedBy(object) ?? [])].filter(
    (ref) => !isTooMany(ref),
  );
}

/**
 * The Gates that an object requires by its own annotations alone: only the webhook writes SELECTED_BY, so a Gate in it that exists selects the object.
 * @param gates by `namespace/name`: those of `recordedNames` that exist
 */
export function recordedGates(
  object: FluxObject,
  gates: ReadonlyMap<string, Gate>,
  rules: RefRules,
  now: EpochMs,
): ObjectGates {
  const recorded = gatesInSelectedBy(object);
  const selecting = (recorded ?? []).filter((ref) => gates.has(refKey(ref)));
  return evaluated(withSelecting(object, selecting, recorded === undefined, rules), gates, now);
}

/** Beyond a limit, that is all that is reported. */
function evaluated(required: RequiredGates, gates: ReadonlyMap<string, Gate>, now: EpochMs): ObjectGates {
  const { named, selecting, problems, tooMany } = required;
  const refs = tooMany ? [TOO_MANY] : unique([...named, ...selecting]);
  const results = evaluateGates(refs, (ref) => gates.get(refKey(ref)), now);
  const invalid = problems.length > 0 ? [INVALID_REFERENCE] : [];
  const names = [...results.closed.map(({ ref }) => refKey(ref)), ...invalid];
  return { ...required, ...results, names, closings: [...results.closed.map(closingKey), ...invalid] };
}

/** The text of SELECTED_BY; undefined for none. Where it can't name them all, it says so, and the webhook lists the Gates itself. */
export function selectedByText(
  { named, selecting }: Pick<RequiredGates, 'named' | 'selecting'>,
  truncated = false,
): string | undefined {
  if (truncated || isTooManyGates(named, selecting)) return TOO_MANY.name;
  const text = selecting.map(refKey).sort().join(',');
  return text.length > MAX_LIST ? TOO_MANY.name : text || undefined;
}

function isTooManyGates(...lists: NamespacedName[][]): boolean {
  return new Set(lists.flat().map(refKey)).size > LIMITS.requiredGates;
}

// What one write makes the webhook read of Gates, and which writes name too much or too far to be evaluated.

interface GateReads {
  /** To be read by name. */
  refs: NamespacedName[];
  /** Whether to list Gates, since SELECTED_BY may not name all that select the object. */
  list: boolean;
  /** Whether Gates are evaluated that may select by the Namespace's labels. */
  namespace: boolean;
}

/** The reads for these objects: the one as stored and the one as it would become. `mustList`: SELECTED_BY may not name them all yet. */
export function gateReads(objects: readonly FluxObject[], rules: RefRules, mustList = false): GateReads {
  const named = objects.flatMap((object) => gatesInAnnotation(object, rules).refs);
  const selectedBy = objects.map(gatesInSelectedBy);
  const selecting = selectedBy.flatMap((refs) => refs ?? []);
  const all = unique([...named, ...selecting]);
  const list = mustList || selectedBy.includes(undefined) || all.length > LIMITS.requiredGates;
  return { refs: list ? unique(named) : all, list, namespace: list || selecting.length > 0 };
}

function unique(refs: readonly NamespacedName[]): NamespacedName[] {
  return [...new Map(refs.map((ref) => [refKey(ref), ref])).values()];
}

/** The sentence that refuses a write that names too much to be evaluated; undefined otherwise. Checked before anything is read. */
export function refuseTooManyReferences(object: FluxObject, oldObject: FluxObject | undefined): string | undefined {
  const [count, before] = [object, oldObject].map((each) => Object.keys(each?.metadata.annotations ?? {}).length);
  if (count! > LIMITS.annotations && count! > before!) {
    return `metadata.annotations has ${count} entries, and at most ${LIMITS.annotations} are allowed: remove some.`;
  }
  const named = [object, ...(oldObject ? [oldObject] : [])].flatMap((each) => gatesInAnnotation(each).refs);
  if (unique(named).length > LIMITS.requiredGates) {
    return (
      `metadata.annotations[${GATES}]: the old and the new value together name more than ${LIMITS.requiredGates} ` +
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
  const known = new Set(oldObject ? foreignGates(oldObject).map(refKey) : []);
  const [first] = foreignGates(object).filter((ref) => !known.has(refKey(ref)));
  return first && foreignText(first);
}

/** The Gates of other namespaces that the object names. */
function foreignGates({ metadata: { namespace = '', annotations } }: FluxObject): NamespacedName[] {
  return parseGateRefs(annotations?.[GATES], namespace).refs.filter((ref) => ref.namespace !== namespace);
}

function foreignText(ref: NamespacedName): string {
  return (
    `${GATES} references Gate '${refKey(ref)}' of another namespace, and NO_CROSS_NAMESPACE_REFS forbids references ` +
    'to other namespaces.'
  );
}

/**
 * The stored object that a write is compared with. Beyond a limit nothing may change but what brings the object under it again: the names
 * of Gates, if all that it no longer names are open, and of Rollouts. These count as stored.
 */
export function withShrinkingEdits(object: FluxObject, oldObject: FluxObject, context: GateContext): FluxObject {
  if (!requiredGates(oldObject, context).tooMany) return oldObject;
  let before = oldObject;
  if (!gatesInAnnotation(object).tooMany && !leavesClosed(object, oldObject, context)) {
    before = annotate(before, GATES, object.metadata.annotations?.[GATES]);
  }
  return managedFieldsOf(oldObject).tooMany && !managedFieldsOf(object).tooMany ? withRollouts(before, object) : before;
}

/** Which Gates an object that names too many would require is not known: its author could have named fewer before any of them closed. */
function leavesClosed(object: FluxObject, oldObject: FluxObject, { gates, now, ...rules }: GateContext): boolean {
  const kept = new Set(gatesInAnnotation(object, rules).refs.map(refKey));
  const left = gatesInAnnotation(oldObject, rules).refs.filter((ref) => !kept.has(refKey(ref)));
  return !evaluateGates(left, (ref) => gates.get(refKey(ref)), now).open;
}

function withRollouts(before: FluxObject, { metadata }: FluxObject): FluxObject {
  const bindsToRollout = ([key]: [string, string]) =>
    key.startsWith(ROLLOUT_PREFIX) && key !== DEPLOYED && key !== ARTIFACT && key !== AWAITS_ARTIFACT;
  const theirs = Object.entries(before.metadata.annotations ?? {}).filter((entry) => !bindsToRollout(entry));
  const mine = Object.entries(metadata.annotations ?? {}).filter(bindsToRollout);
  return { ...before, metadata: { ...before.metadata, annotations: Object.fromEntries([...theirs, ...mine]) } };
}
