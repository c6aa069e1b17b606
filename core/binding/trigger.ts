/** When a Flux object must be written so that the webhook brings it to what its Rollouts have deployed. */
import { DEPLOYED } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { DeploymentRef, FluxBindingStatus } from '../../api/types.ts';
import { parseDeployments } from '../pin/deployment.ts';
import { readPin } from '../pin/field.ts';
import type { PinState } from './status.ts';

/**
 * The annotation DEPLOYED as it should be written, which only triggers the webhook: the webhook works out the value itself.
 * null removes it, which triggers the webhook where the text is right and the field is not. undefined: nothing to do.
 */
export function deploymentTrigger(
  object: FluxObject,
  status: FluxBindingStatus | undefined,
): string | null | undefined {
  if (!status?.deployed || isHeld(status)) return undefined;
  const carried = parseDeployments(object.metadata.annotations?.[DEPLOYED]);
  const pins = (status.pins ?? []).filter((pin) => pin.state !== 'Missing');
  if (pins.some((pin) => isNewer(pin, carried))) return status.deployed;
  return pins.some((pin) => hasDrifted(object, pin, carried)) ? null : undefined;
}

/** Nothing moves behind a gate. */
export function isHeld(status: FluxBindingStatus | undefined): boolean {
  return status?.gates?.some((gate) => !gate.opened) ?? false;
}

/** A binding may lag behind the object, so an older id never counts. */
function isNewer(pin: PinState, carried: readonly DeploymentRef[]): boolean {
  const have = carried.find((deployment) => deployment.rollout === pin.rollout);
  if (!have || have.uid !== pin.uid) return true;
  return (pin.id ?? 0) > have.id || (pin.id === have.id && pin.version !== have.version);
}

/** The annotation is there without the value: written while the webhook was down. */
function hasDrifted(object: FluxObject, pin: PinState, carried: readonly DeploymentRef[]): boolean {
  const has = carried.some(
    (deployment) => deployment.rollout === pin.rollout && deployment.id === pin.id && deployment.uid === pin.uid,
  );
  return has && readPin(object, pin) !== pin.version;
}
