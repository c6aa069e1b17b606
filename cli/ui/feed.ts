/** Watches, views and streams joined: what changes in the cluster reaches every open page a moment later, in one message. */

import { KINDS, resourceOf } from '../../api/kinds.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { KindState } from '../../client/board/messages.ts';
import { branches } from '../kube/branches.ts';
import type { KubeClient } from '../kube/client.ts';
import { Hub } from './hub.ts';
import { EXPLAINED, isBound, WATCHED, type Watched } from './objects.ts';
import { type Change, Views } from './views.ts';
import { keepWatching } from './watch.ts';

/** How long changes are gathered: a release is a dozen writes within a second. */
const GATHER_MS = 80;
const DUE_MS = 5_000;
const BEAT_MS = 15_000;

export interface FeedOptions {
  client: KubeClient;
  /** Only this one; undefined: all. */
  namespace?: string | undefined;
  /** Read where the whole cluster may not be. */
  fallback: string;
  now: () => EpochMs;
}

export class Feed {
  readonly views: Views;
  readonly hub = new Hub();
  readonly #options: FeedOptions;
  readonly #kinds = new Map<Watched, KindState>();
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.views = new Views(options.now);
    for (const kind of WATCHED) this.#kinds.set(kind, { kind, state: 'loading' });
  }

  kinds(): KindState[] {
    return [...this.#kinds.values()];
  }

  start(): void {
    this.#watchAll();
    const due = setInterval(() => {
      this.views.touchDue();
      this.#soon();
    }, DUE_MS);
    const beat = setInterval(() => this.hub.beat(), BEAT_MS);
    this.#stop.signal.addEventListener('abort', () => {
      clearInterval(due);
      clearInterval(beat);
      clearTimeout(this.#timer);
      this.hub.close();
    });
  }

  stop(): void {
    this.#stop.abort();
  }

  #watchAll(): void {
    const { client, namespace, fallback } = this.#options;
    const branch = branches(this.#stop.signal);
    for (const kind of WATCHED) {
      const signal = branch();
      const sink = {
        replace: (objects: Parameters<Views['replace']>[1]) => this.#changed(() => this.views.replace(kind, objects)),
        set: (object: Parameters<Views['set']>[1]) => this.#changed(() => this.views.set(kind, object)),
        remove: (object: Parameters<Views['remove']>[1]) => this.#changed(() => this.views.remove(kind, object)),
        state: (state: Omit<KindState, 'kind'>) => this.#kindIs({ kind, ...state }, kind),
      };
      const from = resourceOf(KINDS[kind]);
      if (isOfCluster(kind)) void keepWatching(client, from, { sink, signal });
      else void keepWatching(client, { ...from, namespace }, { sink, fallback, signal });
    }
  }

  #kindIs(state: KindState, kind: Watched): void {
    if (JSON.stringify(this.#kinds.get(kind)) === JSON.stringify(state)) return;
    this.#kinds.set(kind, state);
    if ((EXPLAINED as readonly Watched[]).includes(kind)) this.#explainedWithout(state, kind);
    this.hub.send('kinds', this.kinds());
    this.#soon();
  }

  #explainedWithout({ state }: KindState, kind: Watched): void {
    const { unread } = this.views.objects;
    const before = unread.get(kind)?.why;
    if (state === 'forbidden') unread.set(kind, { kind, why: 'forbidden' });
    // Where Flux has no such kind, nothing of it takes a version.
    else if (state === 'absent' && !isBound(kind)) unread.set(kind, { kind, why: 'not installed' });
    else if (state === 'live') unread.delete(kind);
    if (before !== unread.get(kind)?.why) this.views.touchAll();
  }

  #changed(change: () => void): void {
    change();
    this.#soon();
  }

  #soon(): void {
    if (this.#timer || !this.views.isStale || this.#stop.signal.aborted) return;
    this.#timer = setTimeout(() => this.#publish(), GATHER_MS);
  }

  #publish(): void {
    this.#timer = undefined;
    const change = this.views.refresh();
    for (const [name, each] of Object.entries(change) as [keyof Change, Change['rows']][]) {
      if (each.set.length + each.gone.length > 0) this.hub.send(name, each);
    }
    // The rest at once, but whoever else waits comes first.
    if (this.views.isStale) this.#timer = setTimeout(() => this.#publish(), 0);
  }
}

function isOfCluster(kind: Watched): boolean {
  return kind === 'ClusterRolloutSchedule' || kind === 'ClusterRolloutBudget';
}
