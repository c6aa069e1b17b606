/**
 * Admission of Flux objects: reads the cluster's state that a write depends on, and answers what
 * core/admission/fluxWrite.ts and core/admission/validate.ts decide.
 */
import type { AdmissionRequest } from '../../api/admission.ts';
import { SELECTS_LABEL, SUSPENDED } from '../../api/annotations.ts';
import type { FluxObject, SourceRef } from '../../api/flux.ts';
import { GOVERNED_KINDS, governedKindOf, KINDS, KUSTOMIZATIONS, ROLLOUTS, resourceOf } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { WebhookCall } from '../../api/ports.ts';
import type { Rollout } from '../../api/types.ts';
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
import { listSelecting, readGates, refRules } from '../../live/gateReads.ts';
import { namespaceLabels } from '../../live/objectReads.ts';
import { bypassOrDeny, deny, readClosedOfAll, recordBypass, reviewBypass } from '../closedGates.ts';
import { type AdmissionDecision, allowed, denied, namespaceOf } from '../response.ts';

export async function mutateFlux(request: AdmissionRequest, call: WebhookCall): Promise<AdmissionDecision> {
  const write = writeOf(request);
  const { object, oldObject: stored } = write;
  if (!object || request.subResource) return allowed();
  if (stored && willConflict(object, stored)) return allowed();
  // A write in an older version may drop fields that neither object has here: `refuseLostFields` compares with what is
  // stored.
  if (stored && isOutOfScope(object, stored) && isInCurrentVersion(request)) return allowed();
  const foreign = call.settings.noCrossNamespaceRefs ? refuseForeign(object, stored) : undefined;
  if (foreign) return denied('not_permitted', `${subjectOf(object)}: ${foreign}`);
  const tooMany = refuseTooManyReferences(object, stored);
  if (tooMany) return denied('limit', `${subjectOf(object)}: ${tooMany}`);

  const context = await readContext(write, request, call);
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
    reasonCounts: bypass === undefined && (await countsForDeletion(write, reason, request, call)),
  });
  const { warnings } = outcome;
  if (outcome.refusal) {
    return deny(await withClosedGates(outcome.refusal, object, context, call), request, call, warnings);
  }
  const loss = bypass?.granted ? undefined : await refuseLostFields(oldObject, closed, request, call);
  if (loss) return deny(loss, request, call, warnings);
  const decision = { allowed: true, object: outcome.object, warnings, holdReason: outcome.holdReason } as const;
  if (!bypass) return decision;
  if (!bypass.granted) return { ...decision, warnings: [`Bypass refused: ${bypass.refused}`, ...warnings] };
  return {
    ...decision,
    warnings: [...warnings, ...(await heldSourceWarning(outcome.object, call))],
    audit: await recordBypass(bypass, outcome.object, request, call),
  };
}

/** The object is final here: other webhooks have had their turn. */
export async function validateFlux(request: AdmissionRequest, call: WebhookCall): Promise<AdmissionDecision> {
  const write = writeOf(request);
  const { object, oldObject: stored } = write;
  if (request.subResource) return allowed();
  if (!object) return stored ? validateDelete(write, stored, request, call) : allowed();
  if (stored && isOutOfScope(object, stored)) return allowed();
  const tooMany = refuseTooManyReferences(object, stored);
  if (tooMany) return denied('limit', `${subjectOf(object)}: ${tooMany}`);

  const context = await readContextAgain(write, call);
  const oldObject = stored && withShrinkingEdits(object, stored, context);
  const refusal = verifyWrite({ object, oldObject, context, user: request.userInfo.username });
  return refusal ? denied(refusal.reason, refusalText(refusal, write.namespace)) : allowed();
}

