/** How an object that is beyond a limit gets back under it. */
import { ARTIFACT, AWAITS_ARTIFACT, DEPLOYED, GATES, ROLLOUT_PREFIX } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import { evaluateGates } from '../gate/evaluateGates.ts';
import { annotate } from '../kube/annotate.ts';
import { refKey } from '../kube/names.ts';
import { pinAnnotationsOf } from './managedFields/annotations.ts';
import { type GateContext, namedGates, requiredGates } from './requiredGates.ts';

/**
 * The stored object as the write is to be measured against it. Beyond a limit nothing may change but what brings the
 * object under it again: the names of Gates, where none is left that is closed, and of Rollouts. So these count as stored.
 */
export function repaired(object: FluxObject, oldObject: FluxObject, context: GateContext): FluxObject {
  if (!requiredGates(oldObject, context).tooMany) return oldObject;
  let before = oldObject;
  if (!namedGates(object).tooMany && !leavesClosed(object, oldObject, context)) {
    before = annotate(before, GATES, object.metadata.annotations?.[GATES]);
  }
  return pinAnnotationsOf(oldObject).tooMany && !pinAnnotationsOf(object).tooMany
    ? withRollouts(before, object)
    : before;
}

/** Which Gates an object that names too many would require is not known: its author could have named fewer before any of them closed. */
function leavesClosed(object: FluxObject, oldObject: FluxObject, context: GateContext): boolean {
  const { gates, now, ...rules } = context;
  const kept = new Set(namedGates(object, rules).refs.map(refKey));
  const left = namedGates(oldObject, rules).refs.filter((ref) => !kept.has(refKey(ref)));
  return !evaluateGates(left, (ref) => gates.get(refKey(ref)), now).open;
}

function withRollouts(before: FluxObject, { metadata }: FluxObject): FluxObject {
  const isPinAnnotation = ([key]: [string, string]) =>
    key.startsWith(ROLLOUT_PREFIX) && key !== DEPLOYED && key !== ARTIFACT && key !== AWAITS_ARTIFACT;
  const theirs = Object.entries(before.metadata.annotations ?? {}).filter((entry) => !isPinAnnotation(entry));
  const mine = Object.entries(metadata.annotations ?? {}).filter(isPinAnnotation);
  return { ...before, metadata: { ...before.metadata, annotations: Object.fromEntries([...theirs, ...mine]) } };
}
