/** Which deployments go past the closed Gates of a Flux object (core/admission/suspend/bypassGrant.ts): their pins move, and the object runs. */
import type { FluxObject } from '../../api/flux.ts';
import type { FluxBindingStatus, Rollout } from '../../api/types.ts';
import { boundRollouts } from './managedFields/annotations.ts';
import { closedGates, requiredGates } from './requiredGates.ts';
import { hasRun, isPassing } from './suspend/bypassGrant.ts';
import { closingKey, INVALID_REFERENCE } from './suspend/stateAnnotation.ts';
import type { WriteContext } from './write.ts';

/** What keeps an object from passing: the closed gates, and text that names none. See `closingKey`. */
export function closingsOf(object: FluxObject, context: WriteContext): string[] {
  const required = requiredGates(object, context);
  return [
    ...closedGates(required, context).map(closingKey),
    ...(required.problems.length > 0 ? [INVALID_REFERENCE] : []),
  ];
}

/** By name, those of the stored object. Empty where no gate is closed, and for an object that is created. */
export function passingRollouts(
  oldObject: FluxObject | undefined,
  closings: readonly string[],
  { rollouts, now }: Pick<WriteContext, 'rollouts' | 'now'>,
): Map<string, Rollout> {
  const names = oldObject && hasRun(oldObject) ? boundRollouts(oldObject) : [];
  return new Map(
    names.flatMap((name) => {
      const rollout = rollouts.get(name);
      return rollout && isPassing(rollout, closings, now) ? [[name, rollout] as const] : [];
    }),
  );
}

/** The same for the decorator, which sees no Rollouts: as the observed binding has it, which may not know the newest closing yet. */
export function isSeenPassing(
  object: FluxObject,
  observed: FluxBindingStatus | undefined,
  closings: readonly string[],
): boolean {
  if (!observed?.passing?.length || !hasRun(object)) return false;
  const known = new Set((observed.gates ?? []).map((gate) => closingKey({ ref: gate, closing: gate.closing })));
  return closings.every((closing) => known.has(closing));
}
