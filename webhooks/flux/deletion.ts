/** The deletion of a Flux object: denied while a closed Gate holds it, unless a reason was given before. */
import type { AdmissionRequest } from '../../api/admission.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { WebhookCall } from '../../api/ports.ts';
import { closedToWrite } from '../../core/admission/fluxWrite.ts';
import { deletionDenial } from '../../core/admission/validate.ts';
import { isSystemDeleter } from '../../core/kube/users.ts';
import { bypassOrDeny, reviewBypass } from '../closedGates.ts';
import { type AdmissionDecision, allowed } from '../response.ts';
import { readClosedOfUnbound, readContext, type Write } from './writeContext.ts';

export async function validateDelete(
  write: Write,
  oldObject: FluxObject,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<AdmissionDecision> {
  if (isSystemDeleter(request.userInfo.username)) return allowed();
  const closed = closedToWrite(oldObject, await readContext(write, request, call));
  if (!deletionDenial(oldObject, closed)) return allowed();
  return bypassOrDeny(oldObject, closed, (bypass) => deletionDenial(oldObject, closed, bypass)!, request, call);
}

/**
 * Whether the reason lets its author delete the object later.
 * An object that requires no Gate may be written, but not deleted while a Rollout that it follows requires a closed
 * one.
 */
export async function countsForDeletion(
  write: Write,
  reason: string | undefined,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<boolean> {
  if (reason === undefined) return false;
  const closed = await readClosedOfUnbound({ ...write, object: undefined }, call);
  return (await reviewBypass(closed, reason, request, call))?.granted ?? false;
}
