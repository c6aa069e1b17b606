/**
 * The Gates that a Flux object requires, by name and by selection, and whether they are closed. Hooks and webhooks both
 * decide from this. The object is held if one of its Gates is closed or missing.
 */
import { REQUIRED_GATES, SELECTED_BY } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { EpochMs, NamespacedName } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import {
  type ClosedGates,
  closedAmong,
  closureKeys,
  LIMIT_OF_GATES,
  LIMIT_OF_ROLLOUTS,
  type RequiredGates,
} from '../gate/closedGates.ts';
import { evaluateGates, type GateResult } from '../gate/evaluateGates.ts';
import { allowedRefs, parseGateRefs, type RefRules } from '../gate/gateRefs.ts';
import { gateSelects, hasFluxLabel, type SelectingGates } from '../gate/gateSelection.ts';
import { sameJson } from '../kube/json.ts';
import { identityOf, refKey, uniqueRefs, without } from '../kube/names.ts';
import { LIMITS } from '../limits.ts';
import { managedFieldsOf } from '../managedField/managedFields.ts';
import { MAX_GATE_LIST_CHARACTERS } from './objectState.ts';

/** The Gates that were read for one object. */
export interface GateContext extends RefRules {
  /** Every Gate that was read, by `refKey`; a Gate that does not exist is absent. */
  gates: ReadonlyMap<string, Gate>;
  /**
   * All Gates that may select the object, and perhaps others: from lists, or from SELECTED_BY of the stored and the new
   * object.
   */
  selectingGates: SelectingGates;
  now: EpochMs;
}

/** The Gates that one object requires: those that it names, then those that only select it. */
export interface RequiredByObject extends RequiredGates {
  /** A sentence for each part of the annotation that names no Gate: such a part suspends the object. */
  problems: string[];
}

/** The Gates of one object, evaluated. */
export interface ObjectGates extends RequiredByObject {
  /** The result for each required Gate; empty beyond a limit. */
  all: GateResult[];
  /** The closed Gates; undefined if there are none. */
  closed: ClosedGates | undefined;
  /**
   * The closures that hold the object, as its state names them; empty if nothing does. Also INVALID_REFERENCE, which
   * suspends the object, but denies no write.
   */
  heldBy: string[];
}

/** Stands in `heldBy` for references that name no Gate. */
const INVALID_REFERENCE = '(invalid)';

/** The Gates that select the object. SELECTED_BY alone proves nothing. */
function gatesSelecting(
  object: FluxObject,
  { gates, namespaceLabels }: SelectingGates,
  atMost = Number.POSITIVE_INFINITY,
): NamespacedName[] {
  const found: NamespacedName[] = [];
  for (const gate of gates) {
    // Hooks find Gates by this label. Without the test, webhook and hook would write SELECTED_BY in turn.
    if (!hasFluxLabel(gate) || !gateSelects(gate, object, namespaceLabels)) continue;
    found.push(identityOf(gate));
    if (found.length === atMost) break;
  }
  return found;
}

export function requiredByObject(
  object: FluxObject,
  selectingGates: SelectingGates,
  rules: RefRules,
): RequiredByObject {
  // One more than the limit is enough to see that they are too many.
  const selecting = gatesSelecting(object, selectingGates, LIMITS.requiredGates + 1);
  return requiredWith(object, selecting, selectingGates.isTruncated ?? false, rules);
}

function requiredWith(
  object: FluxObject,
  selecting: readonly NamespacedName[],
  isTruncated: boolean,
  rules: RefRules,
): RequiredByObject {
  const { refs: named, problems, tooMany: namesTooMany } = gatesInAnnotation(object, rules);
  // A Gate that is named and also selects the object is one entry, `selected`, in the place of its name.
  const refs = uniqueRefs([...named, ...selecting.map((ref) => ({ ...ref, selected: true }))]);
  const tooManyGates = namesTooMany || isTruncated || refs.length > LIMITS.requiredGates;
  const limit = tooManyGates ? LIMIT_OF_GATES : managedFieldsOf(object).tooMany ? LIMIT_OF_ROLLOUTS : undefined;
  return { refs, problems, limit };
}

/** The Gates that the object requires, evaluated. */
export function evaluateObjectGates(object: FluxObject, context: GateContext): ObjectGates {
  return evaluateAll(requiredByObject(object, context.selectingGates, context), context.gates, context.now);
}

/**
 * The Gates that an object requires according to its own annotations, evaluated. The webhook writes SELECTED_BY in
 * every write, so a Gate in it that exists selects the object.
 * @param gates by `refKey`: the Gates of `recordedRefs` that exist
 */
export function evaluateRecordedGates(
  object: FluxObject,
  gates: ReadonlyMap<string, Gate>,
  rules: RefRules,
  now: EpochMs,
): ObjectGates {
  const recorded = gatesInSelectedBy(object);
  const selecting = (recorded ?? []).filter((ref) => gates.has(refKey(ref)));
  return evaluateAll(requiredWith(object, selecting, recorded === undefined, rules), gates, now);
}

