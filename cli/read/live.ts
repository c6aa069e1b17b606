/** Rollouts and everything around them, kept up to date by watches: what `get --watch` and `status` look at. */
import type { FluxObject } from '../../api/flux.ts';
import { GATES, KINDS, type KindName, NAMESPACES, ROLLOUTS, resourceOf } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { FluxBinding, Gate, HealthCheck, Rollout, RolloutGate } from '../../api/types.ts';
import { type RelatedObjects, type Unread, watchesElsewhere } from '../../client/explain/related.ts';
import { identityOf, refKey } from '../../core/kube/names.ts';
import { follow } from '../kube/follow.ts';
import { type Collection, isApiError, type KubeClient, type Selectors } from '../kube/kubeClient.ts';
import { boundKinds, gateNames, NAMESPACES_UNREAD, whyUnread } from './readRelated.ts';

export interface LiveOptions {
  client: KubeClient;
  /** undefined: all. */
  namespace: string | undefined;
  /** Only these; all of the namespace when empty. */
  names: readonly string[];
  selector?: string | undefined;
  signal: AbortSignal;
}

/** Changes come in bursts: one look for all of one moment. */
const MOMENT_MS = 80;

type Store<T> = Map<string, T>;

/** What may not be watched is no failure. */
type OnUnread = (why: string, namespace: string | undefined) => void;

