/**
 * What a closed Gate requires to stand still and does not. The object's own annotations tell: the webhook alone writes them, in the write that
 * suspends. Whatever else reports of the object may be late, or may have failed for the same reason.
 */
import { GATE_STATE, GATES, SUSPENDED } from '../../api/annotations.ts';
import type { KubeObject, NamespacedName, ObjectName } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import { parseGateRefs } from '../gate/refs.ts';
import { gateSelects } from '../gate/selects.ts';
import { identityOf } from '../kube/names.ts';
import { parseState } from '../suspend/stateAnnotation.ts';

export interface Unheld extends ObjectName {
  reason: 'NotMarked' | 'NotSuspended';
  message: string;
}

/** Kubernetes: total of keys and values of all annotations, in bytes. */
const MAX_ANNOTATIONS = 256 * 1024;
/** What it takes to mark an object with its Gates. */
const ROOM = 64 * 1024;

/**
 * Sorted by kind, namespace and name.
 * @param objects metadata of the governed Flux objects, with their kinds
 * @param namespaces labels of each Namespace, by its name
 */
export function unheldOf(
  gate: Gate,
  objects: readonly KubeObject[],
  namespaces: ReadonlyMap<string, Readonly<Record<string, string>>>,
): Unheld[] {
  const { namespace, name } = identityOf(gate);
  const isThis = (ref: NamespacedName) => ref.namespace === namespace && ref.name === name;
  const found = objects.flatMap((object) => {
    const { annotations = {}, namespace: home = '', deletionTimestamp } = object.metadata;
    if (deletionTimestamp || annotations[SUSPENDED] !== undefined) return [];
    const state = parseState(annotations[GATE_STATE]);
    // Somebody with the right has let it run.
    if (state?.is === 'bypassed' || state?.is === 'passing') return [];
    const isRequired =
      parseGateRefs(annotations[GATES], home).refs.some(isThis) ||
      gateSelects(gate, object, namespaces.get(home) ?? {});
    return isRequired
      ? [{ kind: object.kind, ...identityOf(object), ...whyUnheld(annotations, state !== undefined) }]
      : [];
  });
  const key = (each: Unheld) => `${each.kind} ${each.namespace}/${each.name}`;
  return found.sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

function whyUnheld(annotations: Record<string, string>, isMarked: boolean): Pick<Unheld, 'reason' | 'message'> {
  const size = new TextEncoder().encode(Object.entries(annotations).flat().join('')).length;
  if (size > MAX_ANNOTATIONS - ROOM) {
    const message = `its annotations take ${size} bytes, which may leave no room for ours: remove some`;
    return { reason: 'NotMarked', message };
  }
  return isMarked
    ? { reason: 'NotSuspended', message: 'it is marked, and the webhook has not suspended it yet' }
    : { reason: 'NotMarked', message: 'Metacontroller has not marked it yet: see its log, and that of rollout-hooks' };
}
