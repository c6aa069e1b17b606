/** Watches and views: a change in the cluster reaches every open page a moment later, in one message. */
import { setMaxListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { KINDS, resourceOf } from '../api/kinds.ts';
import type { AnyObject, EpochMs } from '../api/kubernetes.ts';
import type { KindState } from '../client/board/pageMessages.ts';
import { UNREAD } from '../client/explain/related.ts';
import {
  type Collection,
  type CollectionChange,
  follow,
  isApiError,
  type KubeClient,
} from '../connection/kube/kubeClient.ts';
import { withoutManagedFields } from '../connection/kube/objectText.ts';
import { createYield } from '../server/yield.ts';
import { Hub, type Snapshot } from './hub.ts';
import { isBoundKind, WATCHED_KINDS, type WatchedKind } from './objects.ts';
import { type ShareObject, type ViewChanges, Views } from './views.ts';

/** The time for which changes are gathered: a release is a dozen writes within a second. */
const GATHER_MS = 80;
/** The interval at which views whose time of change has passed are computed again. */
const DUE_MS = 5_000;

interface FeedOptions {
  client: KubeClient;
  /** The only namespace to read; undefined: all. */
  namespace?: string | undefined;
  /** The namespace to read if the reader can't read the whole cluster. */
  fallback: string;
  now: () => EpochMs;
  share?: ShareObject | undefined;
  /** The name of this cluster and the common hub, if several clusters are shown. */
  cluster?: string | undefined;
  hub?: Hub | undefined;
}

/** The turns of all feeds: however many readers there are, the process answers requests and probes between them. */
const turn = createYield();

export class Feed {
  readonly views: Views;
  readonly hub: Hub;
  readonly #options: FeedOptions;
  readonly #kinds = new Map<WatchedKind, KindState>();
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.views = new Views(options.now, options.share);
    this.hub = options.hub ?? new Hub();
    this.hub.feeds.push(this);
    // One listener or two for each kind: Node 20 takes more than ten for a leak.
    setMaxListeners(0, this.#stop.signal);
    for (const kind of WATCHED_KINDS) this.#kinds.set(kind, { kind, state: 'loading' });
  }

  get #of(): { cluster?: string } {
    const { cluster } = this.#options;
    return cluster === undefined ? {} : { cluster };
  }

  kinds(): KindState[] {
    return [...this.#kinds.values()].map((state) => ({ ...state, ...this.#of }));
  }

  snapshot(): Snapshot {
    const views = Object.entries(this.views.snapshot()).map(([name, each]) => [name, { ...each, ...this.#of }]);
    return { kinds: this.kinds(), ...(Object.fromEntries(views) as ViewChanges) };
  }

  /** Starts the watches. `namespaces`: the only ones to read; undefined: those of the options. */
  start(namespaces?: readonly string[]): void {
    if (this.#stop.signal.aborted) return;
    this.#watchAll(namespaces);
    const due = setInterval(() => {
      this.views.touchDue();
      this.#schedulePublish();
    }, DUE_MS);
    this.#stop.signal.addEventListener('abort', () => {
      clearInterval(due);
      clearTimeout(this.#timer);
    });
  }

  /** Ends the watches. The hub, with the streams, may have other feeds: `closePages` closes it. */
  stop(): void {
    this.#stop.abort();
  }

  #watchAll(namespaces: readonly string[] | undefined): void {
    for (const kind of WATCHED_KINDS) {
      if (isOfCluster(kind)) this.#watch(kind, undefined);
      else if (!namespaces) this.#watch(kind, this.#options.namespace);
      else {
        const states = new Map<string, WatchState>();
        this.#noteScope(kind, namespaces);
        for (const namespace of namespaces) this.#watch(kind, namespace, states);
      }
    }
  }

  /** Watches a kind. `states`: those of its namespaces, if each is watched alone. */
  #watch(kind: WatchedKind, namespace: string | undefined, states?: Map<string, WatchState>): void {
    const { client, namespace: only, fallback } = this.#options;
    const elsewhere = () =>
      [...this.views.objects.all(kind)].filter(({ metadata }) => metadata.namespace !== namespace);
    const sink: Sink = {
      replace: (objects) =>
        this.#applyChange(() => this.views.replace(kind, states ? [...elsewhere(), ...objects] : objects)),
      set: (object) => this.#applyChange(() => this.views.set(kind, object)),
      remove: (object) => this.#applyChange(() => this.views.remove(kind, object)),
      state: (state) => {
        const scope = only ?? state.namespace;
        if (!states) this.#noteScope(kind, scope === undefined ? undefined : [scope]);
        this.#noteUnread(kind, states && namespace, state);
        this.#setKindState({ kind, ...(states ? mergedState(states.set(namespace!, state)) : state) }, kind);
      },
    };
    const options = { sink, signal: this.#stop.signal, ...(!isOfCluster(kind) && { fallback }) };
    void keepWatching(client, { ...resourceOf(KINDS[kind]), namespace }, options);
  }

  #setKindState(state: KindState, kind: WatchedKind): void {
    if (JSON.stringify(this.#kinds.get(kind)) === JSON.stringify(state)) return;
    this.#kinds.set(kind, state);
    this.hub.send('kinds', this.kinds());
    this.#schedulePublish();
  }

  #noteScope(kind: WatchedKind, namespaces: readonly string[] | undefined): void {
    if (this.views.objects.setScope(kind, namespaces)) this.views.touchAll();
  }

  /** `namespace` undefined: where the kind is read at all. */
  #noteUnread(kind: WatchedKind, namespace: string | undefined, { state }: WatchState): void {
    // While the API server does not answer, the last state counts.
    if (state !== 'forbidden' && state !== 'absent' && state !== 'live') return;
    // A kind of Flux that is not installed has no bound objects.
    const isRead = state === 'live' || (state === 'absent' && isBoundKind(kind));
    if (this.views.objects.setUnread(kind, namespace, isRead ? undefined : UNREAD[state])) this.views.touchAll();
  }

  #applyChange(change: () => void): void {
    change();
    this.#schedulePublish();
  }

  #schedulePublish(): void {
    if (this.#timer || !this.views.isStale || this.#stop.signal.aborted) return;
    this.#timer = setTimeout(() => void turn().then(() => this.#publish()), GATHER_MS);
  }

  #publish(): void {
    this.#timer = undefined;
    if (this.#stop.signal.aborted) return;
    const change = this.views.refresh();
    for (const [name, each] of Object.entries(change) as [keyof ViewChanges, ViewChanges['rows']][]) {
      if (each.set.length + each.gone.length > 0) this.hub.send(name, { ...each, ...this.#of });
    }
    // The other stale views follow, after those of other readers.
    if (this.views.isStale) this.#timer = setTimeout(() => void turn().then(() => this.#publish()), 0);
  }
}

function isOfCluster(kind: WatchedKind): boolean {
  return kind === 'ClusterRolloutSchedule' || kind === 'ClusterRolloutBudget';
}

/**
 * The state of a kind that is read in several namespaces: live if it is live in one, with the namespaces of these, and
 * with those in which it is forbidden.
 */
function mergedState(states: ReadonlyMap<string, WatchState>): WatchState {
  const those = (wanted: KindState['state']) =>
    [...states].flatMap(([namespace, { state }]) => (state === wanted ? [namespace] : [])).sort();
  const [live, forbidden] = [those('live'), those('forbidden')];
  if (live.length > 0)
    return { state: 'live', namespace: live.join(', '), ...(forbidden.length > 0 && { forbiddenIn: forbidden }) };
  const all = [...states.values()];
  return all.find(({ state }) => state !== 'forbidden') ?? all[0]!;
}

type WatchState = Omit<KindState, 'kind'>;

/** Receives the objects of a kind, and the state of its watch. */
interface Sink {
  /** Replaces all objects, after the first read or a new one. */
  replace(objects: AnyObject[]): void;
  set(object: AnyObject): void;
  remove(object: AnyObject): void;
  state(state: WatchState): void;
}

/** The interval of attempts to read a forbidden or absent kind: a role may be granted, or a CRD be installed. */
const RETRY_MS = 30_000;
/** The interval of probes while disconnected: a resumed watch is silent until something changes. */
const PROBE_MS = 1000;
/** The shorter interval of attempts after a sign-out: a user who signs in again wants to continue at once. */
const SIGNED_OUT_RETRY_MS = 3000;

/**
 * Watches a kind until the signal aborts, and tries again if it can't be read. `fallback`: the namespace to read if the
 * reader can't read the whole cluster; absent for a kind without namespaces.
 */
export async function keepWatching(
  client: KubeClient,
  from: Collection,
  { sink, fallback, signal }: { sink: Sink; fallback?: string; signal: AbortSignal },
): Promise<void> {
  let where = from;
  while (!signal.aborted) {
    const scope = where === from || fallback === undefined ? {} : { namespace: fallback };
    let isLost = false;
    const live = () => {
      isLost = false;
      sink.state({ state: 'live', ...scope });
    };
    const lost = ({ message: why }: Error) => {
      sink.state({ state: 'reconnecting', why, ...scope });
      if (isLost) return;
      isLost = true;
      void untilAnswered(client, () => isLost && !signal.aborted).then(() => isLost && live());
    };
    try {
      for await (const change of follow<AnyObject>(client, where, signal)) {
        if (change.type === 'lost') {
          lost(change.error);
          continue;
        }
        sendChange(sink, change);
        live();
      }
    } catch (error) {
      isLost = false;
      if (!isApiError(error)) throw error;
      const { code, message: why } = error;
      if (code === 403 && !where.namespace && fallback !== undefined) {
        where = { ...from, namespace: fallback };
        continue;
      }
      const state = code === 401 ? 'signed-out' : code === 403 ? 'forbidden' : 'absent';
      if (state !== 'signed-out') sink.replace([]);
      sink.state({ state, why, ...scope });
      await wait(state === 'signed-out' ? SIGNED_OUT_RETRY_MS : RETRY_MS, undefined, { signal }).catch(() => {});
      where = from;
    }
  }
}

/** Passes a change on, and empties its list: the loops that wait for the next change would keep it in memory. */
function sendChange(sink: Sink, change: Exclude<CollectionChange<AnyObject>, { type: 'lost' }>): void {
  if (change.type === 'all') sink.replace(change.items.splice(0).map(withoutManagedFields));
  else if (change.type === 'set') sink.set(withoutManagedFields(change.object));
  else sink.remove(change.object);
}

/** Resolves when the API server gives any answer, or when `isAwaited` is false. */
async function untilAnswered(client: KubeClient, isAwaited: () => boolean): Promise<void> {
  while (isAwaited()) {
    try {
      await client.raw('/version');
      return;
    } catch (error) {
      if (isApiError(error) && error.code > 0) return;
    }
    await wait(PROBE_MS);
  }
}
