/** Live reads for the admission of one Flux object: by name, only what is named, all at once. A cache could be stale. */
import type { AdmissionRequest } from '../../api/admission.ts';
import { GATE_STATE, SELECTS_ROLLOUTS_LABEL } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import { GATES, KINDS, KUSTOMIZATIONS, ROLLOUTS, resourceOf } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { WebhookCall } from '../../api/ports.ts';
import type { Gate, Rollout } from '../../api/types.ts';
import { boundRollouts, pinAnnotationsOf, rolloutsLeft } from '../../core/admission/managedFields/annotations.ts';
import { isSettled } from '../../core/admission/managedFields/mutate.ts';
import { sourceOf } from '../../core/admission/managedFields/source.ts';
import { gateReads } from '../../core/admission/reads.ts';
import type { GateContext } from '../../core/admission/requiredGates.ts';
import { applierOf } from '../../core/admission/suspend/applier.ts';
import { parseState } from '../../core/admission/suspend/stateAnnotation.ts';
import { asksToResume } from '../../core/admission/suspend/suspension.ts';
import { gatesInTheWay, type WriteContext } from '../../core/admission/write.ts';
import { freshReason } from '../../core/gate/bypass.ts';
import type { GateResult } from '../../core/gate/evaluateGates.ts';
import { isTruncated } from '../../core/gate/selects.ts';
import { identityOf, refKey } from '../../core/kube/names.ts';
import { gatesToPass } from '../../core/rollout/evaluation/gatesToPass.ts';
import { readClosed } from '../closedGates.ts';
import { namespaceOf } from '../response.ts';
import { listSelecting, readLabels, readSelectors } from '../selectingGates.ts';

export interface Objects {
  object: FluxObject | undefined;
  oldObject: FluxObject | undefined;
}

export function objectsOf(request: AdmissionRequest): Objects {
  return { object: inNamespace(request.object, request), oldObject: inNamespace(request.oldObject, request) };
}

/**
 * The context in which one write is decided. `again`: the object has been through the mutating webhook, which has listed Gates and
 * looked at what the object leaves; only what that webhook has settled is checked.
 */
export async function readContext(
  { object, oldObject }: Objects,
  request: AdmissionRequest,
  call: WebhookCall,
  { again = false } = {},
): Promise<WriteContext> {
  const namespace = namespaceOf(request);
  const objects = [object, oldObject].filter((each) => each !== undefined);
  // Of both: what an apply leaves out is held behind a closed gate, and may be what passes it.
  const followed = object ? objects.flatMap(boundRollouts) : [];
  // A decorator marks an object by what it has been sent: any other write is decided by the Gates as they are now.
  // How many Rollouts an object follows is in the hands of whom its Gate holds: behind one they are not even asked for until the Gates are known.
  const isBehindGate = oldObject !== undefined && stateOf(oldObject)?.is === 'closed';
  const list = !again && (!oldObject || request.userInfo.username !== call.settings.metacontrollerUser);
  const first = isBehindGate ? await readGates(objects, namespace, call, list) : undefined;
  if (first && object && oldObject && staysHeld(object, oldObject, first)) {
    const closedForPins = again ? [] : await readClosedForPins(object, oldObject, namespace, call);
    return { ...first, rollouts: new Map(), closedForPins };
  }
  const pinned = readPinned(object, again ? 'settled' : oldObject, followed, namespace, call);
  const left = !again && oldObject ? readClosedForPins(object, oldObject, namespace, call) : undefined;
  const reading = Promise.all([
    pinned,
    left,
    !again && object && asksToResume(object, oldObject) ? readApplier(object, call) : undefined,
  ]);
  // All are read at once, and what is not waited for may fail.
  reading.catch(() => {});
  const gates = first ?? (await readGates(objects, namespace, call, list));
  if (object && oldObject && staysHeld(object, oldObject, gates)) {
    return { ...gates, rollouts: new Map(), closedForPins: (await left) ?? [] };
  }
  const [{ rollouts, source }, closedForPins = [], applier] = await reading;
  return { ...gates, rollouts, source, closedForPins, applier };
}

const stateOf = ({ metadata }: FluxObject) => parseState(metadata.annotations?.[GATE_STATE]);

/**
 * Whether a closed Gate holds the object in this write, whatever its Rollouts say. They are not waited for then: how many they are and how
 * large is in the hands of whom the Gate holds.
 */
