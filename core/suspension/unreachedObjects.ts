/**
 * The objects that a Gate has not reached: they run although it is closed, or are suspended although it is open.
 * The object's own annotations decide, which the webhook writes in the write that suspends. Any other report on the
 * object may be late, or may have failed for the same reason.
 */
import { AWAITS_ARTIFACT, GATE_STATE, REQUIRED_GATES, SUSPENDED } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { KubeObject, NamespacedName, ObjectName } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import { closureKey } from '../gate/closedGates.ts';
import { parseGateRefs } from '../gate/gateRefs.ts';
import { gateSelects, requirerText } from '../gate/gateSelection.ts';
import { identityOf, refKey } from '../kube/names.ts';
import { currentState, isBypass, storedState } from '../objectGates/objectState.ts';
import { applierOf } from './applier.ts';

interface Unheld extends ObjectName {
  reason: 'NotMarked' | 'NotSuspended';
  message: string;
}

/** Kubernetes' limit for the keys and values of all annotations together. */
const MAX_ANNOTATIONS_BYTES = 256 * 1024;
/** The most that our annotations on an object take. */
const OUR_ANNOTATIONS_BYTES = 64 * 1024;

/** An object that an open Gate has not released yet. */
interface Unresumed extends ObjectName {
  reason: 'WaitsForApplier' | 'NotResumed';
  message: string;
}

/**
 * The metadata by which the functions here decide, without the rest, which tenants can make large: the annotations as
 * a whole only if they leave no room for ours.
 */
export function reachMetadata({ metadata }: KubeObject): KubeObject['metadata'] {
  const { name, namespace, labels, annotations = {}, deletionTimestamp } = metadata;
  const ours = [REQUIRED_GATES, SUSPENDED, GATE_STATE, AWAITS_ARTIFACT].flatMap((key) => {
    const value = annotations[key];
    return value === undefined ? [] : [[key, value]];
  });
  return {
    ...(name !== undefined && { name }),
    ...(namespace !== undefined && { namespace }),
    ...(labels && { labels }),
    annotations: leaveNoRoom(annotations) ? annotations : Object.fromEntries(ours),
    ...(deletionTimestamp && { deletionTimestamp }),
  };
}

/** Labels of each Namespace, by its name. */
type Namespaces = ReadonlyMap<string, Readonly<Record<string, string>>>;

/**
 * The objects that a closed Gate does not hold, sorted by kind, namespace and name.
 * @param closure of the Gate
 * @param objects metadata of the governed Flux objects, with their kinds
 */
export function unheldOf(
  gate: Gate,
  closure: string | undefined,
  objects: readonly KubeObject[],
  namespaces: Namespaces,
): Unheld[] {
  const closures = [closureKey({ key: refKey(identityOf(gate)), closure })];
  return withReasons(objects, (object) => {
    const { annotations = {}, deletionTimestamp } = object.metadata;
    const stored = storedState(object);
    // The webhook has not seen the trigger: it would have suspended the object, which a client may have resumed.
    const isTriggered = stored?.is === 'closed' && stored.gates.length === 0;
    if (deletionTimestamp || (annotations[SUSPENDED] !== undefined && !isTriggered)) return undefined;
    // A user with the verb bypass has let it run.
    if (isBypass(currentState(object, closures)) || !requires(object, gate, namespaces)) return undefined;
    if (leaveNoRoom(annotations)) {
      const message = `its annotations have ${sizeOf(annotations)} bytes and may leave no room for those of rollout-hooks: remove some`;
      return { reason: 'NotMarked' as const, message };
    }
    return stored?.is === 'closed' ? NOT_SUSPENDED : NOT_MARKED;
  });
}

function leaveNoRoom(annotations: Readonly<Record<string, string>>): boolean {
  return sizeOf(annotations) > MAX_ANNOTATIONS_BYTES - OUR_ANNOTATIONS_BYTES;
}

function sizeOf(annotations: Readonly<Record<string, string>>): number {
  return new TextEncoder().encode(Object.entries(annotations).flat().join('')).length;
}

const NOT_MARKED = {
  reason: 'NotMarked' as const,
  message: 'not marked yet: check the logs of Metacontroller and rollout-hooks',
};
const NOT_SUSPENDED = {
  reason: 'NotSuspended' as const,
  message: 'marked, but not suspended: check that the API server calls the webhook for it',
};

/** The objects that an open Gate has not released, and that no other Gate holds. */
export function unresumedOf(gate: Gate, objects: readonly KubeObject[], namespaces: Namespaces): Unresumed[] {
  const key = refKey(identityOf(gate));
  return withReasons(objects, (object) => {
    const { [SUSPENDED]: suspended, [AWAITS_ARTIFACT]: awaits } = object.metadata.annotations ?? {};
    const state = suspended === undefined ? undefined : storedState(object);
    const isStillClosed = state?.is === 'closed' && state.gates.every((each) => each === key);
    // The webhook has not seen the trigger: it would have resumed the object.
    const isNotResumed = isStillClosed || (state?.is === 'open' && awaits === undefined);
    if (!(isNotResumed || state?.is === 'opening') || !requires(object, gate, namespaces)) return undefined;
    const applier = applierOf(object as FluxObject);
    if (isNotResumed || !applier)
      return { reason: 'NotResumed' as const, message: 'the webhook has not resumed it yet' };
    const message = `it waits until Kustomization '${refKey(applier)}' applies it again; see its FluxBinding`;
    return { reason: 'WaitsForApplier' as const, message };
  });
}

function withReasons<Why extends object>(objects: readonly KubeObject[], why: (object: KubeObject) => Why | undefined) {
  const unreached = objects.flatMap((object) => {
    const reason = why(object);
    return reason ? [{ kind: object.kind, ...identityOf(object), ...reason }] : [];
  });
  return unreached.sort((a, b) => (requirerText(a) < requirerText(b) ? -1 : 1));
}

function requires(object: KubeObject, gate: Gate, namespaces: Namespaces): boolean {
  const { annotations = {}, namespace: home = '' } = object.metadata;
  const { namespace, name } = identityOf(gate);
  const isThis = (ref: NamespacedName) => ref.namespace === namespace && ref.name === name;
  return (
    parseGateRefs(annotations[REQUIRED_GATES], home).refs.some(isThis) ||
    gateSelects(gate, object, namespaces.get(home) ?? {})
  );
}
