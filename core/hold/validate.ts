/** The validating half of a closed gate: nobody changed what our mutating webhook had held. */
import { GATE_STATE } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import { FewPaths } from '../freeze/changedPaths.ts';
import { governedChanges } from '../freeze/changes.ts';
import { freshReason } from '../gate/bypass.ts';
import { parseGateState } from '../suspend/stateAnnotation.ts';
import { closedGatesText, subjectOf } from './messages.ts';
import { closedGates, type GateWorld, requiredGates } from './requiredGates.ts';

/** A sentence, or undefined when all is well. */
export function verifyFrozen(
  object: FluxObject,
  oldObject: FluxObject | undefined,
  world: GateWorld,
  byCleaner: boolean,
): string | undefined {
  const state = parseGateState(object.metadata.annotations?.[GATE_STATE]);
  // A gate that closed between the two calls of one request: the write came before it.
  if (state?.is !== 'closed' && state?.is !== 'bypassed') return undefined;
  if (state.is === 'closed' && object.spec?.suspend !== true) return changedBehindUs(object, 'spec.suspend');
  if (!oldObject || byCleaner || freshReason(object, oldObject)) return undefined;
  const closed = closedGates(requiredGates(oldObject, world), world);
  if (closed.length === 0) return undefined;
  const foreign = new FewPaths();
  governedChanges(object, oldObject, ({ path }) => {
    if (path.join('.') !== 'spec.suspend') foreign.add(path);
  });
  return foreign.count > 0 ? `${changedBehindUs(object, foreign.text)} ${closedGatesText(closed)}` : undefined;
}

function changedBehindUs(object: FluxObject, paths: string): string {
  return `${subjectOf(object)}: another webhook changed ${paths} after rollout-hooks had held it.`;
}
