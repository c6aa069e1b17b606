/**
 * Admission of Flux objects. The mutating webhook decides with core/admission/fluxWrite.ts. The validating webhook,
 * after all other webhooks, decides with core/admission/validate.ts. Both read the cluster's state by writeContext.ts.
 */
import type { AdmissionRequest } from '../../api/admission.ts';
import type { FluxObject, SourceRef } from '../../api/flux.ts';
import { GOVERNED_KINDS, governedKindOf, KINDS, resourceOf } from '../../api/kinds.ts';
import type { WebhookCall } from '../../api/ports.ts';
import {
  decideWrite,
  type FluxWrite,
  foreignGateDenial,
  isOutOfScope,
  type WriteContext,
  willConflict,
} from '../../core/admission/fluxWrite.ts';
import { deletionDenial, verifyWrite } from '../../core/admission/validate.ts';
import { limitDenial } from '../../core/admission/writeLimits.ts';
import { type Bypass, freshReason } from '../../core/gate/bypassReason.ts';
import type { ClosedGates } from '../../core/gate/closedGates.ts';
import { sameJson } from '../../core/kube/json.ts';
import { identityOf } from '../../core/kube/names.ts';
import { isSystemDeleter } from '../../core/kube/users.ts';
import type { FieldDenial } from '../../core/managedField/setManagedFields.ts';
import { bypassingDeployCommand, type Denial, subjectOf } from '../../core/objectGates/gateTexts.ts';
import { isSuspendedByUs } from '../../core/objectGates/objectState.ts';
import { bypassOrDeny, recordBypass, reviewBypass } from '../bypass.ts';
import { readClosedGatesOfRollouts } from '../closedGateReads.ts';
import { type AdmissionDecision, allowed, deny, type ObjectVersions, versionsOf } from '../response.ts';
import { readClosedGatesOfUnbound, readContext, readValidationContext } from './writeContext.ts';

export async function mutateFlux(request: AdmissionRequest, call: WebhookCall): Promise<AdmissionDecision> {
  const versions = versionsOf<FluxObject>(request);
  const { object, old: stored } = versions;
  if (!object) return allowed();
  const isStoredVersion = isInStoredVersion(request);
  if (stored && (willConflict(object, stored) || (isStoredVersion && isOutOfScope(object, stored)))) return allowed();
  const { settings } = call;
  const early = foreignGateDenial(object, stored, settings) ?? limitDenial(object, stored, settings);
  if (early) return deny(early, request, call);

  const write = await reviewedWrite(object, await readContext(versions, request, call), request, call);
  const { old, closed, bypass } = write;
  const fieldManager = fieldManagerOf(request);
  const isSync = fieldManager !== undefined && call.settings.syncFieldManagers.includes(fieldManager);
  const reasonCounts = bypass ? bypass.granted : await countsForDeletion(versions, request, call);
  const outcome = decideWrite({ ...write, fieldManager, isSync, reasonCounts });
  const { warnings } = outcome;
  if (outcome.denial) {
    const { denial, deniedFields = [] } = outcome;
    return deny(await withClosedGates(denial, deniedFields, write, call), request, call, warnings);
  }
  const holding = bypass?.granted ? undefined : closed;
  const loss = holding && !isStoredVersion ? await lostFieldsDenial(old!, holding, request, call) : undefined;
  if (loss) return deny(loss, request, call, warnings);
  const { object: decided, revertReason } = outcome;
  return withBypass({ allowed: true, object: decided, warnings, revertReason }, bypass, request, call);
}

