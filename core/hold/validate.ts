/** The validating half of the rules in write.ts: nobody changed what our mutating webhook had settled. */
import { AWAITS_ARTIFACT, GATE_STATE } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import { FewPaths } from '../freeze/changedPaths.ts';
import { governedChanges } from '../freeze/changes.ts';
import { freshReason } from '../gate/bypass.ts';
import type { JudgedGate } from '../gate/judge.ts';
import { isSystemDeleter } from '../kube/systemDeleters.ts';
import { verifyPins } from '../pin/validate.ts';
import { parseState } from '../suspend/stateAnnotation.ts';
import { type Refusal, subjectOf } from './messages.ts';
import { closedGates, requiredGates } from './requiredGates.ts';
import type { FluxWrite } from './write.ts';

/** undefined when all is well. */
export function verifyWrite(write: Omit<FluxWrite, 'bypass' | 'fieldManager'>): Refusal | undefined {
  const { object, oldObject, world } = write;
  const behind = oldObject ?? object;
  const closed = closedGates(requiredGates(behind, world), world);
  const held = verifySuspended(object) ?? verifyHeld(write, closed);
  if (held) return held;
  // Behind a closed gate a pin keeps what it had, whatever its Rollout says.
  const problems = closed.length > 0 ? [] : verifyPins(object, world.rollouts, world.now);
  return problems.length > 0 ? { reason: 'overwritten', text: `${problems.join('. ')}.` } : undefined;
}

function verifySuspended(object: FluxObject): Refusal | undefined {
  const state = parseState(object.metadata.annotations?.[GATE_STATE]);
  const mustStandStill = state?.is === 'closed' || object.metadata.annotations?.[AWAITS_ARTIFACT] !== undefined;
  const isRunning = mustStandStill && object.spec?.suspend !== true;
  return isRunning ? { reason: 'overwritten', text: changedAfterwards(object, 'spec.suspend') } : undefined;
}

function verifyHeld(
  { object, oldObject, user }: Omit<FluxWrite, 'bypass'>,
  closed: readonly JudgedGate[],
): Refusal | undefined {
  const state = parseState(object.metadata.annotations?.[GATE_STATE]);
  // A gate that closed between the two calls of one request: the write came before it.
  if (state?.is !== 'closed' && state?.is !== 'bypassed') return undefined;
  if (!oldObject || isSystemDeleter(user) || freshReason(object, oldObject) || closed.length === 0) return undefined;
  const foreign = new FewPaths();
  governedChanges(object, oldObject, ({ path }) => {
    if (path.join('.') !== 'spec.suspend') foreign.add(path);
  });
  if (foreign.count === 0) return undefined;
  return { reason: 'overwritten', text: `${changedAfterwards(object, foreign.text)} `, closed };
}

function changedAfterwards(object: FluxObject, paths: string): string {
  return `${subjectOf(object)}: another webhook changed ${paths} after rollout-hooks had held it.`;
}
