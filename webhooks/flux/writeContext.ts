/**
 * The cluster's state for the decision on one write of a Flux object. Reads are live, because a cache could be stale,
 * and by name. The Gates come first: if one holds the object, nothing else is read, because the tenant decides how many
 * Rollouts the object is bound to, and how large they are.
 */
import type { AdmissionRequest } from '../../api/admission.ts';
import type { FluxObject } from '../../api/flux.ts';
import { KINDS, KUSTOMIZATIONS, ROLLOUTS, resourceOf } from '../../api/kinds.ts';
import type { WebhookCall } from '../../api/ports.ts';
import type { Rollout } from '../../api/types.ts';
import { gatesOfWrite, isHeld, type WriteContext, type WriteGates } from '../../core/admission/fluxWrite.ts';
import { agreesWithDeployed } from '../../core/admission/validate.ts';
import { type ClosedGates, unionOfClosed } from '../../core/gate/closedGates.ts';
import { byRefKey, refKey, sortedByKey } from '../../core/kube/names.ts';
import { managedFieldsOf, rolloutsOfObject, unboundRollouts } from '../../core/managedField/managedFields.ts';
import { needsNoSource } from '../../core/managedField/setManagedFields.ts';
import { sourceOf } from '../../core/managedField/source.ts';
import { gatesToRead } from '../../core/objectGates/objectGates.ts';
import { storedState } from '../../core/objectGates/objectState.ts';
import { applierOf } from '../../core/suspension/applier.ts';
import { endsOpening } from '../../core/suspension/suspension.ts';
import { labelsSelectedBy, listSelecting, readGates } from '../../live/gateReads.ts';
import { inParallel } from '../../live/inParallel.ts';
import { readClosedGatesOfRollouts } from '../closedGateReads.ts';
import type { ObjectVersions } from '../response.ts';

