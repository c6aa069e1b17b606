/**
 * Admission of Flux objects that name Rollouts or Gates.
 * The rules are in core/admission/fluxWrite.ts; here is what they need.
 */
import type { AdmissionRequest } from '../../api/admission.ts';
import { SELECTS_LABEL, SUSPENDED } from '../../api/annotations.ts';
import type { FluxObject, SourceRef } from '../../api/flux.ts';
import { GATES, GOVERNED_KINDS, governedKindOf, KINDS, KUSTOMIZATIONS, ROLLOUTS, resourceOf } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { WebhookCall } from '../../api/ports.ts';
import type { Gate, Rollout } from '../../api/types.ts';
import {
  closedToWrite,
  decideWrite,
  isOutOfScope,
  type WriteContext,
  willConflict,
} from '../../core/admission/fluxWrite.ts';
import { HOTFIX_HINT, type Refusal, refusalText, subjectOf } from '../../core/admission/gateTexts.ts';
import { type GateContext, gatesToRead, withShrinkingEdits } from '../../core/admission/objectGates.ts';
import { refuseForeign, refuseTooManyReferences } from '../../core/admission/refuseReferences.ts';
import { refuseDeletion, verifyWrite } from '../../core/admission/validate.ts';
import { freshReason } from '../../core/gate/bypassReason.ts';
import type { GateResult } from '../../core/gate/evaluateGates.ts';
import { isTruncated } from '../../core/gate/gateSelection.ts';
import { sameJson } from '../../core/kube/json.ts';
import { byRefKey, identityOf } from '../../core/kube/names.ts';
import { isSystemDeleter } from '../../core/kube/systemDeleters.ts';
import { deploymentOf } from '../../core/managedField/deployment.ts';
import {
  boundRollouts,
  managedFieldsOf,
  readManagedField,
  rolloutsLeft,
} from '../../core/managedField/managedFields.ts';
import { isSettled } from '../../core/managedField/setManagedFields.ts';
import { sourceOf } from '../../core/managedField/source.ts';
import { applierOf } from '../../core/suspension/applier.ts';
import { stateOf } from '../../core/suspension/stateAnnotation.ts';
import { asksToResume } from '../../core/suspension/suspension.ts';
import { listSelecting } from '../../live/gateReads.ts';
import { namespaceLabels } from '../../live/objectReads.ts';
import { bypassOrDeny, deny, readClosedOfAll, recordBypass, reviewBypass } from '../closedGates.ts';
import { type AdmissionDecision, allowed, denied, namespaceOf } from '../response.ts';

export async function mutateFlux(request: AdmissionRequest, call: WebhookCall): Promise<AdmissionDecision> {
  const { object, oldObject: stored } = objectsOfWrite(request);
  if (!object || request.subResource) return allowed();
  if (stored && willConflict(object, stored)) return allowed();
  // A write in an older version may drop fields that neither object has here: `refuseLoss` compares with what is
  // stored.
  if (stored && isOutOfScope(object, stored) && isCurrentVersion(request)) return allowed();
  const foreign = call.settings.noCrossNamespaceRefs ? refuseForeign(object, stored) : undefined;
  if (foreign) return denied('not_permitted', `${subjectOf(object)}: ${foreign}`);
  const tooMany = refuseTooManyReferences(object, stored);
  if (tooMany) return denied('limit', `${subjectOf(object)}: ${tooMany}`);

  const context = await readContext(object, stored, request, call);
  const oldObject = stored && withShrinkingEdits(object, stored, context);
  const reason = freshReason(object, oldObject);
  const closed = oldObject ? closedToWrite(oldObject, object, context) : [];
  const bypass = await reviewBypass(closed, reason, request, call);
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
    const isOfManagedField = outcome.refusal.reason === 'managed_field';
    const refusal = isOfManagedField ? await withWait(outcome.refusal, object, context, call) : outcome.refusal;
    return deny(refusal, request, call, outcome.warnings);
  }
  if (oldObject && !bypass?.granted) {
    const loss = await refuseLoss(request, oldObject, closed, call);
    if (loss) return deny(loss, request, call, outcome.warnings);
  }
  const refused = bypass && !bypass.granted ? [`Bypass refused: ${bypass.refused}`] : [];
  const warnings = [...refused, ...outcome.warnings];
  const decision: AdmissionDecision = {
    allowed: true,
    object: outcome.object,
    warnings,
    holdReason: outcome.holdReason,
  };
  if (!bypass?.granted) return decision;
  warnings.push(...(await heldSourceWarning(outcome.object, call)));
  return { ...decision, audit: await recordBypass(bypass, outcome.object, request, call) };
}

