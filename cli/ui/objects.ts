/** The objects that the page is about, as they are watched, found by what belongs to a Rollout. */

import type { FluxObject } from '../../api/flux.ts';
import { KINDS, type KindName } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { FluxBinding, Gate, HealthCheck, Rollout, RolloutGate } from '../../api/types.ts';
import { fluxFailure } from '../../client/explain/fluxFailure.ts';
import type { RelatedObjects, Unread } from '../../client/explain/related.ts';
import { boundRollouts } from '../../core/admission/managedFields/annotations.ts';
import { gateRefsOf, gatesOf } from '../../core/gate/gateRefs.ts';
import { identityOf, refKey } from '../../core/kube/names.ts';
import { stageRefs } from '../../core/rollout/upstream/refs.ts';

/** Those that take versions; of them only what Flux reports is looked at. */
const BOUND = ['Kustomization', 'HelmRelease', 'OCIRepository'] as const satisfies KindName[];
/** What an application is explained from. */
export const EXPLAINED = [
  'Rollout',
  'Gate',
  'RolloutGate',
  'FluxBinding',
  'HealthCheck',
  ...BOUND,
] as const satisfies KindName[];
export const WATCHED = [
  ...EXPLAINED,
  'RolloutSchedule',
  'ClusterRolloutSchedule',
  'RolloutBudget',
  'ClusterRolloutBudget',
] as const satisfies KindName[];
export type Watched = (typeof WATCHED)[number];

type Any = KubeObject<any, any>;

export class Objects {
  readonly #all = Object.fromEntries(WATCHED.map((kind) => [kind, new Map()])) as Record<Watched, Map<string, Any>>;
  /** Of RolloutGates and FluxBindings: the keys of those of a Rollout. HealthChecks: of a namespace. */
  readonly #belonging = new Map<string, Map<string, Any>>();
  readonly unread = new Map<Watched, Unread>();

  set(kind: Watched, object: Any): void {
    this.remove(kind, object);
    const key = refKey(identityOf(object));
    this.#all[kind].set(key, object);
    for (const owner of ownersOf(kind, object)) {
      const slot = `${kind} ${owner}`;
      const those = this.#belonging.get(slot) ?? new Map();
      this.#belonging.set(slot, those.set(key, object));
    }
  }

  remove(kind: Watched, object: Any): void {
    const key = refKey(identityOf(object));
    const before = this.#all[kind].get(key);
    if (!before) return;
    this.#all[kind].delete(key);
    for (const owner of ownersOf(kind, before)) {
      const slot = `${kind} ${owner}`;
      const those = this.#belonging.get(slot);
      those?.delete(key);
      if (those?.size === 0) this.#belonging.delete(slot);
    }
  }

  get<T extends Any>(kind: Watched, key: string): T | undefined {
    return this.#all[kind].get(key) as T | undefined;
  }

  all<T extends Any>(kind: Watched): IterableIterator<T> {
    return this.#all[kind].values() as IterableIterator<T>;
  }

  keys(kind: Watched): IterableIterator<string> {
    return this.#all[kind].keys();
  }

  /** What is around one Rollout, and nothing that is not: explaining thousands stays linear. */
  around(rollout: Rollout): RelatedObjects {
    const id = refKey(identityOf(rollout));
    const bindings = this.#of<FluxBinding>('FluxBinding', id);
    return {
      bindings,
      rolloutGates: this.#of<RolloutGate>('RolloutGate', id),
      gates: this.#each<Gate>('Gate', gatesAround(rollout, bindings)),
      objects: BOUND.flatMap((kind) => this.#of<FluxObject>(kind, id)),
      healthChecks: this.#of<HealthCheck>('HealthCheck', rollout.metadata.namespace ?? ''),
      rollouts: this.#each<Rollout>('Rollout', stageRefs(rollout).map(refKey)),
      unread: [...this.unread.values()],
    };
  }

  #of<T extends Any>(kind: Watched, owner: string): T[] {
    return [...(this.#belonging.get(`${kind} ${owner}`)?.values() ?? [])] as T[];
  }

  #each<T extends Any>(kind: Watched, keys: Iterable<string>): T[] {
    return [...new Set(keys)].flatMap((key) => this.get<T>(kind, key) ?? []);
  }
}

export function isBound(kind: Watched): boolean {
  return (BOUND as readonly Watched[]).includes(kind);
}

/** Whether an explanation would say the same of both. Flux writes a status at each of its intervals. */
export function areAlike(kind: Watched, before: Any, after: Any): boolean {
  return isBound(kind) && factsOf(kind, before) === factsOf(kind, after);
}

function factsOf(kind: Watched, object: Any): string {
  return JSON.stringify([ownersOf(kind, object), fluxFailure(object as FluxObject)]);
}

/** As much of an object as is looked at: a status of Flux has an inventory of thousands. */
export function kept(kind: Watched, object: Any): Any {
  if (!isBound(kind)) return object;
  const { spec, status } = object;
  const { suspend, chartRef } = spec ?? {};
  return { ...object, spec: { suspend, chartRef }, status: { conditions: status?.conditions } };
}

/** Keys of the Gates that may be in the way. */
export function gatesAround(rollout: Rollout, bindings: readonly FluxBinding[]): string[] {
  return [
    ...gateRefsOf(rollout).map(refKey),
    ...bindings.flatMap(({ spec }) => gatesOf(spec)).map(refKey),
    ...(rollout.status?.gates ?? []).flatMap(({ kind, name }) => (kind === KINDS.Gate.kind ? name : [])),
  ];
}

/** Ids of the Rollouts that an object belongs to, or its namespace. */
export function ownersOf(kind: Watched, object: Any): string[] {
  const { namespace } = identityOf(object);
  switch (kind) {
    case 'RolloutGate': {
      const name = (object as RolloutGate).spec?.rolloutRef.name;
      return name ? [refKey({ namespace, name })] : [];
    }
    case 'FluxBinding':
      return [
        ...new Set(((object as FluxBinding).spec?.pins ?? []).map(({ rollout: name }) => refKey({ namespace, name }))),
      ];
    case 'Kustomization':
    case 'HelmRelease':
    case 'OCIRepository':
      return boundRollouts(object).map((name) => refKey({ namespace, name }));
    case 'HealthCheck':
      return [namespace];
    default:
      return [];
  }
}
