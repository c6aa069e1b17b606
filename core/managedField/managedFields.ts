/** The managed fields of a Flux object, and the annotations that bind them to Rollouts (table in docs/rollouts.md). */
import { BOUND_ROLLOUT, ROLLOUT_PREFIX, SUBSTITUTE, SUBSTITUTE_FROM } from '../../api/annotations.ts';
import type { FluxObject, SourceRef } from '../../api/flux.ts';
import { KINDS } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { ManagedField } from '../../api/types.ts';
import { groupByEach } from '../collection/groupByEach.ts';
import { memoizeByObject } from '../collection/memo.ts';
import { childOf, isMap } from '../kube/json.ts';
import { isObjectName, splitNames } from '../kube/names.ts';
import { gainsOwner } from '../kube/ownerReferences.ts';
import { LIMITS } from '../limits.ts';
import { shortened } from '../text/oneLine.ts';

interface ManagedFields {
  /** One entry per field, sorted by variable. A field that two Rollouts claim is not managed: it is a problem. */
  fields: ManagedField[];
  /**
   * The Rollout that a HelmRelease tracks: it manages the OCIRepository of the chart, and no field of the HelmRelease.
   */
  tracks?: string;
  /** The problems of the annotations, a sentence each. */
  problems: string[];
  /**
   * Whether the annotations name more Rollouts or variables than allowed: the object counts as behind a closed Gate.
   */
  tooMany?: true;
}

/** The variable names that Flux's envsubst accepts. */
const VARIABLE = /^(?!__proto__$)[_A-Za-z][_A-Za-z0-9]*$/;
/** Limits for problems: each goes into a condition, and an annotation may have 256 kB. */
const MAX_PROBLEMS = 20;
const MAX_QUOTED_CHARACTERS = 300;

type Annotated = Pick<KubeObject, 'kind' | 'metadata'> & { spec?: Record<string, unknown> };

interface Claim {
  annotation: string;
  rollouts: string;
  variable?: string;
}

/** Whether Flux substitutes variables of this name. */
export function isVariable(name: string): boolean {
  return VARIABLE.test(name);
}

/** The managed fields of an object. Its metadata is enough, except for some of the problems. */
export function managedFieldsOf(object: Annotated): ManagedFields {
  const annotations = object.metadata?.annotations ?? {};
  const problems: string[] = [];
  if (object.kind === KINDS.HelmRelease.kind) return trackedRollout(object, problems);
  let claims: Claim[] = [];
  if (object.kind === 'Kustomization') claims = substituteClaims(annotations, problems);
  else if (object.kind === 'OCIRepository') claims = rolloutClaims(annotations);
  else if (BOUND_ROLLOUT in annotations)
    problems.push(`${BOUND_ROLLOUT} has no effect on a ${object.kind}: a Rollout manages no field of it`);
  const all = uncontestedFields(claims, problems, 'spec.ref.tag');
  const fields = withinLimits(all);
  return { fields, problems: problems.slice(0, MAX_PROBLEMS), ...(fields.length < all.length && { tooMany: true }) };
}

/** Names of the Rollouts that manage fields of the object, and of the Rollout that it tracks. */
export function rolloutsOfObject(object: Annotated): readonly string[] {
  const { fields, tracks } = managedFieldsOf(object);
  return [...new Set([...fields.map(({ rollout }) => rollout), ...(tracks === undefined ? [] : [tracks])])];
}

/** Objects by Rollout, memoized for each list: every Rollout of a namespace searches the same list. */
const indexByRollout = memoizeByObject((objects: readonly Annotated[]) => groupByEach(objects, rolloutsOfObject));

/** The objects whose annotations bind them to the Rollout of this name. The list must not change afterwards. */
export function objectsOfRollout<T extends Annotated>(rollout: string, objects: readonly T[]): readonly T[] {
  return (indexByRollout(objects).get(rollout) ?? []) as readonly T[];
}

