/**
 * The Gates that a Flux object requires, by name and by selection, and whether they are closed: the one answer of hooks
 * and webhooks. The object is held if one of its Gates is closed or missing.
 */
import {
  ARTIFACT,
  AWAITS_ARTIFACT,
  DEPLOYED,
  REQUIRED_GATES,
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
import { sameJson } from '../kube/json.ts';
import { identityOf, refKey, uniqueRefs, without } from '../kube/names.ts';
import { LIMITS } from '../limits.ts';
import { managedFieldsOf } from '../managedField/managedFields.ts';
import { closingKey, INVALID_REFERENCE, MAX_GATE_LIST_CHARACTERS } from '../suspension/stateAnnotation.ts';

/** The Gates there are, as read for one object. */
interface KnownGates extends RefRules {
  /** By `namespace/name`; a Gate that does not exist is absent. */
  gates: ReadonlyMap<string, Gate>;
  /** Labels of the object's own Namespace. */
  namespaceLabels: Readonly<Record<string, string>>;
  /** All Gates that may select the object, if they were listed; otherwise its annotation SELECTED_BY names them. */
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
  /** Beyond a limit: the object counts as behind a closed Gate, even if all Gates are open. */
  tooMany: boolean;
}

/** The Gates of one object, evaluated. */
export interface ObjectGates extends RequiredGates, GateResults {
  /** The causes of the suspension: the closed Gates as `namespace/name`, and INVALID_REFERENCE. */
  names: string[];
  /** `names`, each with its closing: see `closingKey`. */
  closings: string[];
}

/** SELECTED_BY only suggests candidates: each must exist and select the object. */
function selectingGates(
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

/** The Gates that may select one of these objects: the listed ones, or else those that their annotations name. */
function candidatesOf(objects: readonly FluxObject[], context: KnownGates): readonly NamespacedName[] {
  return context.candidates ?? objects.flatMap((object) => gatesInSelectedBy(object) ?? []);
}

/** @param versions the object as it is and as it becomes: the Gates that select it are in the annotations of either */
export function requiredGates(
  object: FluxObject,
  context: KnownGates,
  versions: readonly FluxObject[] = [object],
): RequiredGates {
  const selecting = selectingGates(object, candidatesOf(versions, context), context);
  return withSelecting(object, selecting, context.truncated ?? false, context);
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

/** Which Gates the object requires, and which of them are closed. `versions`: see `requiredGates`. */
export function objectGates(object: FluxObject, context: GateContext, versions?: readonly FluxObject[]): ObjectGates {
  return evaluateRequired(requiredGates(object, context, versions), context.gates, context.now);
}

/**
 * The Gates that an object requires by its own annotations alone.
 * The webhook decides what is stored in SELECTED_BY, whoever writes it, so a Gate in it that exists selects the object.
 * @param gates by `namespace/name`: those of `recordedRefs` that exist
 */
export function recordedGates(
  object: FluxObject,
  gates: ReadonlyMap<string, Gate>,
  rules: RefRules,
  now: EpochMs,
): ObjectGates {
  const recorded = gatesInSelectedBy(object);
  const selecting = (recorded ?? []).filter((ref) => gates.has(refKey(ref)));
  return evaluateRequired(withSelecting(object, selecting, recorded === undefined, rules), gates, now);
}

/** Beyond a limit, that is all that is reported. */
function evaluateRequired(required: RequiredGates, gates: ReadonlyMap<string, Gate>, now: EpochMs): ObjectGates {
  const { named, selecting, problems, tooMany } = required;
  const refs = tooMany ? [TOO_MANY] : uniqueRefs([...named, ...selecting]);
  const results = evaluateGates(refs, gates, now);
  const invalid = problems.length > 0 ? [INVALID_REFERENCE] : [];
  const names = [...results.closed.map(({ ref }) => refKey(ref)), ...invalid];
  return { ...required, ...results, names, closings: [...results.closed.map(closingKey), ...invalid] };
}

/** Whether the write changes labels by which a closed Gate selects the object. */
export function leavesSelection(object: FluxObject, oldObject: FluxObject, context: GateContext): boolean {
  if (sameJson(object.metadata.labels ?? {}, oldObject.metadata.labels ?? {})) return false;
  if (context.truncated) return true;
  const candidates = candidatesOf([oldObject], context);
  const left = without(selectingGates(oldObject, candidates, context), selectingGates(object, candidates, context));
  return !evaluateGates(left, context.gates, context.now).open;
}

/**
 * The stored object that a write is compared with.
 * An object beyond a limit may only change its references to fewer: those to Gates, if all that it no longer names are
 * open, and those to Rollouts. These changes count as stored.
 */
export function withShrinkingEdits(object: FluxObject, oldObject: FluxObject, context: GateContext): FluxObject {
  if (!requiredGates(oldObject, context).tooMany) return oldObject;
  let before = oldObject;
  if (!gatesInAnnotation(object).tooMany && !leavesClosed(object, oldObject, context)) {
    before = annotate(before, REQUIRED_GATES, object.metadata.annotations?.[REQUIRED_GATES]);
  }
  return managedFieldsOf(oldObject).tooMany && !managedFieldsOf(object).tooMany ? withRollouts(before, object) : before;
}

/**
 * Whether the write drops a Gate that is closed. An object that names too many has an unknown list: its author could
 * have named fewer before any Gate closed.
 */
function leavesClosed(object: FluxObject, oldObject: FluxObject, { gates, now, ...rules }: GateContext): boolean {
  const left = without(gatesInAnnotation(oldObject, rules).refs, gatesInAnnotation(object, rules).refs);
  return !evaluateGates(left, gates, now).open;
}

function withRollouts(before: FluxObject, { metadata }: FluxObject): FluxObject {
  const bindsToRollout = ([key]: [string, string]) =>
    key.startsWith(ROLLOUT_PREFIX) && key !== DEPLOYED && key !== ARTIFACT && key !== AWAITS_ARTIFACT;
  const theirs = Object.entries(before.metadata.annotations ?? {}).filter((entry) => !bindsToRollout(entry));
  const mine = Object.entries(metadata.annotations ?? {}).filter(bindsToRollout);
  return { ...before, metadata: { ...before.metadata, annotations: Object.fromEntries([...theirs, ...mine]) } };
}

// The Gates that the annotations of an object name.

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

/** The reads of Gates that the webhook makes for one write. */
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
  return text.length > MAX_GATE_LIST_CHARACTERS ? TOO_MANY.name : text || undefined;
}

export function isTooManyGates(...lists: NamespacedName[][]): boolean {
  return uniqueRefs(lists.flat()).length > LIMITS.requiredGates;
}

/** The Gates of other namespaces that the object names. */
export function foreignGates({ metadata: { namespace = '', annotations } }: FluxObject): NamespacedName[] {
  return parseGateRefs(annotations?.[REQUIRED_GATES], namespace).refs.filter((ref) => ref.namespace !== namespace);
}

export function foreignText(ref: NamespacedName): string {
  return (
    `${REQUIRED_GATES} references Gate '${refKey(ref)}' of another namespace, and NO_CROSS_NAMESPACE_REFS forbids references ` +
    'to other namespaces.'
  );
}
