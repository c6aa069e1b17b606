/** The pin annotations of a Flux object: which Rollout owns which of its fields, or is followed by it. docs/rollouts.md has their table. */
import { ROLLOUT, ROLLOUT_PREFIX, SUBSTITUTE } from '../../../api/annotations.ts';
import type { FluxObject, SourceRef } from '../../../api/flux.ts';
import { KINDS } from '../../../api/kinds.ts';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { Pin } from '../../../api/types.ts';
import { splitNames } from '../../kube/names.ts';
import { gainsOwner } from '../../kube/ownerReferences.ts';
import { LIMITS } from '../../limits.ts';

export interface PinAnnotations {
  /** One per field, sorted by variable. A field that two Rollouts claim is not pinned: it is a problem. */
  pins: Pin[];
  /** The Rollout of a HelmRelease: none of its fields is pinned, the chart comes from an OCIRepository that the same Rollout pins. */
  follows?: string;
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

type Annotated = Pick<KubeObject, 'kind' | 'metadata'> & { spec?: Record<string, unknown> | undefined };

interface Claim {
  annotation: string;
  rollouts: string;
  variable?: string;
}

/** The metadata is enough for all but some of the problems. */
export function pinAnnotationsOf(object: Annotated): PinAnnotations {
  const annotations = object.metadata?.annotations ?? {};
  const problems: string[] = [];
  if (object.kind === KINDS.HelmRelease.kind) return followed(object, problems);
  let claims: Claim[] = [];
  if (object.kind === 'Kustomization') claims = substituteClaims(annotations, problems);
  else if (object.kind === 'OCIRepository') claims = rolloutClaims(annotations);
  else if (ROLLOUT in annotations)
    problems.push(`${ROLLOUT} has no effect on a ${object.kind}: a Rollout owns no field of it`);
  const all = settle(claims, problems, 'spec.ref.tag');
  const pins = limit(all, problems);
  return { pins, problems: problems.slice(0, MAX_PROBLEMS), ...(pins.length < all.length && { tooMany: true }) };
}

/** By name: the Rollouts that own fields of the object, and the one that it follows. */
export function boundRollouts(object: Annotated): string[] {
  const { pins, follows } = pinAnnotationsOf(object);
  return [...new Set([...pins.map(({ rollout }) => rollout), ...(follows === undefined ? [] : [follows])])];
}

function followed({ metadata, spec }: Annotated, problems: string[]): PinAnnotations {
  const [claim] = settle(rolloutClaims(metadata?.annotations ?? {}), problems, 'the chart');
  const ref = spec?.chartRef as SourceRef | undefined;
  const isKnown = ref?.kind === 'OCIRepository' && (ref.namespace ?? metadata.namespace) === metadata.namespace;
  if (claim && spec && !isKnown) {
    problems.push(`${ROLLOUT} on a HelmRelease needs a spec.chartRef to an OCIRepository of its namespace`);
  }
  return { pins: [], ...(claim && { follows: claim.rollout }), problems: problems.slice(0, MAX_PROBLEMS) };
}

/** Where the pinned value is, from the object's root. */
export function pinPath(pin: Pin): string[] {
  return pin.variable === undefined ? ['spec', 'ref', 'tag'] : ['spec', 'postBuild', 'substitute', pin.variable];
}

/**
 * The Rollouts that the object leaves in this write: they lose a field of it, which is no longer claimed, handed over, or claimed by a
 * second Rollout; or it no longer follows them. An object that is deleted (undefined) leaves all of its Rollouts, and so does one that gets an
 * owner reference with which the garbage collector may delete it: it could be created again without them.
 */
export function rolloutsLeft(object: FluxObject | undefined, oldObject: FluxObject): string[] {
  const stays = object && !gainsOwner(object, oldObject);
  const kept = new Set(stays ? ties(object).map(({ key }) => key) : []);
  const lost = ties(oldObject).filter(({ key }) => !kept.has(key));
  return [...new Set(lost.map(({ rollout }) => rollout))];
}

/** What binds the object to Rollouts: each pinned field, and the Rollout that it follows. */
function ties(object: FluxObject): { rollout: string; key: string }[] {
  const { pins, follows } = pinAnnotationsOf(object);
  const pinned = pins.map((pin) => ({ rollout: pin.rollout, key: pinKey(pin) }));
  return follows === undefined ? pinned : [...pinned, { rollout: follows, key: follows }];
}

/** The same field of the same Rollout. */
export function pinKey(pin: Pin): string {
  return [pin.rollout, ...pinPath(pin)].join(' ');
}

function rolloutClaims(annotations: Record<string, string>): Claim[] {
  const rollouts = annotations[ROLLOUT];
  return rollouts === undefined ? [] : [{ annotation: ROLLOUT, rollouts }];
}

function substituteClaims(annotations: Record<string, string>, problems: string[]): Claim[] {
  const claims: Claim[] = [];
  for (const [annotation, rollouts] of Object.entries(annotations)) {
    const variable = annotation.startsWith(ROLLOUT_PREFIX) ? SUBSTITUTE_KEY.exec(annotation)?.[1] : undefined;
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

/** One Rollout per field, or none. `unnamed`: what is claimed where no variable is. */
function settle(claims: Claim[], problems: string[], unnamed: string): Pin[] {
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
        `${field || unnamed} is claimed by Rollouts ${cut(names.sort().join(' and '))}: it is left as it is`,
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