function trackedRollout({ metadata, spec }: Annotated, problems: string[]): ManagedFields {
  const [claim] = uncontestedFields(rolloutClaims(metadata?.annotations ?? {}), problems, 'the chart');
  const ref = spec?.chartRef as SourceRef | undefined;
  const isKnown = ref?.kind === 'OCIRepository' && (ref.namespace ?? metadata.namespace) === metadata.namespace;
  if (claim && spec && !isKnown) {
    problems.push(`${BOUND_ROLLOUT} on a HelmRelease needs a spec.chartRef to an OCIRepository of its namespace`);
  }
  return { fields: [], tracks: claim?.rollout, problems: problems.slice(0, MAX_PROBLEMS) };
}

/** The path of the managed field, from the object's root. */
export function fieldPath(field: ManagedField): string[] {
  return field.variable === undefined ? ['spec', 'ref', 'tag'] : ['spec', 'postBuild', 'substitute', field.variable];
}

/**
 * The Rollouts from which this write unbinds the object: it no longer tracks them, or they no longer manage a field
 * that they managed before.
 * A deletion (`object` is undefined) unbinds the object from all, because it could be created again without them. So
 * does a new owner reference, because the garbage collector may then delete the object.
 */
export function unboundRollouts(object: FluxObject | undefined, old: FluxObject): string[] {
  const stays = object && !gainsOwner(object, old);
  const kept = new Set(stays ? boundKeysOf(object).map(({ key }) => key) : []);
  const lost = boundKeysOf(old).filter(({ key }) => !kept.has(key));
  return [...new Set(lost.map(({ rollout }) => rollout))];
}

/** The ties of the object to Rollouts: one key for each managed field, and one for the Rollout that it tracks. */
function boundKeysOf(object: FluxObject): { rollout: string; key: string }[] {
  const { fields, tracks } = managedFieldsOf(object);
  const managed = fields.map((field) => ({ rollout: field.rollout, key: fieldKey(field) }));
  return tracks === undefined ? managed : [...managed, { rollout: tracks, key: tracks }];
}

/** Identifies a field together with its Rollout. */
export function fieldKey(field: ManagedField): string {
  return [field.rollout, ...fieldPath(field)].join(' ');
}

function rolloutClaims(annotations: Record<string, string>): Claim[] {
  const rollouts = annotations[BOUND_ROLLOUT];
  return rollouts === undefined ? [] : [{ annotation: BOUND_ROLLOUT, rollouts }];
}

function substituteClaims(annotations: Record<string, string>, problems: string[]): Claim[] {
  const claims: Claim[] = [];
  for (const [annotation, rollouts] of Object.entries(annotations)) {
    const variable = annotation.startsWith(ROLLOUT_PREFIX) ? SUBSTITUTE_FROM.exec(annotation)?.[1] : undefined;
    if (variable !== undefined) claims.push({ annotation, rollouts, variable });
  }
  const rollouts = annotations[BOUND_ROLLOUT];
  const variable = annotations[SUBSTITUTE];
  if (rollouts !== undefined && variable !== undefined) claims.push({ annotation: BOUND_ROLLOUT, rollouts, variable });
  else if (rollouts !== undefined)
    problems.push(`${BOUND_ROLLOUT} has no effect on a Kustomization without ${SUBSTITUTE}`);
  else if (variable !== undefined) problems.push(`${SUBSTITUTE} has no effect without ${BOUND_ROLLOUT}`);
  return claims.filter((claim) => {
    if (isVariable(claim.variable!)) return true;
    problems.push(
      `${claim.annotation}: '${claim.variable}' is not a variable that Flux substitutes (letters, digits, _)`,
    );
    return false;
  });
}

/**
 * The fields that exactly one Rollout claims: these are managed. Problems beyond the limit are not even looked for: an
 * object may have any number, and each Rollout of its namespace reads it.
 * @param unnamed the name in messages of a field without a variable
 */
function uncontestedFields(claims: Claim[], problems: string[], unnamed: string): ManagedField[] {
  const fields: ManagedField[] = [];
  const byVariable = Map.groupBy(claims, ({ variable = '' }) => variable);
  for (const [variable, own] of [...byVariable].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const rollout = onlyRollout(own);
    if (rollout !== undefined) fields.push({ rollout, ...(variable !== '' && { variable }) });
    else if (problems.length < MAX_PROBLEMS) problems.push(...claimProblems(own, variable || unnamed));
  }
  return fields;
}