/** The cluster's state for the decision on the write. */
export async function readContext(
  versions: ObjectVersions<FluxObject>,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<WriteContext> {
  const [gates, closedGatesOfUnbound] = await Promise.all([
    readGatesOfWrite(versions, request, call),
    readClosedGatesOfUnbound(versions, call),
  ]);
  const context = { ...gates, closed: unionOfClosed([gates.oldGates?.closed, closedGatesOfUnbound]) };
  if (isHeld(versions.object, gates)) return { ...context, rollouts: new Map() };
  const [rollouts, applier] = await Promise.all([readBoundRollouts(versions, call), readApplier(versions, call)]);
  return { ...context, rollouts, applier, ...(await readSource(versions, rollouts, call)) };
}

/**
 * Reads the Gates. A write of Metacontroller that suspends the object names the Gate that requires it, so a freeze of
 * many objects needs no lists. Any other write of Metacontroller sets a version or resumes the object, and a Gate may
 * have begun to select the object since.
 */
async function readGatesOfWrite(
  versions: ObjectVersions<FluxObject>,
  { userInfo }: AdmissionRequest,
  call: WebhookCall,
): Promise<WriteGates> {
  const { object, old } = versions;
  const isMarked = old && [object, old].some((each) => storedState(each)?.is === 'closed');
  if (isMarked && userInfo.username === call.settings.metacontrollerUser) {
    const recorded = await readGateContext(versions, false, call);
    if (isHeld(object, recorded)) return recorded;
  }
  return readGateContext(versions, true, call);
}

/**
 * The cluster's state for the validation of a write. The mutating webhook has run: its annotations name the Gates that
 * select the object, or a Gate that holds it. But another webhook may have labelled a new object since.
 */
export async function readValidationContext(
  versions: ObjectVersions<FluxObject>,
  { userInfo }: AdmissionRequest,
  call: WebhookCall,
): Promise<WriteContext> {
  const gates = await readGateContext(versions, !versions.old, call);
  const isByDecorator = userInfo.username === call.settings.metacontrollerUser;
  const needsNoRollouts = isByDecorator && versions.object && agreesWithDeployed(versions.object);
  const needsRollouts = !needsNoRollouts && !isHeld(versions.object, gates);
  const rollouts = needsRollouts ? await readBoundRollouts(versions, call) : new Map();
  return { ...gates, closed: gates.oldGates?.closed, rollouts };
}

/**
 * The Gates that either version of the object names, itself or in its annotation SELECTED_BY, or that may select it.
 * Also the labels of its Namespace if a Gate that may select it selects by them.
 */
async function readGateContext(
  versions: ObjectVersions<FluxObject>,
  mustList: boolean,
  { cluster, settings, now }: WebhookCall,
): Promise<WriteGates> {
  const { object, old, namespace } = versions;
  const objects = [object, old].filter((each) => each !== undefined);
  const reads = gatesToRead(objects, settings, mustList);
  const [named, listed] = await Promise.all([
    readGates(reads.refs, cluster),
    reads.list ? listSelecting(namespace, cluster) : undefined,
  ]);
  const gates = new Map([...named, ...byRefKey(listed?.gates ?? [])]);
  const selecting = listed?.gates ?? reads.selecting.flatMap((ref) => gates.get(refKey(ref)) ?? []);
  const selectingGates = {
    gates: sortedByKey(selecting),
    namespaceLabels: await labelsSelectedBy(selecting, namespace, cluster),
    isTruncated: listed?.isTruncated ?? false,
  };
  const { noCrossNamespaceRefs } = settings;
  return gatesOfWrite(versions, { noCrossNamespaceRefs, gates, selectingGates, now });
}

/**
 * The closed Gates of the Rollouts from which this write unbinds the object, including those of their other objects.
 */
export async function readClosedGatesOfUnbound(
  { object, old, namespace }: ObjectVersions<FluxObject>,
  call: WebhookCall,
): Promise<ClosedGates | undefined> {
  const unbound = await readNamedRollouts(old ? unboundRollouts(object, old) : [], namespace, call);
  return readClosedGatesOfRollouts([...unbound.values()], call);
}

/** The Rollouts to which the object is bound; none if it is deleted. */
function readBoundRollouts(
  { object, old, namespace }: ObjectVersions<FluxObject>,
  call: WebhookCall,
): Promise<WriteContext['rollouts']> {
  // The Rollouts of both the old and the new object. Behind a closed Gate an apply can't remove the annotation that
  // names a Rollout, and that Rollout may be the one that bypasses the Gate.
  const names = object ? [object, old].flatMap((each) => (each ? rolloutsOfObject(each) : [])) : [];
  return readNamedRollouts(names, namespace, call);
}

/** The object's source, if it is in the same namespace and the write depends on it. */
async function readSource(
  { object, old, namespace }: ObjectVersions<FluxObject>,
  rollouts: WriteContext['rollouts'],
  { cluster }: WebhookCall,
): Promise<Pick<WriteContext, 'source' | 'keepsArtifact'>> {
  const ref = object && managedFieldsOf(object).fields.length > 0 ? sourceOf(object) : undefined;
  // Of the sources of a Kustomization, only an OCIRepository has a managed field, and only one in the same namespace
  // counts.
  if (!object || ref?.kind !== 'OCIRepository' || ref.namespace !== namespace) return {};
  if (old && needsNoSource(object, old, rollouts)) return { keepsArtifact: true };
  return { source: await cluster.get<FluxObject>({ ...resourceOf(KINDS.OCIRepository), namespace, name: ref.name }) };
}

/** The Kustomization that applies the object, if this write may end the wait for it. */
async function readApplier(
  { object, old }: ObjectVersions<FluxObject>,
  { cluster }: WebhookCall,
): Promise<FluxObject | undefined> {
  const applier = object && endsOpening(object, old) ? applierOf(object) : undefined;
  return applier && cluster.get<FluxObject>({ ...KUSTOMIZATIONS, ...applier });
}

/** The Rollouts that exist, by name, each read once. */
async function readNamedRollouts(
  all: readonly string[],
  namespace: string,
  { cluster }: WebhookCall,
): Promise<Map<string, Rollout>> {
  const names = [...new Set(all)];
  const read = (name: string) => cluster.get<Rollout>({ ...ROLLOUTS, namespace, name });
  const found = await inParallel(names, read);
  return new Map(names.flatMap((name, i) => (found[i] ? [[name, found[i]] as const] : [])));
}