async function validateDelete(
  write: Write,
  oldObject: FluxObject,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<AdmissionDecision> {
  if (isSystemDeleter(request.userInfo.username)) return allowed();
  const closed = closedToWrite(oldObject, undefined, await readContext(write, request, call));
  if (!refuseDeletion(oldObject, closed)) return allowed();
  return bypassOrDeny(oldObject, closed, (bypass) => refuseDeletion(oldObject, closed, bypass)!, request, call);
}

/**
 * Whether the reason lets its author delete the object later.
 * An object that requires no Gate may be written, but not deleted while a Rollout that it follows requires a closed
 * one.
 */
async function countsForDeletion(
  write: Write,
  reason: string | undefined,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<boolean> {
  if (reason === undefined) return false;
  const closed = await readClosedOnLeaving({ ...write, object: undefined }, call);
  return (await reviewBypass(closed, reason, request, call))?.granted ?? false;
}

/**
 * The refusal. If it sends the writer to a Rollout to deploy there, it also names the closed Gates for which that
 * deployment would wait.
 */
async function withClosedGates(
  refusal: Refusal,
  object: FluxObject,
  { rollouts }: WriteContext,
  call: WebhookCall,
): Promise<Refusal> {
  if (refusal.reason !== 'managed_field') return refusal;
  const refused = managedFieldsOf(object).fields.filter(
    (field) => readManagedField(object, field) !== deploymentOf(rollouts.get(field.rollout))?.version,
  );
  const names = new Set(refused.map(({ rollout }) => rollout));
  const followed = [...names].flatMap((name) => rollouts.get(name) ?? []);
  const closed = await readClosedOfAll(followed, call);
  if (closed.length === 0) return refusal;
  return { ...refusal, text: `${refusal.text} That version would wait: `, closed, hint: HOTFIX_HINT };
}

/**
 * A Warning that the sync's source is held as well, and so brings nothing new.
 * None if the source cannot be read: advice must not stop an emergency.
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
 * The refusal of a write of a held object in a version that Flux serves beside the one it stores, and that lacks a
 * field of the stored spec: no webhook can bring back what such a write drops.
 * @param closed the Gates that hold the object
 */
async function refuseLostFields(
  oldObject: FluxObject | undefined,
  closed: readonly GateResult[],
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<Refusal | undefined> {
  const { group, kind, version } = request.kind;
  const governed = governedKindOf(group, kind);
  if (!oldObject || closed.length === 0 || governed === undefined || isInCurrentVersion(request)) return undefined;
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

function isInCurrentVersion({ kind: { group, kind, version } }: AdmissionRequest): boolean {
  const governed = governedKindOf(group, kind);
  return governed === undefined || KINDS[governed].versions[0] === version;
}

// Live reads for one write: by name, only what is named, all at once. A cache could be stale.

/** The object as it is written, absent in a deletion, and as it is stored, absent in a creation. */
interface Write {
  object: FluxObject | undefined;
  oldObject: FluxObject | undefined;
  namespace: string;
}

function writeOf(request: AdmissionRequest): Write {
  const namespace = namespaceOf(request);
  // In a CREATE the object may leave its namespace to the request.
  const inNamespace = (object: KubeObject | null | undefined): FluxObject | undefined => {
    if (!object || object.metadata.namespace) return object ?? undefined;
    return { ...object, metadata: { ...object.metadata, namespace } };
  };
  return { object: inNamespace(request.object), oldObject: inNamespace(request.oldObject), namespace };
}

/** The cluster's state for the decision on the write. */
async function readContext(write: Write, { userInfo }: AdmissionRequest, call: WebhookCall): Promise<WriteContext> {
  // Metacontroller's own write names the Gates that it was sent; before any other write the Gates are listed as they
  // are now.
  const mustList = !write.oldObject || userInfo.username !== call.settings.metacontrollerUser;
  const [context, closedOnLeaving] = await Promise.all([
    withOthersUnlessHeld(readGateContext(write, mustList, call), write, () => readOthers(write, call)),
    readClosedOnLeaving(write, call),
  ]);
  return { ...context, closedOnLeaving };
}

/**
 * The cluster's state for the check of a write that has been through the mutating webhook, which has listed the Gates:
 * what selects the object is in its annotations.
 */
function readContextAgain(write: Write, call: WebhookCall): Promise<WriteContext> {
  const readOthers = async () => ({ rollouts: await readFollowed(write, call) });
  return withOthersUnlessHeld(readGateContext(write, false, call), write, readOthers);
}

/** The inputs of a decision that are left out if a Gate holds the object. */
type Others = Omit<WriteContext, keyof GateContext>;

/**
 * The Gates, with the others unless a Gate holds the object: how many Rollouts it follows, and how large, is up to the
 * tenant whom the Gate holds.
 */
async function withOthersUnlessHeld(
  readingGates: Promise<GateContext>,
  write: Write,
  readOthers: () => Promise<Others>,
): Promise<WriteContext> {
  const none: Others = { rollouts: new Map() };
  const isHeld = async () => isHeldByGate(write, await readingGates);
  // Of an object that is marked as held, the other reads don't even begin.
  if (stateOf(write.oldObject)?.is === 'closed' && (await isHeld())) return { ...(await readingGates), ...none };
  const readingOthers = readOthers();
  // If the object is held, these reads aren't awaited: their failure must not end the process.
  readingOthers.catch(() => {});
  const others = (await isHeld()) ? none : await readingOthers;
  return { ...(await readingGates), ...others };
}

/** Whether a closed Gate holds the object in this write, whatever its Rollouts deploy. */
function isHeldByGate({ object, oldObject }: Write, gates: GateContext): boolean {
  if (!object || !oldObject) return false;
  const isBypassing = stateOf(object)?.is === 'passing' || stateOf(oldObject)?.is === 'passing';
  if (isBypassing || freshReason(object, oldObject) !== undefined) return false;
  return closedToWrite(oldObject, object, { ...gates, rollouts: new Map() }).length > 0;
}

/**
 * The Gates that either version of the object names, itself or in its annotation SELECTED_BY, or that may select it;
 * and the labels of its Namespace if Gates may select by them.
 */
async function readGateContext(
  { object, oldObject, namespace }: Write,
  mustList: boolean,
  { cluster, settings, now }: WebhookCall,
): Promise<GateContext> {
  const rules = refRules(settings);
  const versions = [object, oldObject].filter((each) => each !== undefined);
  const reads = gatesToRead(versions, rules, mustList);
  const [named, labels, lists] = await Promise.all([
    readGates(reads.refs, cluster),
    reads.namespace ? namespaceLabels(namespace, cluster) : {},
    reads.list ? listSelecting(namespace, SELECTS_LABEL, cluster) : [],
  ]);
  const listed = lists.flat();
  const context = { ...rules, gates: new Map([...named, ...byRefKey(listed)]), namespaceLabels: labels, now };
  return reads.list ? { ...context, candidates: listed.map(identityOf), truncated: isTruncated(lists) } : context;
}

/** The closed Gates of the Rollouts that the object leaves in this write, those of their other objects included. */
async function readClosedOnLeaving({ object, oldObject, namespace }: Write, call: WebhookCall): Promise<GateResult[]> {
  const left = await readRollouts(oldObject ? rolloutsLeft(object, oldObject) : [], namespace, call);
  return readClosedOfAll([...left.values()], call);
}

async function readOthers(write: Write, call: WebhookCall): Promise<Others> {
  const [rollouts, applier] = await Promise.all([readFollowed(write, call), readApplier(write, call)]);
  return { rollouts, applier, ...(await readSource(write, rollouts, call)) };
}

/** The Rollouts that the object follows; none if it is deleted. */
function readFollowed({ object, oldObject, namespace }: Write, call: WebhookCall): Promise<WriteContext['rollouts']> {
  // An apply may leave out the annotation that names a Rollout. Behind a closed Gate the annotation stays, and that
  // Rollout may be the one that bypasses the Gate: so the Rollouts of both versions are read.
  const names = object ? [object, oldObject].flatMap((each) => (each ? boundRollouts(each) : [])) : [];
  return readRollouts(names, namespace, call);
}

/** The source that an object with managed fields shares its namespace with, unless the write doesn't need it. */
async function readSource(
  { object, oldObject, namespace }: Write,
  rollouts: WriteContext['rollouts'],
  { cluster }: WebhookCall,
): Promise<Pick<WriteContext, 'source' | 'isSourceUnread'>> {
  const ref = object && managedFieldsOf(object).fields.length > 0 ? sourceOf(object) : undefined;
  // Of the kinds that a Kustomization applies, only this one has a managed field, in its own namespace.
  if (!object || ref?.kind !== 'OCIRepository' || ref.namespace !== namespace) return {};
  if (oldObject && isSettled(object, oldObject, rollouts)) return { isSourceUnread: true };
  const source = await cluster.get<FluxObject>({ ...resourceOf(KINDS.OCIRepository), namespace, name: ref.name });
  return { source };
}

/** The Kustomization that applies the object, if the write ends the wait for it. */
async function readApplier({ object, oldObject }: Write, { cluster }: WebhookCall): Promise<FluxObject | undefined> {
  const applier = object && asksToResume(object, oldObject) ? applierOf(object) : undefined;
  return applier && cluster.get<FluxObject>({ ...KUSTOMIZATIONS, ...applier });
}

/** The Rollouts that exist, by name, each read once. */
async function readRollouts(
  all: readonly string[],
  namespace: string,
  { cluster }: WebhookCall,
): Promise<Map<string, Rollout>> {
  const names = [...new Set(all)];
  const found = await Promise.all(names.map((name) => cluster.get<Rollout>({ ...ROLLOUTS, namespace, name })));
  return new Map(names.flatMap((name, i) => (found[i] ? [[name, found[i]] as const] : [])));
}
