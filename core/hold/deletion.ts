/** DESIGN section 7: when a governed object may be deleted. */
import { SUSPENDED } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { JudgedGate } from '../gate/judge.ts';
import { refKey } from '../kube/names.ts';
import { applierOf } from '../suspend/applier.ts';
import { closedGatesText, glassText, subjectOf } from './messages.ts';
import { closedGates, type GateWorld, requiredGates } from './requiredGates.ts';

export interface Deletion {
  oldObject: FluxObject;
  world: GateWorld;
  /** Closed Gates of the Rollouts that it follows: to go and be made again without marks is a way to leave them. */
  closedForPins?: readonly JudgedGate[];
  /** Why the glass was not broken, where it was tried. */
  refused?: string | undefined;
}

/** The sentence that refuses it, or undefined. Whoever has broken the glass is not asked here. */
export function refuseDeletion({ oldObject, world, closedForPins = [], refused }: Deletion): string | undefined {
  const closed = [...closedGates(requiredGates(oldObject, world), world), ...closedForPins];
  if (closed.length > 0) {
    return `${subjectOf(oldObject)} cannot be deleted: ${closedGatesText(closed)}${glassText(refused, 'delete')}`;
  }
  if (oldObject.metadata.annotations?.[SUSPENDED] === undefined) return undefined;
  const applier = applierOf(oldObject);
  const end = applier ? ` when Kustomization ${refKey(applier)} has applied everything again` : ' in a moment';
  return (
    `${subjectOf(oldObject)} cannot be deleted yet: the gates are open, but its suspension is still on the object; ` +
    `what it applied would stay in the cluster for ever. It is lifted${end}, or set spec.suspend to false.`
  );
}