export class Live {
  readonly #options: LiveOptions;
  readonly #rollouts: Store<Rollout> = new Map();
  readonly #around = {
    RolloutGate: new Map() as Store<RolloutGate>,
    FluxBinding: new Map() as Store<FluxBinding>,
    HealthCheck: new Map() as Store<HealthCheck>,
  };
  readonly #gates: Store<Gate> = new Map();
  readonly #objects = new Map<string, Store<FluxObject>>();
  readonly #namespaces: Store<KubeObject> = new Map();
  #namespacesUnread: { unread: string } | undefined;
  #watchesElsewhere = false;
  readonly #unread: Unread[] = [];
  /** Namespaces whose Gates are watched; '' for all. */
  readonly #gateNamespaces = new Set<string>();
  readonly #lost = new Set<string>();
  readonly #running: Promise<void>[] = [];
  #starting = 0;
  #wake: () => void = () => {};
  #failure: unknown;

  constructor(options: LiveOptions) {
    this.#options = options;
    options.signal.addEventListener('abort', () => this.#wake(), { once: true });
  }

  /** Yields once everything was read, then after every change, and at least every `everyMs`. @throws what a watch cannot mend. */
  async *updates(everyMs: number): AsyncGenerator<void> {
    const { signal, names, selector, namespace } = this.#options;
    const [only] = names.length === 1 ? names : [];
    const fieldSelector = only === undefined ? undefined : `metadata.name=${only}`;
    this.#start(ROLLOUTS, this.#rollouts, namespace, { fieldSelector, labelSelector: selector });
    for (const kind of ['RolloutGate', 'FluxBinding', 'HealthCheck'] as const) {
      this.#start(
        resourceOf(KINDS[kind]),
        this.#around[kind] as Store<KubeObject<any, any>>,
        namespace,
        {},
        this.#noting(kind),
      );
    }
    while (!signal.aborted) {
      await this.#changed(everyMs);
      if (this.#failure !== undefined) throw this.#failure;
      if (signal.aborted) return;
      this.#watchGates();
      this.#watchBound();
      this.#watchElsewhere();
      if (this.#starting === 0) yield;
    }
  }

  get rollouts(): Rollout[] {
    const { names } = this.#options;
    const wanted = new Set(names);
    return [...this.#rollouts.entries()]
      .filter(([, { metadata }]) => wanted.size === 0 || wanted.has(metadata.name ?? ''))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, rollout]) => rollout);
  }

  get around(): RelatedObjects {
    return {
      gates: [...this.#gates.values()],
      rolloutGates: [...this.#around.RolloutGate.values()],
      bindings: [...this.#around.FluxBinding.values()],
      healthChecks: [...this.#around.HealthCheck.values()],
      objects: [...this.#objects.values()].flatMap((store) => [...store.values()]),
      rollouts: [...this.#rollouts.values()],
      ...(this.#watchesElsewhere && { namespaces: this.#namespacesUnread ?? [...this.#namespaces.values()] }),
      unread: this.#unread,
    };
  }

  /** Some watch hears nothing now: what is shown may be old. */
  get isLost(): boolean {
    return this.#lost.size > 0;
  }

  /** Namespaces and the HealthChecks of all of them, once a Rollout watches some of others. */
  #watchElsewhere(): void {
    if (this.#watchesElsewhere || !this.rollouts.some(watchesElsewhere)) return;
    this.#watchesElsewhere = true;
    const onUnread = (why: string) => {
      this.#namespacesUnread = { unread: why };
    };
    this.#start(NAMESPACES, this.#namespaces, undefined, {}, () => onUnread(NAMESPACES_UNREAD));
    if (this.#options.namespace === undefined) return;
    const of = resourceOf(KINDS.HealthCheck);
    this.#start(of, this.#around.HealthCheck, undefined, {}, () => onUnread('you may not list HealthChecks there'));
  }

  /** Gates are watched where there is one that matters. */
  #watchGates(): void {
    const { namespace } = this.#options;
    const names = gateNames(this.rollouts, [...this.#around.FluxBinding.values()]);
    const wanted = namespace === undefined && names.length > 0 ? [''] : names.map((ref) => ref.namespace);
    for (const each of wanted) {
      if (this.#gateNamespaces.has(each)) continue;
      this.#gateNamespaces.add(each);
      this.#start(GATES, this.#gates, each === '' ? undefined : each, {}, this.#noting('Gate'));
    }
  }

  /** Kinds of Flux are watched where one of their objects takes a version. */
  #watchBound(): void {
    for (const row of boundKinds([...this.#around.FluxBinding.values()])) {
      if (this.#objects.has(row.kind)) continue;
      const store: Store<FluxObject> = new Map();
      this.#objects.set(row.kind, store);
      this.#start(resourceOf(row), store, this.#options.namespace, {}, this.#noting(row.kind));
    }
  }

  #noting(kind: KindName): OnUnread {
    return (why, namespace) => this.#unread.push({ kind, why, ...(namespace !== undefined && { namespace }) });
  }

  #start<T extends KubeObject<any, any>>(
    of: Pick<Collection, 'apiVersion' | 'resource'>,
    store: Store<T>,
    namespace: string | undefined,
    selectors: Selectors,
    onUnread?: OnUnread,
  ): void {
    this.#starting++;
    this.#running.push(this.#run({ ...of, namespace, ...selectors }, store, onUnread));
  }

  async #run<T extends KubeObject<any, any>>(
    from: Collection & Selectors,
    store: Store<T>,
    onUnread: OnUnread | undefined,
  ): Promise<void> {
    const { client, signal } = this.#options;
    const id = `${from.resource} ${from.namespace ?? ''}`;
    const isOf = (key: string) => from.namespace === undefined || key.startsWith(`${from.namespace}/`);
    let isStarting = true;
    const started = () => {
      if (isStarting) this.#starting--;
      isStarting = false;
    };
    try {
      for await (const change of follow<T>(client, from, signal)) {
        if (change.type === 'lost') this.#lost.add(id);
        else this.#lost.delete(id);
        if (change.type === 'all') {
          for (const key of [...store.keys()].filter(isOf)) store.delete(key);
          for (const item of change.items) store.set(refKey(identityOf(item)), item);
          started();
        }
        // Nobody answers, and nothing was read yet: that is not a wait but an error.
        if (change.type === 'lost' && isStarting) throw change.error;
        if (change.type === 'set') store.set(refKey(identityOf(change.object)), change.object);
        if (change.type === 'gone') store.delete(refKey(identityOf(change.object)));
        this.#wake();
      }
    } catch (error) {
      const why = isApiError(error) ? whyUnread(error) : undefined;
      if (why === undefined || onUnread === undefined) this.#failure = error;
      else onUnread(why, from.namespace);
      started();
      this.#wake();
    }
  }

  async #changed(everyMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, everyMs);
      const done = () => {
        clearTimeout(timer);
        setTimeout(resolve, MOMENT_MS);
      };
      this.#wake = done;
    });
  }
}
