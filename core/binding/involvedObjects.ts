/**
 * The Flux objects that notifications about an object of ours name, because Flux's Alerts select Flux's kinds only.
 * There is one for each namespace, so that a freeze of three hundred objects is one message.
 */
import { BOUND_KINDS, GOVERNED_KINDS, KINDS } from '../../api/kinds.ts';
import type { ObjectName } from '../../api/kubernetes.ts';
import type { FluxBinding } from '../../api/types.ts';
import { LIMITS } from '../limits.ts';

/** Appliers come before sources; a Rollout, for the objects bound to it, comes last. */
const RANKS: readonly string[] = [
  ...GOVERNED_KINDS.filter(({ governed }) => governed === 'sync').map(({ kind }) => kind),
  ...GOVERNED_KINDS.filter(({ governed }) => governed === 'source').map(({ kind }) => kind),
  KINDS.Rollout.kind,
];

/** The first object of each namespace, in a stable order; the one in `home` first. */
export function involvedObjectsOf(objects: readonly ObjectName[], home: string | undefined): ObjectName[] {
  const first = new Map<string, ObjectName>();
  for (const object of objects) {
    const known = first.get(object.namespace);
    if (!known || isBefore(object, known)) first.set(object.namespace, object);
  }
  return [...first.values()]
    .sort((a, b) => Number(b.namespace === home) - Number(a.namespace === home) || (a.namespace < b.namespace ? -1 : 1))
    .slice(0, LIMITS.notifiedNamespaces);
}

function isBefore(a: ObjectName, b: ObjectName): boolean {
  const ranks = RANKS.indexOf(a.kind) - RANKS.indexOf(b.kind);
  return ranks < 0 || (ranks === 0 && a.name < b.name);
}

/** The objects bound to a Rollout that notifications name: those that apply its version, or else their sources. */
export function reportingObjects(bindings: readonly FluxBinding[]): ObjectName[] {
  const bound = bindings.flatMap(({ spec, metadata }) =>
    spec ? [{ kind: spec.target.kind, namespace: metadata.namespace ?? '', name: spec.target.name }] : [],
  );
  const ofRole = (role: string) =>
    bound.filter(({ kind }) => BOUND_KINDS.some((row) => row.kind === kind && row.governed === role));
  const syncs = ofRole('sync');
  return (syncs.length > 0 ? syncs : ofRole('source'))
    .sort((a, b) => (isBefore(a, b) ? -1 : 1))
    .slice(0, LIMITS.notifiedObjects);
}