function evaluateAll(required: RequiredByObject, gates: ReadonlyMap<string, Gate>, now: EpochMs): ObjectGates {
  const { refs, limit } = required;
  const all = limit ? [] : evaluateGates(refs, gates, now);
  const closed = closedAmong(all, limit);
  const heldBy = [...closureKeys(closed), ...(required.problems.length > 0 ? [INVALID_REFERENCE] : [])];
  return { ...required, all, closed, heldBy };
}

/** Whether a closed Gate no longer selects the object with the labels of the write; true if the Gates are too many. */
export function escapesSelection(object: FluxObject, old: FluxObject, context: GateContext): boolean {
  if (sameJson(object.metadata.labels ?? {}, old.metadata.labels ?? {})) return false;
  const { selectingGates, gates, now } = context;
  if (selectingGates.isTruncated) return true;
  const escaped = without(gatesSelecting(old, selectingGates), gatesSelecting(object, selectingGates));
  return closedAmong(evaluateGates(escaped, gates, now)) !== undefined;
}

// The Gates that the annotations of an object name.

const MAX_PROBLEMS = 20;
const MAX_PROBLEM_CHARACTERS = 400;

/** The Gates that the annotation names; none if they are too many, because those need not be read. */
export function gatesInAnnotation(
  object: FluxObject,
  rules: RefRules,
): { refs: NamespacedName[]; problems: string[]; tooMany: boolean } {
  const { namespace = '', annotations } = object.metadata;
  const parsed = parseGateRefs(annotations?.[REQUIRED_GATES], namespace);
  const refs = allowedRefs(parsed.refs, namespace, rules);
  const all = [...parsed.problems, ...without(parsed.refs, refs).map(foreignText)];
  const problems = all.slice(0, MAX_PROBLEMS).map((problem) => problem.slice(0, MAX_PROBLEM_CHARACTERS));
  const tooMany = parsed.tooMany || refs.length > LIMITS.requiredGates;
  return { refs: tooMany ? [] : refs, problems, tooMany };
}

/** The Gates in SELECTED_BY, which may select the object; undefined if the annotation does not list all of them. */
function gatesInSelectedBy(object: FluxObject): NamespacedName[] | undefined {
  const selectedBy = object.metadata.annotations?.[SELECTED_BY];
  if (selectedBy?.includes(LIMIT_OF_GATES)) return undefined;
  const { refs, tooMany } = parseGateRefs(selectedBy, object.metadata.namespace ?? '');
  return tooMany || refs.length > LIMITS.requiredGates ? undefined : refs;
}

/** The Gates in the annotations REQUIRED_GATES and SELECTED_BY. One that names too many counts as empty. */
export function recordedRefs(object: FluxObject, rules: RefRules): NamespacedName[] {
  const { refs: named } = gatesInAnnotation(object, rules);
  return uniqueRefs([...named, ...(gatesInSelectedBy(object) ?? [])]);
}

/** The reads of Gates that the webhook makes for one write. */
interface GateReads {
  /** Gates to read by name. */
  refs: NamespacedName[];
  /** The Gates in SELECTED_BY, each once. */
  selecting: NamespacedName[];
  /** Whether to list Gates instead, because SELECTED_BY may not name all that select the object. */
  list: boolean;
}

/**
 * The reads for one write.
 * @param objects the stored and the new object
 * @param mustList whether SELECTED_BY may not name all Gates yet
 */
export function gatesToRead(objects: readonly FluxObject[], rules: RefRules, mustList = false): GateReads {
  const named = objects.flatMap((object) => gatesInAnnotation(object, rules).refs);
  const selectedBy = objects.map(gatesInSelectedBy);
  const selecting = uniqueRefs(selectedBy.flatMap((refs) => refs ?? []));
  const all = uniqueRefs([...named, ...selecting]);
  const list = mustList || selectedBy.includes(undefined) || all.length > LIMITS.requiredGates;
  return { refs: list ? uniqueRefs(named) : all, selecting, list };
}

/**
 * The text of SELECTED_BY; undefined if no Gate selects the object.
 * If the Gates are too many, it is LIMIT_OF_GATES, and the webhook lists the Gates.
 */
export function selectedByText({ refs, limit }: RequiredGates): string | undefined {
  const selecting = refs.filter(({ selected }) => selected);
  const text = selecting.map(refKey).sort().join(',');
  const isTooMany = limit === LIMIT_OF_GATES || text.length > MAX_GATE_LIST_CHARACTERS;
  return isTooMany ? LIMIT_OF_GATES : text || undefined;
}

/** The Gates of other namespaces that the object names although the rules forbid it. */
export function foreignGates(
  { metadata: { namespace = '', annotations } }: FluxObject,
  rules: RefRules,
): NamespacedName[] {
  const { refs } = parseGateRefs(annotations?.[REQUIRED_GATES], namespace);
  return without(refs, allowedRefs(refs, namespace, rules));
}

export function foreignText(ref: NamespacedName): string {
  return `NO_CROSS_NAMESPACE_REFS forbids Gate '${refKey(ref)}': remove it from ${REQUIRED_GATES}.`;
}