/** The write with the writer's bypass of the closed Gates. */
async function reviewedWrite(
  object: FluxObject,
  context: WriteContext,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<FluxWrite> {
  const { username: user } = request.userInfo;
  const bypass = await reviewBypass(context.closed, freshReason(object, context.old), request, call);
  return { ...context, object, user, isByDecorator: user === call.settings.metacontrollerUser, bypass };
}

/** Whether the write is in the API version that is stored. In another one, both objects may lack fields of that one. */
function isInStoredVersion({ kind: { group, kind, version } }: AdmissionRequest): boolean {
  const governed = governedKindOf(group, kind);
  return governed === undefined || KINDS[governed].versions[0] === version;
}

function fieldManagerOf({ options }: AdmissionRequest): string | undefined {
  const { fieldManager } = options ?? {};
  return typeof fieldManager === 'string' ? fieldManager : undefined;
}

/** The decision with the answer to the writer who requests a bypass. */
async function withBypass(
  decision: AdmissionDecision & { allowed: true; object: FluxObject; warnings: string[] },
  bypass: Bypass | undefined,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<AdmissionDecision> {
  const { object, warnings } = decision;
  if (!bypass) return decision;
  if (!bypass.granted) return { ...decision, warnings: [`Bypass denied: ${bypass.why}`, ...warnings] };
  return {
    ...decision,
    warnings: [...warnings, ...(await heldSourceWarning(object, call))],
    audit: await recordBypass(bypass, object, request, call),
  };
}

// Reads after the decision: the fields that the write would lose, and the next obstacle.

/**
 * The denial of a write of a held object in another version than the stored one, if it lacks a field of the stored
 * spec. No webhook can bring back what such a write drops.
 * @param closed the Gates that hold the object
 */
async function lostFieldsDenial(
  old: FluxObject,
  closed: ClosedGates,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<Denial | undefined> {
  const { group, kind, version } = request.kind;
  const governed = governedKindOf(group, kind);
  if (governed === undefined) return undefined;
  const [current] = KINDS[governed].versions;
  const stored = await call.cluster.get<FluxObject>({ ...resourceOf(KINDS[governed]), ...identityOf(old) });
  if (!stored || sameJson(stored.spec, old.spec)) return undefined;
  const lost = Object.keys(stored.spec ?? {}).filter((key) => !sameJson(stored.spec?.[key], old.spec?.[key]));
  // The other version may only add a default.
  if (lost.length === 0) return undefined;
  return {
    reason: 'gate_closed',
    text: `${subjectOf(old)} cannot be written in ${group}/${version}, which drops or changes spec.${lost.join(', spec.')} (use ${group}/${current})`,
    closed,
  };
}

/** Adds to the denial the closed Gates for which deployments of these values would wait. */
async function withClosedGates(
  denial: Denial,
  deniedFields: readonly FieldDenial[],
  { rollouts }: WriteContext,
  call: WebhookCall,
): Promise<Denial> {
  const names = new Set(deniedFields.map(({ field }) => field.rollout));
  const denying = [...names].flatMap((name) => rollouts.get(name) ?? []);
  const closed = await readClosedGatesOfRollouts(denying, call);
  if (!closed) return denial;
  const bypasses = deniedFields.map(({ field: { rollout: name }, value }) => {
    const { metadata, spec } = rollouts.get(name)!;
    return bypassingDeployCommand({ namespace: metadata.namespace, name }, value, Boolean(spec?.wantedVersion));
  });
  const todo = { commands: [...(denial.todo?.commands ?? []), ...bypasses] };
  return { ...denial, text: `${denial.text} A deployment would wait`, closed, todo };
}

/**
 * The Warning that the sync's source is held too, and so fetches nothing new. If the source can't be read, the
 * Warning is left out: the bypass must still work.
 */
async function heldSourceWarning(sync: FluxObject, { cluster }: WebhookCall): Promise<string[]> {
  const chart = sync.spec?.chart as { spec?: { sourceRef?: SourceRef } } | undefined;
  const ref = (sync.spec?.sourceRef ?? sync.spec?.chartRef ?? chart?.spec?.sourceRef) as SourceRef | undefined;
  const row = GOVERNED_KINDS.find(({ kind, governed }) => governed === 'source' && kind === ref?.kind);
  if (!ref?.name || !row) return [];
  const namespace = ref.namespace ?? sync.metadata.namespace ?? '';
  const source = await cluster
    .get<FluxObject>({ ...resourceOf(row), namespace, name: ref.name })
    .catch(() => undefined);
  if (!source || !isSuspendedByUs(source)) return [];
  return [
    `its source is held too and fetches nothing: also bypass the Gates of ${ref.kind} '${namespace}/${ref.name}'`,
  ];
}

/** Checks that no other mutating webhook has changed the decision of `mutateFlux`: all of them have run by now. */
export async function validateFlux(request: AdmissionRequest, call: WebhookCall): Promise<AdmissionDecision> {
  const versions = versionsOf<FluxObject>(request);
  const { object, old: stored } = versions;
  if (!object) return stored ? validateDelete(versions, stored, request, call) : allowed();
  if (stored && (willConflict(object, stored) || isOutOfScope(object, stored))) return allowed();
  const limit = limitDenial(object, stored, call.settings);
  if (limit) return deny(limit, request, call);

  const context = await readValidationContext(versions, request, call);
  const denial = verifyWrite(await reviewedWrite(object, context, request, call));
  return denial ? deny(denial, request, call) : allowed();
}

/** Denies the deletion while a closed Gate holds the object, unless the user has just given a reason to bypass it. */
async function validateDelete(
  versions: ObjectVersions<FluxObject>,
  old: FluxObject,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<AdmissionDecision> {
  if (isSystemDeleter(request.userInfo.username)) return allowed();
  const { closed } = await readContext(versions, request, call);
  const denial = deletionDenial(old, closed);
  return denial ? bypassOrDeny(old, closed, denial, request, call) : allowed();
}

/**
 * Whether the reason lets its author delete the object later.
 * An object that requires no Gate may be written, but not deleted while a Rollout to which it is bound requires a
 * closed one.
 */
async function countsForDeletion(
  versions: ObjectVersions<FluxObject>,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<boolean> {
  const reason = versions.object && freshReason(versions.object, versions.old);
  if (reason === undefined) return false;
  const closed = await readClosedGatesOfUnbound({ ...versions, object: undefined }, call);
  return (await reviewBypass(closed, reason, request, call))?.granted ?? false;
}
