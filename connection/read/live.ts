/** Rollouts and their related objects, updated by watches: for `get --watch`, `status --until` and `--wait`. */
import type { FluxObject } from '../../api/flux.ts';
import { BOUND_KINDS, type KindName } from '../../api/kinds.ts';
import type { AnyObject, KubeObject } from '../../api/kubernetes.ts';
import type { FluxBinding, Gate, HealthCheck, Rollout, RolloutGate } from '../../api/types.ts';
import { type RelatedObjects, UNREAD, type Unread, watchesOtherNamespaces } from '../../client/explain/related.ts';
import { identityOf, refKey } from '../../core/kube/names.ts';
import { follow, isApiError, type KubeClient, type ListSelectors } from '../kube/kubeClient.ts';
import { collectionOf, whyUnread } from './optionalReads.ts';
import { boundKinds, gateRefs, NAMESPACES_UNREAD } from './readRelated.ts';

interface LiveOptions {
  client: KubeClient;
  /** The namespace; undefined: all. */
  namespace: string | undefined;
  /** The names of the Rollouts; empty: all of the namespace. */
  names: readonly string[];
  selector?: string | undefined;
  signal: AbortSignal;
}

/** The time for which changes are gathered for one update: they come in bursts. */
const GATHER_MS = 80;

type WatchedKind = KindName | 'Namespace';

/** Called with the reason if a kind can't be watched. */
type OnUnread = (why: string, namespace: string | undefined) => void;

export class Live {
  readonly #options: LiveOptions;
  /** The objects of each watched kind, by `namespace/name`. */
  readonly #stores = new Map<WatchedKind, Map<string, AnyObject>>();
  /** The running watches, by kind and namespace. */
  readonly #watches = new Set<string>();
  /** The watches that are disconnected. */
  readonly #lost = new Set<string>();
  readonly #unread: Unread[] = [];
  #namespacesUnread: { unread: string } | undefined;
  #starting = 0;
  #wake: () => void = () => {};
  #failure: unknown;

  constructor(options: LiveOptions) {
    this.#options = options;
    options.signal.addEventListener('abort', () => this.#wake(), { once: true });
  }

  /** Yields after the first read, after every change, and at least every `everyMs`. @throws errors that last */
  async *updates(everyMs: number): AsyncGenerator<void> {
    const { signal, names, selector: labelSelector, namespace } = this.#options;
    const fieldSelector = names.length === 1 ? `metadata.name=${names[0]}` : undefined;
    this.#watch('Rollout', namespace, undefined, { fieldSelector, labelSelector });
    for (const kind of ['RolloutGate', 'FluxBinding', 'HealthCheck'] as const) this.#watchOptional(kind, namespace);
    while (!signal.aborted) {
      await this.#nextChange(everyMs);
      if (this.#failure !== undefined) throw this.#failure;
      if (signal.aborted) return;
      this.#watchRelated();
      if (this.#starting === 0) yield;
    }
  }

  get rollouts(): Rollout[] {
    const wanted = new Set(this.#options.names);
    return [...(this.#stores.get('Rollout') ?? [])]
      .filter(([, { metadata }]) => wanted.size === 0 || wanted.has(metadata.name ?? ''))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, rollout]) => rollout as Rollout);
  }

  get related(): RelatedObjects {
    return {
      gates: this.#all<Gate>('Gate'),
      rolloutGates: this.#all<RolloutGate>('RolloutGate'),
      bindings: this.#all<FluxBinding>('FluxBinding'),
      healthChecks: this.#all<HealthCheck>('HealthCheck'),
      objects: BOUND_KINDS.flatMap(({ kind }) => this.#all<FluxObject>(kind)),
      rollouts: this.#all<Rollout>('Rollout'),
      ...(this.#stores.has('Namespace') && {
        namespaces: this.#namespacesUnread ?? this.#all<KubeObject>('Namespace'),
      }),
      unread: this.#unread,
    };
  }

  /** Whether a watch is disconnected, so that objects may be out of date. */
  get isLost(): boolean {
    return this.#lost.size > 0;
  }

  #all<T extends AnyObject>(kind: WatchedKind): T[] {
    return [...(this.#stores.get(kind)?.values() ?? [])] as T[];
  }

  /** Watches the related objects of the known Rollouts: Gates, bound Flux objects, HealthChecks of other namespaces. */
  #watchRelated(): void {
    const { namespace } = this.#options;
    const bindings = this.#all<FluxBinding>('FluxBinding');
    for (const gate of gateRefs(this.rollouts, bindings))
      this.#watchOptional('Gate', namespace === undefined ? undefined : gate.namespace);
    for (const { kind } of boundKinds(bindings)) this.#watchOptional(kind, namespace);
    if (!this.rollouts.some(watchesOtherNamespaces)) return;
    const noteUnread = (why: string) => () => {
      this.#namespacesUnread = { unread: why };
    };
    this.#watch('Namespace', undefined, noteUnread(NAMESPACES_UNREAD));
    this.#watch('HealthCheck', undefined, noteUnread("you aren't allowed to list HealthChecks there"));
  }

  /** Watches a kind; if it can't be watched, notes it in `unread`. */
  #watchOptional(kind: KindName, namespace: string | undefined): void {
    this.#watch(kind, namespace, (why) => {
      this.#unread.push({ kind, why, ...(namespace !== undefined && { namespace }) });
    });
  }

  /** Starts a watch, unless it is running. Without `onUnread`, a kind that can't be watched is a failure. */
  #watch(kind: WatchedKind, namespace: string | undefined, onUnread?: OnUnread, selectors: ListSelectors = {}): void {
    const id = `${kind} ${namespace ?? ''}`;
    if (this.#watches.has(id)) return;
    this.#watches.add(id);
    const store = this.#stores.get(kind) ?? new Map<string, AnyObject>();
    this.#stores.set(kind, store);
    this.#starting++;
    void this.#run(id, { ...collectionOf(kind), namespace, ...selectors }, store, onUnread);
  }

  async #run(
    id: string,
    from: Parameters<typeof follow>[1],
    store: Map<string, AnyObject>,
    onUnread: OnUnread | undefined,
  ): Promise<void> {
    const { client, signal } = this.#options;
    const isWatched = (key: string) => from.namespace === undefined || key.startsWith(`${from.namespace}/`);
    let isStarting = true;
    const started = () => {
      if (isStarting) this.#starting--;
      isStarting = false;
    };
    try {
      for await (const change of follow<AnyObject>(client, from, signal)) {
        if (change.type === 'lost') this.#lost.add(id);
        else this.#lost.delete(id);
        if (change.type === 'all') {
          for (const key of [...store.keys()].filter(isWatched)) store.delete(key);
          for (const item of change.items) store.set(refKey(identityOf(item)), item);
          started();
        }
        // Before the first read, a lost connection is an error: there is nothing to show meanwhile.
        if (change.type === 'lost' && isStarting) throw change.error;
        if (change.type === 'set') store.set(refKey(identityOf(change.object)), change.object);
        if (change.type === 'gone') store.delete(refKey(identityOf(change.object)));
        this.#wake();
      }
    } catch (error) {
      const why = isApiError(error) ? whyUnread(error) : undefined;
      if (why === undefined || onUnread === undefined) this.#failure = error;
      else onUnread(UNREAD[why], from.namespace);
      started();
      this.#wake();
    }
  }

  async #nextChange(everyMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, everyMs);
      this.#wake = () => {
        clearTimeout(timer);
        setTimeout(resolve, GATHER_MS);
      };
    });
  }
}