/** The object is final here: other webhooks have had their turn. */
export async function validateFlux(request: AdmissionRequest, call: WebhookCall): Promise<AdmissionDecision> {
  const { object, oldObject: stored } = objectsOfWrite(request);
  if (request.subResource) return allowed();
  if (!object) return stored ? validateDelete(stored, request, call) : allowed();
  if (stored && isOutOfScope(object, stored)) return allowed();
  const tooMany = refuseTooManyReferences(object, stored);
  if (tooMany) return denied('limit', `${subjectOf(object)}: ${tooMany}`);

  const context = await readContextAgain(object, stored, request, call);
  const oldObject = stored && withShrinkingEdits(object, stored, context);
  const refusal = verifyWrite({ object, oldObject, context, user: request.userInfo.username });
  return refusal ? denied(refusal.reason, refusalText(refusal, namespaceOf(request))) : allowed();
}

async function validateDelete(
  oldObject: FluxObject,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<AdmissionDecision> {
  if (isSystemDeleter(request.userInfo.username)) return allowed();
  const context = await readContext(undefined, oldObject, request, call);
  const closed = closedToWrite(oldObject, undefined, context);
  if (!refuseDeletion(oldObject, closed)) return allowed();
  return bypassOrDeny(oldObject, closed, (bypass) => refuseDeletion(oldObject, closed, bypass)!, request, call);
}

/**
 * An object that requires no Gate may be written, but not deleted while a Rollout that it follows requires a closed
 * one.
 */
async function countsForDeletion(
  oldObject: FluxObject | undefined,
  reason: string | undefined,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<boolean> {
  if (!oldObject || reason === undefined) return false;
  const closed = await readClosedOnLeaving(undefined, oldObject, namespaceOf(request), call);
  return (await reviewBypass(closed, reason, request, call))?.granted ?? false;
}

/** A refusal that sends the writer to a Rollout, with the closed Gates for which a deployment would wait there. */
async function withWait(
  refusal: Refusal,
  object: FluxObject,
  { rollouts }: WriteContext,
  call: WebhookCall,
): Promise<Refusal> {
  const refused = managedFieldsOf(object).fields.filter(
    (field) => readManagedField(object, field) !== deploymentOf(rollouts.get(field.rollout))?.version,
  );
  const names = new Set(refused.map(({ rollout }) => rollout));
  const followed = [...names].flatMap((name) => rollouts.get(name) ?? []);
  const closed = followed.length === 0 ? [] : await readClosedOfAll(followed, call);
  if (closed.length === 0) return refusal;
  return { ...refusal, text: `${refusal.text} It waits there: `, closed, hint: HOTFIX_HINT };
}

/**
 * Whether the sync's source is held as well, and so brings nothing new: at most one warning.
 * Nothing if the source cannot be read: advice must not stop an emergency.
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
  const isHeld = source?.metadata.annotations?.[SUSPENDED] !== undefined && source.spec?.suspend === true;
  if (!isHeld) return [];
  return [
    `${ref.kind} ${namespace}/${ref.name} is held too and fetches nothing new: bypass it as well, see docs/gates.md`,
  ];
}

/**
 * Refuses a write of a held object in a version that Flux serves beside the one it stores, and that lacks a field of
 * the stored spec: no webhook can bring back what such a write drops.
 * @param closed the Gates that hold the object
 */
async function refuseLoss(
  request: AdmissionRequest,
  oldObject: FluxObject,
  closed: readonly GateResult[],
  call: WebhookCall,
): Promise<Refusal | undefined> {
  const { group, kind, version } = request.kind;
  const governed = governedKindOf(group, kind);
  if (closed.length === 0 || governed === undefined || isCurrentVersion(request)) return undefined;
  const [current] = KINDS[governed].versions;
  const stored = await call.cluster.get<FluxObject>({ ...resourceOf(KINDS[governed]), ...identityOf(oldObject) });
  if (!stored || sameJson(stored.spec, oldObject.spec)) return undefined;
  const lost = Object.keys(stored.spec ?? {}).filter((key) => !sameJson(stored.spec?.[key], oldObject.spec?.[key]));
  return {
    reason: 'gate_closed',
    text: `${subjectOf(oldObject)}: a write in ${group}/${version} drops or changes spec.${lost.join(', spec.')}. Write it in ${group}/${current}: `,
    closed,
  };
}

function isCurrentVersion({ kind: { group, kind, version } }: AdmissionRequest): boolean {
  const governed = governedKindOf(group, kind);
  return governed === undefined || KINDS[governed].versions[0] === version;
}

// Live reads for one write: by name, only what is named, all at once. A cache could be stale.

function objectsOfWrite(request: AdmissionRequest): {
  object: FluxObject | undefined;
  oldObject: FluxObject | undefined;
} {
  // In a CREATE the object may leave its namespace to the request.
  const inNamespace = (object: KubeObject | null | undefined): FluxObject | undefined => {
    if (!object || object.metadata.namespace) return object ?? undefined;
    return { ...object, metadata: { ...object.metadata, namespace: namespaceOf(request) } };
  };
  return { object: inNamespace(request.object), oldObject: inNamespace(request.oldObject) };
}

/** The context in which one write is decided. */
async function readContext(
  object: FluxObject | undefined,
  oldObject: FluxObject | undefined,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<WriteContext> {
  const namespace = namespaceOf(request);
  // Metacontroller's own write names the Gates that it was sent; before any other write the Gates are listed as they
  // are now.
  const list = !oldObject || request.userInfo.username !== call.settings.metacontrollerUser;
  const readOthers = async () => {
    const [followed, applier] = await Promise.all([
      readFollowed(object, oldObject, namespace, call),
      object && asksToResume(object, oldObject) ? readApplier(object, call) : undefined,
    ]);
    return { ...followed, applier };
  };
  const [context, closedOnLeaving] = await Promise.all([
    readUnlessHeld(object, oldObject, () => readGateContext(object, oldObject, namespace, call, list), readOthers),
    oldObject ? readClosedOnLeaving(object, oldObject, namespace, call) : [],
  ]);
  return { ...context, closedOnLeaving };
}

/**
 * The context in which a write is checked that has been through the mutating webhook, which has listed Gates and read
 * what the object leaves, its source and its applier.
 */
async function readContextAgain(
  object: FluxObject,
  oldObject: FluxObject | undefined,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<WriteContext> {
  const namespace = namespaceOf(request);
  return readUnlessHeld(
    object,
    oldObject,
    () => readGateContext(object, oldObject, namespace, call, false),
    async () => ({ rollouts: await readRollouts(followedBy(object, oldObject), namespace, call) }),
  );
}

/** The Gates, and with them the rest, which is left out of the context while a closed Gate holds the object. */
async function readUnlessHeld(
  object: FluxObject | undefined,
  oldObject: FluxObject | undefined,
  readGates: () => Promise<GateContext>,
  readOthers: () => Promise<Omit<WriteContext, keyof GateContext>>,
): Promise<WriteContext> {
  const isHeld = (gates: GateContext) => object && oldObject && staysHeld(object, oldObject, gates);
  // A tenant chooses how many Rollouts an object follows: they are not read before the Gates are known.
  const first = stateOf(oldObject)?.is === 'closed' ? await readGates() : undefined;
  if (first && isHeld(first)) return { ...first, rollouts: new Map() };
  const reading = readOthers();
  // All are read at once. If the object turns out to be held, these reads aren't awaited: their failure must not end
  // the process.
  reading.catch(() => {});
  const gates = first ?? (await readGates());
  if (isHeld(gates)) return { ...gates, rollouts: new Map() };
  return { ...gates, ...(await reading) };
}

function versionsOf(...versions: (FluxObject | undefined)[]): FluxObject[] {
  return versions.filter((each) => each !== undefined);
}

/**
 * Whether a closed Gate holds the object in this write, whatever its Rollouts deploy.
 * They are not waited for then: how many they are and how large is up to the tenant whom the Gate holds.
 */
function staysHeld(object: FluxObject, oldObject: FluxObject, gates: GateContext): boolean {
  const isBypassing = stateOf(object)?.is === 'passing' || stateOf(oldObject)?.is === 'passing';
  if (isBypassing || freshReason(object, oldObject) !== undefined) return false;
  return closedToWrite(oldObject, object, { ...gates, rollouts: new Map() }).length > 0;
}

/** The Rollouts and the source that the object's managed fields follow. */
async function readFollowed(
  object: FluxObject | undefined,
  oldObject: FluxObject | undefined,
  namespace: string,
  call: WebhookCall,
): Promise<Pick<WriteContext, 'rollouts' | 'source' | 'isSourceUnread'>> {
  const rollouts = await readRollouts(followedBy(object, oldObject), namespace, call);
  const name = object && ownSourceOf(object, namespace);
  if (!object || name === undefined) return { rollouts };
  if (oldObject && isSettled(object, oldObject, rollouts)) return { rollouts, isSourceUnread: true };
  const source = await call.cluster.get<FluxObject>({ ...resourceOf(KINDS.OCIRepository), namespace, name });
  return { rollouts, source };
}

/** The Rollouts that the object follows; none if it is deleted. */
function followedBy(object: FluxObject | undefined, oldObject: FluxObject | undefined): string[] {
  // An apply may leave out the annotation that names a Rollout. Behind a closed Gate the annotation stays, and that
  // Rollout may be the one that bypasses the Gate: so the Rollouts of both versions are read.
  return object ? versionsOf(object, oldObject).flatMap(boundRollouts) : [];
}

/** The name of the source that an object with managed fields shares its namespace with. */
function ownSourceOf(object: FluxObject, namespace: string): string | undefined {
  const ref = managedFieldsOf(object).fields.length > 0 ? sourceOf(object) : undefined;
  // Of the kinds that a Kustomization applies, only this one has a managed field, in its own namespace.
  return ref?.kind === 'OCIRepository' && ref.namespace === namespace ? ref.name : undefined;
}

/**
 * The closed Gates of the Rollouts that the object leaves in this write, those of their other objects included;
 * `object` is undefined if it is deleted.
 */
async function readClosedOnLeaving(
  object: FluxObject | undefined,
  oldObject: FluxObject,
  namespace: string,
  call: WebhookCall,
): Promise<GateResult[]> {
  const left = await readRollouts(rolloutsLeft(object, oldObject), namespace, call);
  return left.size === 0 ? [] : readClosedOfAll([...left.values()], call);
}

/**
 * The Gates that either object names, or its annotation SELECTED_BY; the Namespace only if the latter is to be checked.
 */
async function readGateContext(
  object: FluxObject | undefined,
  oldObject: FluxObject | undefined,
  namespace: string,
  call: WebhookCall,
  list: boolean,
): Promise<GateContext> {
  const rules = { ownNamespaceOnly: call.settings.noCrossNamespaceRefs };
  const reads = gatesToRead(versionsOf(object, oldObject), rules, list);
  const [gates, labels, lists] = await Promise.all([
    Promise.all(reads.refs.map((ref) => call.cluster.get<Gate>({ ...GATES, ...ref }))),
    reads.namespace ? namespaceLabels(namespace, call.cluster) : {},
    reads.list ? listSelecting(namespace, SELECTS_LABEL, call.cluster) : undefined,
  ]);
  const listed = lists?.flat() ?? [];
  const all = byRefKey([...gates.filter((gate) => gate !== undefined), ...listed]);
  const context: GateContext = { ...rules, gates: all, namespaceLabels: labels, now: call.now };
  return lists ? { ...context, candidates: listed.map(identityOf), truncated: isTruncated(lists) } : context;
}

/** The Kustomization that applies the object, if any. */
async function readApplier(object: FluxObject, call: WebhookCall): Promise<FluxObject | undefined> {
  const applier = applierOf(object);
  return applier && call.cluster.get<FluxObject>({ ...KUSTOMIZATIONS, ...applier });
}

/** The Rollouts that exist, each read once. */
async function readRollouts(all: readonly string[], namespace: string, { cluster }: WebhookCall) {
  const names = [...new Set(all)];
  const found = await Promise.all(names.map((name) => cluster.get<Rollout>({ ...ROLLOUTS, namespace, name })));
  return new Map(names.flatMap((name, i) => (found[i] ? [[name, found[i]] as const] : [])));
}
