/** Which Gates a Flux object requires: those it names, and those that select it. */
import { GATES, SELECTED_BY, SELECTS_LABEL } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { EpochMs, NamespacedName } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import { evaluateGates, type GateResult, type GateResults } from '../gate/evaluateGates.ts';
import { isTooMany, parseGateRefs, TOO_MANY } from '../gate/refs.ts';
import { gateSelects } from '../gate/selects.ts';
import { identityOf, refKey } from '../kube/names.ts';
import { LIMITS } from '../limits.ts';
import { pinAnnotationsOf } from './managedFields/annotations.ts';
import { MAX_LIST } from './suspend/stateAnnotation.ts';

/** The Gates there are, as read for one object. */
export interface KnownGates extends RefRules {
  /** By `namespace/name`; a Gate that does not exist is absent. */
  gates: ReadonlyMap<string, Gate>;
  /** Labels of the object's own Namespace. */
  namespaceLabels: Readonly<Record<string, string>>;
  /** All Gates that may select the object, where they were listed; otherwise its annotation SELECTED_BY says where to look. */
  candidates?: readonly NamespacedName[];
  /** There are more of them than one list may bring. */
  truncated?: boolean;
}

export interface GateContext extends KnownGates {
  now: EpochMs;
}

export interface RequiredGates {
  named: NamespacedName[];
  selecting: NamespacedName[];
  /** Parts of the annotation that name no Gate: they suspend the object, but do not keep anybody from repairing them. */
  problems: string[];
  /** Beyond a limit: the object is behind a closed gate, whatever the Gates say. */
  tooMany: boolean;
}

const MAX_PROBLEMS = 20;
const MAX_PROBLEM = 400;

/** The setting NO_CROSS_NAMESPACE_REFS: a Gate of another namespace is not followed, which counts as a name of no Gate. */
export interface RefRules {
  ownNamespaceOnly?: boolean;
}

/** None where the object names too many: they need not be read. */
export function namedGates(
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

/** The Gates of other namespaces that the object names. */
export function foreignGates({ metadata: { namespace = '', annotations } }: FluxObject): NamespacedName[] {
  return parseGateRefs(annotations?.[GATES], namespace).refs.filter((ref) => ref.namespace !== namespace);
}

export function foreignText(ref: NamespacedName): string {
  return (
    `'${refKey(ref)}' in ${GATES} is a Gate of another namespace, and NO_CROSS_NAMESPACE_REFS forbids references to ` +
    'other namespaces.'
  );
}

/** The Gates that the annotation names. It proves nothing: see `selectingGates`. Undefined where it does not name them all. */
export function gatesInSelectedBy(object: FluxObject): NamespacedName[] | undefined {
  const selectedBy = object.metadata.annotations?.[SELECTED_BY];
  if (selectedBy?.includes(TOO_MANY.name)) return undefined;
  const { refs, tooMany } = parseGateRefs(selectedBy, object.metadata.namespace ?? '');
  return tooMany || refs.length > LIMITS.requiredGates ? undefined : refs;
}

/** Those of the candidates that exist and select the object: the annotation's text counts for no more. */
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

/** Where selecting Gates of these objects are looked for: in their annotations, unless they were listed. */
export function candidatesOf(objects: readonly FluxObject[], context: KnownGates): readonly NamespacedName[] {
  return context.candidates ?? objects.flatMap((object) => gatesInSelectedBy(object) ?? []);
}

/** `candidates` are where selecting Gates are looked for; those of the object's own annotation when absent. */
export function requiredGates(
  object: FluxObject,
  context: KnownGates,
  candidates: readonly NamespacedName[] = candidatesOf([object], context),
): RequiredGates {
  const selecting = selectingGates(object, candidates, context);
  return withSelecting(object, selecting, context.truncated ?? false, context);
}

/** The Gates to read for `recordedGates`. */
export function recordedNames(object: FluxObject, rules: RefRules): NamespacedName[] {
  return [...namedGates(object, rules).refs, ...(gatesInSelectedBy(object) ?? [])].filter((ref) => !isTooMany(ref));
}

/**
 * The Gates that an object requires by its own annotations alone. SELECTED_BY is the webhook's to write, so a Gate in it that exists selects the object.
 * @param gates by `namespace/name`: those of `recordedNames` that exist
 */
export function recordedGates(object: FluxObject, gates: ReadonlyMap<string, Gate>, rules: RefRules): RequiredGates {
  const recorded = gatesInSelectedBy(object);
  const selecting = (recorded ?? []).filter((ref) => gates.has(refKey(ref)));
  return withSelecting(object, selecting, recorded === undefined, rules);
}

function withSelecting(
  object: FluxObject,
  selecting: NamespacedName[],
  isTruncated: boolean,
  rules: RefRules,
): RequiredGates {
  const { refs: named, problems, tooMany: namesTooMany } = namedGates(object, rules);
  const tooMany =
    namesTooMany || isTruncated || pinAnnotationsOf(object).tooMany === true || isTooManyGates(named, selecting);
  return { named, selecting, problems, tooMany };
}

/** Each of them once. Beyond a limit that is all there is to say. */
export function evaluateRequired(
  { named, selecting, tooMany }: RequiredGates,
  { gates, now }: Pick<GateContext, 'gates' | 'now'>,
): GateResults {
  const refs = new Map([...named, ...selecting].map((ref) => [refKey(ref), ref]));
  const wanted = tooMany ? [TOO_MANY] : [...refs.values()];
  return evaluateGates(wanted, (ref) => gates.get(refKey(ref)), now);
}

/** Every closed one, not the first. */
export function closedGates(required: RequiredGates, context: GateContext): GateResult[] {
  return evaluateRequired(required, context).closed;
}

/** The text of SELECTED_BY; undefined for none. One that cannot name them all says so, and the webhook looks itself. */
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