/** The Rollout that all these claims name; undefined if they name several, or something else. */
function onlyRollout(claims: readonly Claim[]): string | undefined {
  let only: string | undefined;
  for (const { rollouts } of claims) {
    // Two different first names are enough to see that a long list names several Rollouts.
    const [first, second = first] = rollouts.split(',', 2).map((name) => name.trim());
    only ??= first;
    if (second !== first || !splitNames(rollouts)?.every((name) => name === only)) return undefined;
  }
  return only !== undefined && isObjectName(only) ? only : undefined;
}

/** Why no Rollout sets the field. An illegal claim is still a claim: the other Rollout does not get the field. */
function claimProblems(claims: readonly Claim[], field: string): string[] {
  const names = new Set<string>();
  const problems: string[] = [];
  for (const { annotation, rollouts } of claims) {
    const parts = splitNames(rollouts);
    if (!parts)
      problems.push(`${annotation} has more than ${LIMITS.namesInAnnotation} names: the field is not changed`);
    for (const name of parts ?? []) {
      if (isObjectName(name)) names.add(name);
      else problems.push(`${annotation}: '${shortened(name, MAX_QUOTED_CHARACTERS)}' is not the name of a Rollout`);
    }
  }
  if (problems.length > 0) return problems;
  const all = shortened([...names].sort().join(' and '), MAX_QUOTED_CHARACTERS);
  return [`Rollouts ${all} claim ${field}, so none sets it: keep only one of them in the annotations`];
}

function withinLimits(fields: readonly ManagedField[]): ManagedField[] {
  const rollouts = new Set([...new Set(fields.map((field) => field.rollout))].slice(0, LIMITS.boundRollouts));
  return fields.filter((field) => rollouts.has(field.rollout)).slice(0, LIMITS.managedFields);
}

// Reading and writing managed fields. The functions return new objects and change none in place.

/** Fields of `spec.ref` that source-controller prefers to `tag`: with one of them a managed tag has no effect. */
const STRONGER_THAN_TAG = ['digest', 'semver'] as const;

type Json = Record<string, unknown>;

/** The value of the field; undefined if the object has none, or none that is text. */
export function readManagedField(object: FluxObject, field: ManagedField): string | undefined {
  const value = fieldPath(field).reduce<unknown>(childOf, object);
  return typeof value === 'string' ? value : undefined;
}

/** The fields of the object that Flux prefers to the managed tag: `digest`, `semver`. */
export function strongerRefs(object: FluxObject, field: ManagedField): string[] {
  const ref = object.spec?.ref;
  if (field.variable !== undefined || !isMap(ref)) return [];
  return STRONGER_THAN_TAG.filter((key) => ref[key] !== undefined);
}

/**
 * The object with the fields set to these values (undefined: removed), and without the fields that Flux prefers to a
 * managed tag. If nothing changes, the result is the same object.
 * All managed fields of one object have one parent.
 */
export function writeManagedFields<T extends FluxObject>(
  object: T,
  values: readonly [ManagedField, string | undefined][],
): T {
  const without = new Set<string>();
  const set = new Map<string, string>();
  for (const [field, value] of values) {
    const key = fieldPath(field).at(-1)!;
    if (value !== undefined) for (const stronger of strongerRefs(object, field)) without.add(stronger);
    if (readManagedField(object, field) === value) continue;
    if (value === undefined) without.add(key);
    else set.set(key, value);
  }
  if (without.size === 0 && set.size === 0) return object;
  return update(object as unknown as Json, fieldPath(values[0]![0]).slice(0, -1), set, without) as unknown as T;
}

/**
 * The map with an update at this path. An absent parent is created; a parent that is no map is left to the schema,
 * which rejects it.
 */
function update(at: Json, [key, ...rest]: string[], set: Map<string, string>, without: Set<string>): Json {
  if (key === undefined) {
    const kept = Object.entries(at).filter(([name]) => !without.has(name));
    return { ...Object.fromEntries(kept), ...Object.fromEntries(set) };
  }
  const child = Object.hasOwn(at, key) ? at[key] : undefined;
  if (child === undefined || child === null) {
    return set.size === 0 ? at : { ...at, [key]: update({}, rest, set, without) };
  }
  return isMap(child) ? { ...at, [key]: update(child, rest, set, without) } : at;
}
