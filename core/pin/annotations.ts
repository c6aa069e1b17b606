/** The pin annotations of a Flux object: which Rollout owns which of its fields. docs/rollouts.md has their table. */
import { ROLLOUT, SUBSTITUTE } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { Pin } from '../../api/types.ts';
import { splitNames } from '../kube/names.ts';
import { gainsOwner } from '../kube/ownerReferences.ts';
import { LIMITS } from '../limits.ts';

export interface PinAnnotations {
  /** One per field, sorted by variable. A field that two Rollouts claim is not pinned: it is a problem. */
  pins: Pin[];
  /** What is wrong with the annotations, a sentence each. */
  problems: string[];
  /** More Rollouts are named, or variables pinned, than one object may follow: it counts as behind a closed gate. */
  tooMany?: true;
}

/** Deliberately wider than the documented key, so that an illegal variable is named as a problem and not passed over. */
const SUBSTITUTE_KEY = /^rollout\.kuberik\.com\/substitute\.(.*)\.from$/;
/** Flux: names that envsubst accepts. */
const VARIABLE = /^(?!__proto__$)[_A-Za-z][_A-Za-z0-9]*$/;
const OBJECT_NAME = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;
const MAX_OBJECT_NAME = 253;
/** Each goes into a condition. */
const MAX_PROBLEMS = 20;
const MAX_QUOTE = 300;

interface Claim {
  annotation: string;
  rollouts: string;
  variable?: string;
}

export function pinAnnotationsOf(object: Pick<KubeObject, 'kind' | 'metadata'>): PinAnnotations {
  const annotations = object.metadata?.annotations ?? {};
  const problems: string[] = [];
  let claims: Claim[] = [];
  if (object.kind === 'Kustomization') claims = substituteClaims(annotations, problems);
  else if (object.kind === 'OCIRepository') claims = tagClaims(annotations);
  else if (ROLLOUT in annotations)
    problems.push(`${ROLLOUT} has no effect on a ${object.kind}: a Rollout owns no field of it`);
  const all = settle(claims, problems);
  const pins = limit(all, problems);
  return { pins, problems: problems.slice(0, MAX_PROBLEMS), ...(pins.length < all.length && { tooMany: true }) };
}

/** Where the pinned value is, from the object's root. */
export function pinPath(pin: Pin): string[] {
  return pin.variable === undefined ? ['spec', 'ref', 'tag'] : ['spec', 'postBuild', 'substitute', pin.variable];
}

/**
 * The Rollouts that lose a field of the object in this write: it is no longer claimed, handed over, or claimed by a second one; or
 * the object is deleted (undefined), or gets an owner reference with which the garbage collector may delete it, to be created again without them.
 */
export function rolloutsLeft(object: FluxObject | undefined, oldObject: FluxObject): string[] {
  const stays = object && !gainsOwner(object, oldObject);
  const kept = new Set(stays ? pinAnnotationsOf(object).pins.map(pinKey) : []);
  const lost = pinAnnotationsOf(oldObject).pins.filter((pin) => !kept.has(pinKey(pin)));
  return [...new Set(lost.map(({ rollout }) => rollout))];
}

/** The same field of the same Rollout. */
export function pinKey(pin: Pin): string {
  return [pin.rollout, ...pinPath(pin)].join(' ');
}

function tagClaims(annotations: Record<string, string>): Claim[] {
  const rollouts = annotations[ROLLOUT];
  return rollouts === undefined ? [] : [{ annotation: ROLLOUT, rollouts }];
}

function substituteClaims(annotations: Record<string, string>, problems: string[]): Claim[] {
  const claims: Claim[] = [];
  for (const [annotation, rollouts] of Object.entries(annotations)) {
    const variable = SUBSTITUTE_KEY.exec(annotation)?.[1];
    if (variable !== undefined) claims.push({ annotation, rollouts, variable });
  }
  const rollouts = annotations[ROLLOUT];
  const variable = annotations[SUBSTITUTE];
  if (rollouts !== undefined && variable !== undefined) claims.push({ annotation: ROLLOUT, rollouts, variable });
  else if (rollouts !== undefined) problems.push(`${ROLLOUT} does nothing on a Kustomization without ${SUBSTITUTE}`);
  else if (variable !== undefined) problems.push(`${SUBSTITUTE} does nothing without ${ROLLOUT}`);
  return claims.filter((claim) => {
    if (VARIABLE.test(claim.variable!)) return true;
    problems.push(
      `${claim.annotation}: '${claim.variable}' is not a variable that Flux substitutes (letters, digits, _)`,
    );
    return false;
  });
}

/** One Rollout per field, or none. */
function settle(claims: Claim[], problems: string[]): Pin[] {
  const claimed = new Map<string, { variable?: string; rollouts: Set<string> }>();
  for (const { annotation, rollouts, variable } of claims) {
    const names = splitNames(rollouts) ?? [];
    const illegal = names.filter((name) => !isObjectName(name));
    for (const name of illegal) problems.push(`${annotation}: '${cut(name)}' is not the name of a Rollout`);
    if (names.length === 0) {
      problems.push(`${annotation} has more than ${LIMITS.namesInAnnotation} names: the field is left as it is`);
      illegal.push(rollouts);
    }
    const field = variable ?? '';
    const claim = claimed.get(field) ?? { ...(variable !== undefined && { variable }), rollouts: new Set<string>() };
    // An illegal claim is still a claim: the field is left alone, not given to the other claimant.
    for (const name of names) claim.rollouts.add(name);
    if (illegal.length > 0) claim.rollouts.add('');
    claimed.set(field, claim);
  }
  const pins: Pin[] = [];
  for (const [field, { variable, rollouts }] of [...claimed].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const names = [...rollouts].filter((name) => name !== '');
    if (rollouts.has('')) continue;
    if (names.length === 1) pins.push({ rollout: names[0]!, ...(variable !== undefined && { variable }) });
    else
      problems.push(
        `${field || 'spec.ref.tag'} is claimed by Rollouts ${cut(names.sort().join(' and '))}: it is left as it is`,
      );
  }
  return pins;
}

function limit(pins: Pin[], problems: string[]): Pin[] {
  const rollouts = new Set([...new Set(pins.map((pin) => pin.rollout))].slice(0, LIMITS.boundRollouts));
  const kept = pins.filter((pin) => rollouts.has(pin.rollout));
  if (kept.length < pins.length)
    problems.unshift(`more than ${LIMITS.boundRollouts} Rollouts are named: the rest is left as it is`);
  if (kept.length > LIMITS.pins)
    problems.unshift(`more than ${LIMITS.pins} variables are pinned: the rest is left as it is`);
  return kept.slice(0, LIMITS.pins);
}

/** Length first: the pattern takes quadratic time, and an annotation may have 256 kB. */
function isObjectName(name: string): boolean {
  return name.length <= MAX_OBJECT_NAME && OBJECT_NAME.test(name);
}

function cut(text: string): string {
  return text.length <= MAX_QUOTE ? text : `${text.slice(0, MAX_QUOTE)}…`;
}
