/** Admission of Flux objects that name Rollouts or Gates. The rules are in core/admission/write.ts; here is what they need. */
import type { AdmissionRequest } from '../../api/admission.ts';
import { SUSPENDED } from '../../api/annotations.ts';
import type { FluxObject, SourceRef } from '../../api/flux.ts';
import { GOVERNED_KINDS, governedKindOf, KINDS, resourceOf } from '../../api/kinds.ts';
import type { WebhookCall } from '../../api/ports.ts';
import { refuseDeletion } from '../../core/admission/deletion.ts';
import { pinAnnotationsOf } from '../../core/admission/managedFields/annotations.ts';
import { deploymentOf } from '../../core/admission/managedFields/deployment.ts';
import { readPin } from '../../core/admission/managedFields/field.ts';
import { HOTFIX_HINT, type Refusal, refusalText, subjectOf } from '../../core/admission/messages.ts';
import { decideWrite } from '../../core/admission/mutate.ts';
import { refuseForeign, refuseTooManyReferences } from '../../core/admission/reads.ts';
import { repaired } from '../../core/admission/underLimits.ts';
import { verifyWrite } from '../../core/admission/validate.ts';
import { gatesInTheWay, isOutOfScope, type WriteContext, willConflict } from '../../core/admission/write.ts';
import { freshReason } from '../../core/gate/bypass.ts';
import type { GateResult } from '../../core/gate/evaluateGates.ts';
import { sameJson } from '../../core/kube/json.ts';
import { identityOf, refKey } from '../../core/kube/names.ts';
import { isSystemDeleter } from '../../core/kube/systemDeleters.ts';
import { getPast, recordBypass } from '../bypass.ts';
import { deny, passOrDenyDelete, readClosedOfAll } from '../closedGates.ts';
import { type AdmissionDecision, allowed, denied, namespaceOf } from '../response.ts';
import { objectsOf, readClosedForPins, readContext } from './context.ts';

export async function mutateFlux(request: AdmissionRequest, call: WebhookCall): Promise<AdmissionDecision> {
  const { object, oldObject: stored } = objectsOf(request);
  if (!object || request.subResource) return allowed();
  if (stored && (isOutOfScope(object, stored) || willConflict(object, stored))) return allowed();
  const foreign = call.settings.noCrossNamespaceRefs ? refuseForeign(object, stored) : undefined;
  if (foreign) return denied('not_permitted', `${subjectOf(object)}: ${foreign}`);
  const crowd = refuseTooManyReferences(object, stored);
  if (crowd) return denied('limit', `${subjectOf(object)}: ${crowd}`);

  const context = await readContext({ object, oldObject: stored }, request, call);
  const oldObject = stored && repaired(object, stored, context);
  const reason = freshReason(object, oldObject);
  const closed =
    oldObject && reason !== undefined ? gatesInTheWay(oldObject, object, context).map(({ ref }) => ref) : [];
  const bypass = await getPast(closed, reason, request, call);
  const { fieldManager } = request.options ?? {};
  const manager = typeof fieldManager === 'string' ? fieldManager : undefined;
  const outcome = decideWrite({
    object,
    oldObject,
    context,
    user: request.userInfo.username,
    fieldManager: manager,
    isSync: manager !== undefined && call.settings.syncFieldManagers.includes(manager),
    bypass,
    reasonCounts: bypass === undefined && (await countsForDeletion(oldObject, reason, request, call)),
  });
  if (outcome.refusal) {
    const isPinned = outcome.refusal.reason === 'pinned';
    const refusal = isPinned ? await withWait(outcome.refusal, object, context, call) : outcome.refusal;
    return deny(refusal, request, call, outcome.warnings);
  }
  if (oldObject && !bypass?.granted) {
    const loss = await refuseLoss(request, oldObject, gatesInTheWay(oldObject, object, context), call);
    if (loss) return deny(loss, request, call, outcome.warnings);
  }
  const refused = bypass && !bypass.granted ? [`Bypass refused: ${bypass.refused}`] : [];
  const warnings = [...refused, ...outcome.warnings];
  const decision: AdmissionDecision = { allowed: true, object: outcome.object, warnings, held: outcome.held };
  if (!bypass?.granted) return decision;
  warnings.push(...(await heldSourceWarning(outcome.object, call)));
  return { ...decision, audit: await recordBypass(bypass, outcome.object, request, call) };
}

/** Whoever is sent to the Rollout should know what a deployment would wait for there. */
async function withWait(
  refusal: Refusal,
  object: FluxObject,
  { rollouts }: WriteContext,
  call: WebhookCall,
): Promise<Refusal> {
  const refused = pinAnnotationsOf(object).pins.filter(
    (pin) => readPin(object, pin) !== deploymentOf(rollouts.get(pin.rollout))?.version,
  );
  const names = new Set(refused.map(({ rollout }) => rollout));
  const followed = [...names].flatMap((name) => rollouts.get(name) ?? []);
  const closed = (await Promise.all(followed.map((rollout) => readClosedOfAll(rollout, call)))).flat();
  const gates = [...new Map(closed.map((gate) => [refKey(gate.ref), gate])).values()];
  if (gates.length === 0) return refusal;
  return { ...refusal, text: `${refusal.text} It waits there: `, closed: gates, hint: HOTFIX_HINT };
}

