/** The watched objects of the page, indexed by the Rollout that they belong to. */
import type { FluxObject } from '../api/flux.ts';
import type { KindName } from '../api/kinds.ts';
import type { AnyObject } from '../api/kubernetes.ts';
import type { FluxBinding, Gate, HealthCheck, Rollout, RolloutGate } from '../api/types.ts';
import { fluxFailure } from '../client/explain/fluxFailure.ts';
import { type RelatedObjects, relatedGates, type Unread } from '../client/explain/related.ts';
import { identityOf, refKey } from '../core/kube/names.ts';
import { rolloutsOfObject } from '../core/managedField/managedFields.ts';
import { upstreamRefs } from '../core/rollout/upstream/dependencies.ts';

/** The kinds of bound objects, of which only failures are used. */
const BOUND_KIND_NAMES = ['Kustomization', 'HelmRelease', 'OCIRepository'] as const satisfies KindName[];
/** The kinds that the explanation of an application depends on. */
const EXPLAINED_KINDS = [
  'Rollout',
  'Gate',
  'RolloutGate',
  'FluxBinding',
  'HealthCheck',
  ...BOUND_KIND_NAMES,
] as const satisfies KindName[];
export const WATCHED_KINDS = [
  ...EXPLAINED_KINDS,
  'RolloutSchedule',
  'ClusterRolloutSchedule',
  'RolloutBudget',
  'ClusterRolloutBudget',
] as const satisfies KindName[];
export type WatchedKind = (typeof WATCHED_KINDS)[number];

/** The key for all namespaces. */
const ALL = '';

export class WatchedObjects {
  readonly #all = Object.fromEntries(WATCHED_KINDS.map((kind) => [kind, new Map()])) as Record<
    WatchedKind,
    Map<string, AnyObject>
  >;
  /** The objects by kind and owner: the Rollout, or for HealthChecks the namespace. */
  readonly #byOwner = new Map<string, Map<string, AnyObject>>();
  /** The namespaces in which a kind is read; absent: all. */
  readonly #scopes = new Map<WatchedKind, ReadonlySet<string>>();
  /** Why a kind can't be read, by namespace; ALL: anywhere. */
  readonly #unread = new Map<WatchedKind, Map<string, string>>();

  set(kind: WatchedKind, object: AnyObject): void {
    this.remove(kind, object);
    const key = refKey(identityOf(object));
    this.#all[kind].set(key, object);
    for (const owner of ownersOf(kind, object)) {
      const ownerKey = `${kind} ${owner}`;
      const owned = this.#byOwner.get(ownerKey) ?? new Map();
      this.#byOwner.set(ownerKey, owned.set(key, object));
    }
  }

  remove(kind: WatchedKind, object: AnyObject): void {
    const key = refKey(identityOf(object));
    const before = this.#all[kind].get(key);
    if (!before) return;
    this.#all[kind].delete(key);
    for (const owner of ownersOf(kind, before)) {
      const ownerKey = `${kind} ${owner}`;
      const owned = this.#byOwner.get(ownerKey);
      owned?.delete(key);
      if (owned?.size === 0) this.#byOwner.delete(ownerKey);
    }
  }

  get<T extends AnyObject>(kind: WatchedKind, key: string): T | undefined {
    return this.#all[kind].get(key) as T | undefined;
  }

  all<T extends AnyObject>(kind: WatchedKind): IterableIterator<T> {
    return this.#all[kind].values() as IterableIterator<T>;
  }

  keys(kind: WatchedKind): IterableIterator<string> {
    return this.#all[kind].keys();
  }

  /** Sets the namespaces in which a kind is read; undefined: all. Returns whether explanations change. */
  setScope(kind: WatchedKind, namespaces: readonly string[] | undefined): boolean {
    const before = this.#scopes.get(kind);
    if (namespaces) this.#scopes.set(kind, new Set(namespaces));
    else this.#scopes.delete(kind);
    return [...(before ?? [])].join() !== (namespaces ?? []).join();
  }

  /** Sets why a kind can't be read in a namespace, or in all (undefined: it can). Returns if explanations change. */
  setUnread(kind: WatchedKind, namespace: string | undefined, why: string | undefined): boolean {
    const unread = this.#unread.get(kind) ?? new Map<string, string>();
    this.#unread.set(kind, unread);
    const before = unread.get(namespace ?? ALL);
    if (why === undefined) unread.delete(namespace ?? ALL);
    else unread.set(namespace ?? ALL, why);
    return before !== why;
  }

