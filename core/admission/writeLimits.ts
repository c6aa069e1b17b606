/**
 * The limits of one write of a Flux object: the denial of a write that exceeds one, and the changes that an object
 * beyond a limit still allows.
 */
import {
  ARTIFACT,
  AWAITS_ARTIFACT,
  DEPLOYED,
  REQUIRED_GATES,
  ROLLOUT_PREFIX,
  UNCOUNTED_ON_FLUX_OBJECTS,
} from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import { closedAmong, LIMIT_OF_ROLLOUTS, LIMIT_TEXTS } from '../gate/closedGates.ts';
import { evaluateGates } from '../gate/evaluateGates.ts';
import type { RefRules } from '../gate/gateRefs.ts';
import { annotate } from '../kube/annotate.ts';
import { isDeeperThan, sameJson } from '../kube/json.ts';
import { uniqueRefs, without } from '../kube/names.ts';
import { LIMITS } from '../limits.ts';
import { managedFieldsOf } from '../managedField/managedFields.ts';
import { type Denial, subjectOf } from '../objectGates/gateTexts.ts';
import { type GateContext, gatesInAnnotation, requiredByObject } from '../objectGates/objectGates.ts';

/** The denial of a write that names too much, or is nested too deeply, to be evaluated. */
export function limitDenial(object: FluxObject, old: FluxObject | undefined, rules: RefRules): Denial | undefined {
  const limit = tooManyReferencesProblem(object, old, rules) ?? nestingProblem(object, old);
  return limit === undefined ? undefined : { reason: 'limit', text: `${subjectOf(object)}: ${limit}` };
}

function tooManyReferencesProblem(
  object: FluxObject,
  old: FluxObject | undefined,
  rules: RefRules,
): string | undefined {
  for (const field of ['annotations', 'labels'] as const) {
    const count = countOfKeys(object.metadata[field]);
    if (count > LIMITS[field] && count > countOfKeys(old?.metadata[field]))
      return `metadata.${field} has ${count} entries, and at most ${LIMITS[field]} are allowed: remove some.`;
  }
  const named = [object, ...(old ? [old] : [])].flatMap((each) => gatesInAnnotation(each, rules).refs);
  if (uniqueRefs(named).length > LIMITS.requiredGates) {
    return (
      `metadata.annotations[${REQUIRED_GATES}]: the old and the new value together name more than ${LIMITS.requiredGates} ` +
      'Gates (limit requiredGates): change the annotation in several writes.'
    );
  }
  if (!managedFieldsOf(object).tooMany || (old && managedFieldsOf(old).tooMany)) return undefined;
  return `${LIMIT_TEXTS[LIMIT_OF_ROLLOUTS]}.`;
}

function countOfKeys(entries: Record<string, string> | undefined): number {
  return Object.keys(entries ?? {}).filter((key) => !UNCOUNTED_ON_FLUX_OBJECTS.has(key)).length;
}

/**
 * The problem of a spec that is too deep to be compared field by field.
 * A stored spec that is too deep blocks no write that leaves it alone: otherwise the object could not be suspended.
 */
function nestingProblem(object: FluxObject, old: FluxObject | undefined): string | undefined {
  if (!isDeeperThan(LIMITS.nesting, object.spec)) return undefined;
  if (old && sameJson(specWithoutSuspend(object), specWithoutSuspend(old))) return undefined;
  return `spec is nested more than ${LIMITS.nesting} levels deep (limit nesting): nest it less deeply.`;
}

function specWithoutSuspend({ spec }: FluxObject): unknown {
  const { suspend: _, ...rest } = spec ?? {};
  return rest;
}

/**
 * The stored object, with the only changes that a write may make to an object beyond a limit: the write may name fewer
 * Rollouts, and drop Gates if all dropped Gates are open.
 */
export function withShrinkingEdits(object: FluxObject, old: FluxObject, context: GateContext): FluxObject {
  if (!requiredByObject(old, context.selectingGates, context).limit) return old;
  let before = old;
  if (!gatesInAnnotation(object, context).tooMany && !dropsClosedGate(object, old, context)) {
    before = annotate(before, REQUIRED_GATES, object.metadata.annotations?.[REQUIRED_GATES]);
  }
  return managedFieldsOf(old).tooMany && !managedFieldsOf(object).tooMany ? withRollouts(before, object) : before;
}

/**
 * Whether the write drops a closed Gate. The Gates of an object that names too many are unknown and count as open: its
 * author could have named fewer before any Gate closed.
 */
function dropsClosedGate(object: FluxObject, old: FluxObject, context: GateContext): boolean {
  const dropped = without(gatesInAnnotation(old, context).refs, gatesInAnnotation(object, context).refs);
  return closedAmong(evaluateGates(dropped, context.gates, context.now)) !== undefined;
}

/** The object with the annotations of another one that bind it to Rollouts. */
function withRollouts(before: FluxObject, { metadata }: FluxObject): FluxObject {
  const bindsToRollout = ([key]: [string, string]) =>
    key.startsWith(ROLLOUT_PREFIX) && key !== DEPLOYED && key !== ARTIFACT && key !== AWAITS_ARTIFACT;
  const theirs = Object.entries(before.metadata.annotations ?? {}).filter((entry) => !bindsToRollout(entry));
  const mine = Object.entries(metadata.annotations ?? {}).filter(bindsToRollout);
  return { ...before, metadata: { ...before.metadata, annotations: Object.fromEntries([...theirs, ...mine]) } };
}
