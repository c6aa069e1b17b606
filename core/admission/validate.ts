/** The validating half of the rules in write.ts: nobody changed what our mutating webhook had settled. */
import { AWAITS_ARTIFACT, GATE_STATE } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { Pin } from '../../api/types.ts';
import { freshReason } from '../gate/bypass.ts';
import type { GateResult } from '../gate/evaluateGates.ts';
import { isSystemDeleter } from '../kube/systemDeleters.ts';
import { FewPaths } from './freeze/changedPaths.ts';
import { governedChanges } from './freeze/changes.ts';
import { pinAnnotationsOf, pinPath } from './managedFields/annotations.ts';
import { strongerRefs } from './managedFields/field.ts';
import { verifyPins } from './managedFields/validate.ts';
import { type Refusal, subjectOf } from './messages.ts';
import { closingsOf, passingRollouts } from './passing.ts';
import { closedGates, requiredGates } from './requiredGates.ts';
import { parseState } from './suspend/stateAnnotation.ts';
import type { FluxWrite } from './write.ts';

/** undefined when all is well. */
export function verifyWrite(write: Omit<FluxWrite, 'bypass' | 'fieldManager'>): Refusal | undefined {
  const { object, oldObject, context } = write;
  const behind = oldObject ?? object;
  const closed = closedGates(requiredGates(behind, context), context);
  const held = verifySuspended(object) ?? verifyHeld(write, closed);
  if (held) return held;
  // Behind a closed gate a pin keeps what it had, whatever its Rollout says, but for a deployment that passes it.
  const rollouts =
    closed.length > 0 ? passingRollouts(oldObject, closingsOf(behind, context), context) : context.rollouts;
  const problems = verifyPins(object, oldObject, rollouts, context.now);
  return problems.length > 0 ? { reason: 'overwritten', text: `${problems.join('. ')}.` } : undefined;
}

function verifySuspended(object: FluxObject): Refusal | undefined {
  const state = parseState(object.metadata.annotations?.[GATE_STATE]);
  const mustStandStill = state?.is === 'closed' || object.metadata.annotations?.[AWAITS_ARTIFACT] !== undefined;
  const isRunning = mustStandStill && object.spec?.suspend !== true;
  return isRunning ? { reason: 'overwritten', text: changedAfterwards(object, 'spec.suspend') } : undefined;
}

function verifyHeld(
  { object, oldObject, user, context }: Omit<FluxWrite, 'bypass'>,
  closed: readonly GateResult[],
): Refusal | undefined {
  const state = parseState(object.metadata.annotations?.[GATE_STATE]);
  // A gate that closed between the two calls of one request: the write came before it.
  if (state?.is !== 'closed' && state?.is !== 'bypassed' && state?.is !== 'passing') return undefined;
  if (!oldObject || isSystemDeleter(user) || freshReason(object, oldObject) || closed.length === 0) return undefined;
  const passing = passingRollouts(oldObject, closingsOf(oldObject, context), context);
  const moves = (pin: Pin) => state.is === 'passing' || passing.has(pin.rollout);
  const moved = pinAnnotationsOf(oldObject).pins.filter(moves);
  const ours = new Set(['spec.suspend', ...moved.flatMap((pin) => pinnedPaths(oldObject, pin))]);
  const foreign = new FewPaths();
  governedChanges(object, oldObject, ({ path }) => {
    if (!ours.has(path.join('.'))) foreign.add(path);
  });
  if (foreign.count === 0) return undefined;
  return { reason: 'overwritten', text: `${changedAfterwards(object, foreign.text)} `, closed };
}

function pinnedPaths(oldObject: FluxObject, pin: Pin): string[] {
  return [pinPath(pin).join('.'), ...strongerRefs(oldObject, pin).map((ref) => `spec.ref.${ref}`)];
}

function changedAfterwards(object: FluxObject, paths: string): string {
  return `${subjectOf(object)}: another webhook changed ${paths} after rollout-hooks had held it.`;
}
