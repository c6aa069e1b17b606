/**
 * Admission of Flux objects: answers what core/admission/fluxWrite.ts and core/admission/validate.ts decide from the
 * state that writeContext.ts reads.
 */
import type { AdmissionRequest } from '../../api/admission.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { WebhookCall } from '../../api/ports.ts';
import {
  closedToWrite,
  decideWrite,
  isOutOfScope,
  newForeignGateProblem,
  tooManyReferencesProblem,
  willConflict,
} from '../../core/admission/fluxWrite.ts';
import { deletionDenial, verifyWrite } from '../../core/admission/validate.ts';
import { freshReason } from '../../core/gate/bypassReason.ts';
import { isSystemDeleter } from '../../core/kube/users.ts';
import { denialText, subjectOf } from '../../core/objectGates/gateTexts.ts';
import { withShrinkingEdits } from '../../core/objectGates/objectGates.ts';
import { bypassOrDeny, recordBypass, reviewBypass } from '../closedGates.ts';
import { type AdmissionDecision, allowed, denied, deny } from '../response.ts';
import { isInCurrentVersion, lostFieldsDenial } from './lostFields.ts';
import { heldSourceWarning, withClosedGates } from './otherBlockers.ts';
import { fluxWriteOf, readClosedOfUnbound, readContext, readValidationContext, type Write } from './writeContext.ts';

export async function mutateFlux(request: AdmissionRequest, call: WebhookCall): Promise<AdmissionDecision> {
  const write = fluxWriteOf(request);
  const { object, oldObject: stored } = write;
  if (!object || request.subResource || (stored && needsNoDecision(object, stored, request))) return allowed();
  const foreign = call.settings.noCrossNamespaceRefs ? newForeignGateProblem(object, stored) : undefined;
  if (foreign) return denied('not_permitted', `${subjectOf(object)}: ${foreign}`);
  const tooMany = tooManyReferencesProblem(object, stored);
  if (tooMany) return denied('limit', `${subjectOf(object)}: ${tooMany}`);

  const context = await readContext(write, request, call);
  const oldObject = stored && withShrinkingEdits(object, stored, context);
  const closed = oldObject ? closedToWrite(oldObject, context) : [];
  const reason = freshReason(object, oldObject);
  const bypass = await reviewBypass(closed, reason, request, call);
  const fieldManager = fieldManagerOf(request);
  const outcome = decideWrite({
    object,
    oldObject,
    context,
    closed,
    user: request.userInfo.username,
    fieldManager,
    isSync: fieldManager !== undefined && call.settings.syncFieldManagers.includes(fieldManager),
    bypass,
    reasonCounts: bypass === undefined && (await countsForDeletion(write, reason, request, call)),
  });
  const { warnings } = outcome;
  if (outcome.denial)
    return deny(await withClosedGates(outcome.denial, object, context, call), request, call, warnings);
  const loss = bypass?.granted ? undefined : await lostFieldsDenial(oldObject, closed, request, call);
  if (loss) return deny(loss, request, call, warnings);
  const decision = { allowed: true, object: outcome.object, warnings, revertReason: outcome.revertReason } as const;
  if (!bypass) return decision;
  if (!bypass.granted) return { ...decision, warnings: [`Bypass denied: ${bypass.why}`, ...warnings] };
  return {
    ...decision,
    warnings: [...warnings, ...(await heldSourceWarning(outcome.object, call))],
    audit: await recordBypass(bypass, outcome.object, request, call),
  };
}

/** Whether the API server will reject the write anyway, or the write changes nothing that Gates and Rollouts govern. */
function needsNoDecision(object: FluxObject, stored: FluxObject, request: AdmissionRequest): boolean {
  // A write in an older version may drop fields that neither object has here: `lostFieldsDenial` compares with what is
  // stored.
  return willConflict(object, stored) || (isOutOfScope(object, stored) && isInCurrentVersion(request));
}

function fieldManagerOf({ options }: AdmissionRequest): string | undefined {
  const { fieldManager } = options ?? {};
  return typeof fieldManager === 'string' ? fieldManager : undefined;
}

/** Checks that no other webhook has changed what `mutateFlux` decided. */
export async function validateFlux(request: AdmissionRequest, call: WebhookCall): Promise<AdmissionDecision> {
  const write = fluxWriteOf(request);
  const { object, oldObject: stored } = write;
  if (request.subResource) return allowed();
  if (!object) return stored ? validateDelete(write, stored, request, call) : allowed();
  if (stored && isOutOfScope(object, stored)) return allowed();
  const tooMany = tooManyReferencesProblem(object, stored);
  if (tooMany) return denied('limit', `${subjectOf(object)}: ${tooMany}`);

  const context = await readValidationContext(write, call);
  const oldObject = stored && withShrinkingEdits(object, stored, context);
  const denial = verifyWrite({ object, oldObject, context, user: request.userInfo.username });
  return denial ? denied(denial.reason, denialText(denial, write.namespace)) : allowed();
}

/** Denies the deletion while a closed Gate holds the object, unless the user gave a reason before. */
async function validateDelete(
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
 * An object that requires no Gate may be written, but not deleted while a Rollout to which it is bound requires a
 * closed one.
 */
async function countsForDeletion(
  write: Write,
  reason: string | undefined,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<boolean> {
  if (reason === undefined) return false;
  const closed = await readClosedOfUnbound({ ...write, object: undefined }, call);
  return (await reviewBypass(closed, reason, request, call))?.granted ?? false;
}