/** Without a Gate of its own an object may be written, but not deleted while a Rollout that it follows requires a closed one. */
async function countsForDeletion(
  oldObject: FluxObject | undefined,
  reason: string | undefined,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<boolean> {
  if (!oldObject || reason === undefined) return false;
  const closed = await readClosedForPins(undefined, oldObject, namespaceOf(request), call);
  const gates = closed.map(({ ref }) => ref);
  return (await getPast(gates, reason, request, call))?.granted ?? false;
}

/** The object is final here: other webhooks have had their turn. */
export async function validateFlux(request: AdmissionRequest, call: WebhookCall): Promise<AdmissionDecision> {
  const { object, oldObject: stored } = objectsOf(request);
  if (request.subResource) return allowed();
  if (!object) return stored ? validateDelete(stored, request, call) : allowed();
  if (stored && isOutOfScope(object, stored)) return allowed();
  const crowd = refuseTooManyReferences(object, stored);
  if (crowd) return denied('limit', `${subjectOf(object)}: ${crowd}`);

  const context = await readContext({ object, oldObject: stored }, request, call, { again: true });
  const oldObject = stored && repaired(object, stored, context);
  const refusal = verifyWrite({ object, oldObject, context, user: request.userInfo.username });
  return refusal ? denied(refusal.reason, refusalText(refusal, namespaceOf(request))) : allowed();
}

async function validateDelete(
  oldObject: FluxObject,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<AdmissionDecision> {
  if (isSystemDeleter(request.userInfo.username)) return allowed();
  const context = await readContext({ object: undefined, oldObject }, request, call);
  const closed = gatesInTheWay(oldObject, undefined, context);
  if (!refuseDeletion(oldObject, closed)) return allowed();
  return passOrDenyDelete(
    oldObject,
    closed.map(({ ref }) => ref),
    (bypass) => refuseDeletion(oldObject, closed, bypass)!,
    request,
    call,
  );
}

// Whoever bypasses the Gates of a sync wants something new to be applied: a source that is held as well brings nothing new.

/** At most one warning. Nothing where the source cannot be read: advice must not stop an emergency. */
async function heldSourceWarning(sync: FluxObject, { cluster }: WebhookCall): Promise<string[]> {
  const ref = sourceRefOf(sync);
  const row = GOVERNED_KINDS.find(({ kind, governed }) => governed === 'source' && kind === ref?.kind);
  if (!ref?.name || !row) return [];
  const namespace = ref.namespace ?? sync.metadata.namespace ?? '';
  const source = await cluster
    .get<FluxObject>({ ...resourceOf(row), namespace, name: ref.name })
    .catch(() => undefined);
  const isHeld = source?.metadata.annotations?.[SUSPENDED] !== undefined && source.spec?.suspend === true;
  if (!isHeld) return [];
  return [
    `${ref.kind} ${namespace}/${ref.name} is held too and fetches nothing new: bypass it as well, see docs/gates.md`,
  ];
}

/** Of a HelmRelease: the chart's. */
function sourceRefOf({ spec }: FluxObject): SourceRef | undefined {
  const chart = spec?.chart as { spec?: { sourceRef?: SourceRef } } | undefined;
  return (spec?.sourceRef ?? spec?.chartRef ?? chart?.spec?.sourceRef) as SourceRef | undefined;
}

// Writes of a held object in a version that Flux serves beside the one it stores: no webhook can bring back what such a write drops.

/** undefined where the older version has every field of the stored spec. @param closed the Gates that hold the object */
async function refuseLoss(
  { kind: { group, kind, version } }: AdmissionRequest,
  oldObject: FluxObject,
  closed: readonly GateResult[],
  call: WebhookCall,
): Promise<Refusal | undefined> {
  const governed = governedKindOf(group, kind);
  if (closed.length === 0 || governed === undefined) return undefined;
  const [current] = KINDS[governed].versions;
  if (version === current) return undefined;
  const stored = await call.cluster.get<FluxObject>({ ...resourceOf(KINDS[governed]), ...identityOf(oldObject) });
  if (!stored || sameJson(stored.spec, oldObject.spec)) return undefined;
  const lost = Object.keys(stored.spec ?? {}).filter((key) => !sameJson(stored.spec?.[key], oldObject.spec?.[key]));
  return {
    reason: 'gate_closed',
    text: `${subjectOf(oldObject)}: a write in ${group}/${version} drops or changes spec.${lost.join(', spec.')}. Write it in ${group}/${current}: `,
    closed,
  };
}