  /** Why a kind isn't read in the namespaces. */
  #unreadIn(kind: WatchedKind, namespaces: Iterable<string>): Unread[] {
    const [unread, scope] = [this.#unread.get(kind), this.#scopes.get(kind)];
    const everywhere = unread?.get(ALL);
    if (everywhere !== undefined) return [{ kind, why: everywhere }];
    if (!scope) return [];
    return [...new Set(namespaces)].flatMap((namespace) => {
      const why = scope.has(namespace) ? unread?.get(namespace) : 'this page does not read that namespace';
      return why === undefined ? [] : [{ kind, namespace, why }];
    });
  }

  /** The related objects of one Rollout, without a search through all objects. */
  related(rollout: Rollout): RelatedObjects {
    const id = refKey(identityOf(rollout));
    const bindings = this.#of<FluxBinding>('FluxBinding', id);
    const gates = relatedGates(rollout, bindings).refs;
    const home = rollout.metadata.namespace ?? '';
    const namespacesOf = (kind: WatchedKind) =>
      kind === 'Gate' ? [home, ...gates.map(({ namespace }) => namespace)] : [home];
    return {
      bindings,
      rolloutGates: this.#of<RolloutGate>('RolloutGate', id),
      gates: this.#each<Gate>('Gate', gates.map(refKey)),
      objects: BOUND_KIND_NAMES.flatMap((kind) => this.#of<FluxObject>(kind, id)),
      healthChecks: this.#of<HealthCheck>('HealthCheck', home),
      rollouts: this.#each<Rollout>('Rollout', upstreamRefs(rollout).map(refKey)),
      unread: EXPLAINED_KINDS.flatMap((kind) => this.#unreadIn(kind, namespacesOf(kind))),
    };
  }

  #of<T extends AnyObject>(kind: WatchedKind, owner: string): T[] {
    return [...(this.#byOwner.get(`${kind} ${owner}`)?.values() ?? [])] as T[];
  }

  #each<T extends AnyObject>(kind: WatchedKind, keys: Iterable<string>): T[] {
    return [...new Set(keys)].flatMap((key) => this.get<T>(kind, key) ?? []);
  }
}

export function isBoundKind(kind: WatchedKind): boolean {
  return (BOUND_KIND_NAMES as readonly WatchedKind[]).includes(kind);
}

/** Whether no explanation changes with the object. Flux writes a status at each of its intervals. */
export function isSameForExplanations(kind: WatchedKind, before: AnyObject, after: AnyObject): boolean {
  return isBoundKind(kind) && factsOf(kind, before) === factsOf(kind, after);
}

function factsOf(kind: WatchedKind, object: AnyObject): string {
  return JSON.stringify([ownersOf(kind, object), fluxFailure(object as FluxObject)]);
}

/** The object with only the fields that are used: a status of Flux may have an inventory of thousands. */
export function withoutUnusedFields(kind: WatchedKind, object: AnyObject): AnyObject {
  if (!isBoundKind(kind)) return object;
  const { spec, status } = object;
  const { suspend, chartRef } = spec ?? {};
  return { ...object, spec: { suspend, chartRef }, status: { conditions: status?.conditions } };
}

/** The owners of an object: the ids of Rollouts, or for a HealthCheck its namespace. */
export function ownersOf(kind: WatchedKind, object: AnyObject): string[] {
  const { namespace } = identityOf(object);
  switch (kind) {
    case 'RolloutGate': {
      const name = (object as RolloutGate).spec?.rolloutRef.name;
      return name ? [refKey({ namespace, name })] : [];
    }
    case 'FluxBinding':
      return [
        ...new Set(
          ((object as FluxBinding).spec?.fields ?? []).map(({ rollout: name }) => refKey({ namespace, name })),
        ),
      ];
    case 'Kustomization':
    case 'HelmRelease':
    case 'OCIRepository':
      return rolloutsOfObject(object).map((name) => refKey({ namespace, name }));
    case 'HealthCheck':
      return [namespace];
    default:
      return [];
  }
}