function staysHeld(object: FluxObject, oldObject: FluxObject, gates: GateContext): boolean {
  const passes = [object, oldObject].some((each) => stateOf(each)?.is === 'passing');
  if (passes || freshReason(object, oldObject) !== undefined) return false;
  return gatesInTheWay(oldObject, object, { ...gates, rollouts: new Map() }).length > 0;
}

/** What the object's pins follow. `followed`: the Rollouts; `before`: as stored, or `settled` where the source has been looked at already. */
async function readPinned(
  object: FluxObject | undefined,
  before: FluxObject | 'settled' | undefined,
  followed: readonly string[],
  namespace: string,
  call: WebhookCall,
): Promise<Pick<WriteContext, 'rollouts' | 'source'>> {
  const { pins } = object ? pinAnnotationsOf(object) : { pins: [] };
  const rollouts = await readRollouts(followed, namespace, call);
  const ref = object && pins.length > 0 ? sourceOf(object) : undefined;
  // Of the kinds that a Kustomization applies, Rollouts pin this one only, in its own namespace.
  if (!object || ref?.kind !== 'OCIRepository' || ref.namespace !== namespace) return { rollouts, source: undefined };
  if (before === 'settled' || (before && isSettled(object, before, rollouts))) return { rollouts, source: 'settled' };
  const source = await call.cluster.get<FluxObject>({
    ...resourceOf(KINDS.OCIRepository),
    namespace,
    name: ref.name,
  });
  return { rollouts, source };
}

/** The closed Gates of the Rollouts that the object leaves in this write; `object` is undefined where it goes. */
export async function readClosedForPins(
  object: FluxObject | undefined,
  oldObject: FluxObject,
  namespace: string,
  call: WebhookCall,
): Promise<GateResult[]> {
  const left = await readRollouts(rolloutsLeft(object, oldObject), namespace, call);
  if (left.size === 0) return [];
  const selectors = await readSelectors(namespace, call, SELECTS_ROLLOUTS_LABEL);
  const required = [...left.values()].flatMap((rollout) => gatesToPass(rollout, [], selectors));
  const refs = new Map(required.map((ref) => [refKey(ref), ref]));
  return readClosed([...refs.values()], call);
}

/** The Gates that either object names, or its annotation SELECTED_BY; the Namespace only where the latter is to be checked. */
async function readGates(
  objects: FluxObject[],
  namespace: string,
  call: WebhookCall,
  list: boolean,
): Promise<GateContext> {
  const rules = { ownNamespaceOnly: call.settings.noCrossNamespaceRefs };
  const reads = gateReads(objects, rules, list);
  const refs = new Map(reads.refs.map((ref) => [refKey(ref), ref]));
  const [gates, labels, listed] = await Promise.all([
    readAll([...refs.keys()], (key) => call.cluster.get<Gate>({ ...GATES, ...refs.get(key)! })),
    reads.namespace ? readLabels(namespace, call) : undefined,
    reads.list ? listSelecting(namespace, call) : undefined,
  ]);
  const context: GateContext = { ...rules, gates, namespaceLabels: labels ?? {}, now: call.now };
  return listed ? withListed(context, listed) : context;
}

function withListed(context: GateContext, lists: Gate[][]): GateContext {
  const gates = new Map(context.gates);
  const candidates = lists.flat().map((gate) => {
    const ref = identityOf(gate);
    gates.set(refKey(ref), gate);
    return ref;
  });
  return { ...context, gates, candidates, truncated: isTruncated(lists) };
}

/** The Kustomization that applies the object, where there is one. */
async function readApplier(object: FluxObject, call: WebhookCall): Promise<FluxObject | undefined> {
  const applier = applierOf(object);
  return applier && call.cluster.get<FluxObject>({ ...KUSTOMIZATIONS, ...applier });
}

/** Those that exist, each read once. */
async function readRollouts(names: readonly string[], namespace: string, { cluster }: WebhookCall) {
  return readAll([...new Set(names)], (name) => cluster.get<Rollout>({ ...ROLLOUTS, namespace, name }));
}

async function readAll<T>(keys: string[], read: (key: string) => Promise<T | undefined>): Promise<Map<string, T>> {
  const found = await Promise.all(keys.map(read));
  return new Map(keys.flatMap((key, i) => (found[i] === undefined ? [] : [[key, found[i]] as const])));
}

/** In a CREATE the object may leave its namespace to the request. */
function inNamespace(object: KubeObject | null | undefined, request: AdmissionRequest): FluxObject | undefined {
  if (!object) return undefined;
  if (object.metadata.namespace) return object as FluxObject;
  return { ...object, metadata: { ...object.metadata, namespace: namespaceOf(request) } } as FluxObject;
}
