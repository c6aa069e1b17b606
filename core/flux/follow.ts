/** When a Flux object must be written so that the webhook brings it to what its Rollouts have deployed. */
import { DEPLOYED } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { FluxBindingStatus, Stamp } from '../../api/types.ts';
import { readPin } from './pin.ts';
import { parseStamps } from './stamp.ts';

/**
 * The annotation DEPLOYED as it should be written: the trigger, since the webhook works out the value itself.
 * null removes it, which wakes the webhook where the text is right and the field is not. undefined: nothing to do.
 */
export function trigger(object: FluxObject, status: FluxBindingStatus | undefined): string | null | undefined {
  if (!status?.deployed) return undefined;
  const carried = parseStamps(object.metadata.annotations?.[DEPLOYED]);
  const desired = parseStamps(status.deployed);
  if (desired.some((stamp) => isNews(stamp, carried))) return status.deployed;
  return hasDrifted(object, status, carried) ? null : undefined;
}

/** A binding may lag behind the object, so an older id never counts. */
function isNews(desired: Stamp, carried: readonly Stamp[]): boolean {
  const have = carried.find((stamp) => stamp.rollout === desired.rollout);
  if (!have || have.uid !== desired.uid) return true;
  return desired.id > have.id || (desired.id === have.id && desired.version !== have.version);
}

/** The stamp is there without the value: written while the webhook was not in the way. Nothing moves behind a gate. */
function hasDrifted(object: FluxObject, status: FluxBindingStatus, carried: readonly Stamp[]): boolean {
  if (status.gates?.some((gate) => !gate.opened)) return false;
  return (status.pins ?? []).some(
    (pin) =>
      carried.some((stamp) => stamp.rollout === pin.rollout && stamp.id === pin.id && stamp.uid === pin.uid) &&
      readPin(object, pin) !== pin.version,
  );
}
