/**
 * A cache of one resource, kept by list and watch. Everything that reads it may be late, never wrong in the long run.
 */
import type { KubeObject } from '../../../api/kubernetes.ts';
import { type Resource, resourcePath } from '../../client/resources.ts';
import { ApiError } from '../../client/send.ts';
import { keyOf } from '../json/objects.ts';
import { type Clock, pause } from '../runtime/clock.ts';
import { type Log, reasonOf } from '../runtime/log.ts';
import { type ApiClient, hasCode } from './apiClient.ts';
import { ObjectStore } from './store.ts';

export interface Subscriber {
  added(object: KubeObject): void;
  /** After a relist also with an unchanged resourceVersion; at a resync old and current are the same object. */
  updated(old: KubeObject, current: KubeObject): void;
  removed(last: KubeObject): void;
}

interface WatchEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: KubeObject & { code?: number; message?: string };
}

const GONE = 410;
const FIRST_RETRY_MS = 200;
const LONGEST_RETRY_MS = 5000;

interface Services {
  client: ApiClient;
  clock: Clock;
  log: Log;
  signal: AbortSignal;
}

export class Informer {
  readonly resource: Resource;
  readonly store = new ObjectStore();
  readonly #services: Services;
  readonly #subscribers = new Set<Subscriber>();
  readonly #firstList = Promise.withResolvers<void>();
  #synced = false;
  #resourceVersion: string | undefined;
  #reported: string | undefined;

  constructor(resource: Resource, services: Services) {
    this.resource = resource;
    this.#services = services;
    void this.#run();
  }

  get synced(): boolean {
    return this.#synced;
  }

  /** Resolves with the first complete list. */
  whenSynced(): Promise<void> {
    return this.#firstList.promise;
  }

  /** The subscriber gets everything that exists already as an update. The returned function unsubscribes. */
  subscribe(subscriber: Subscriber): () => void {
    this.#subscribers.add(subscriber);
    this.resync(subscriber);
    return () => this.#subscribers.delete(subscriber);
  }

  resync(subscriber: Subscriber): void {
    for (const object of this.store.list()) subscriber.updated(object, object);
  }

  async #run(): Promise<void> {
    const { clock, signal } = this.#services;
    let retryMs = FIRST_RETRY_MS;
    while (!signal.aborted) {
      try {
        if (this.#resourceVersion === undefined) await this.#list();
        await this.#watch();
        retryMs = FIRST_RETRY_MS;
      } catch (error) {
        if (signal.aborted) return;
        if (hasCode(error, GONE)) {
          this.#resourceVersion = undefined;
          continue;
        }
        this.#report(reasonOf(error));
        // A server that lost its data would take our resourceVersion for one in its future and wait.
        if (error instanceof ApiError) this.#resourceVersion = undefined;
        await pause(clock, retryMs * (1 + clock.random()), signal);
        retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS);
      }
    }
  }

  /** Once per reason: a server that is away for a minute is one message, not one per attempt. */
  #report(reason: string): void {
    if (reason === this.#reported) return;
    this.#reported = reason;
    const { apiVersion, name } = this.resource;
    this.#services.log.problem('list or watch failed, trying again', { apiVersion, resource: name, error: reason });
  }

  async #list(): Promise<void> {
    const { apiVersion, kind } = this.resource;
    const list = await this.#services.client.get<KubeObject & { items: KubeObject[] | null }>(
      resourcePath(this.resource),
    );
    const gone = new Set(this.store.keys());
    for (const item of list.items ?? []) {
      // Built-in types come without the two in a list.
      item.apiVersion ??= apiVersion;
      item.kind ??= kind;
      gone.delete(keyOf(item));
      this.#put(item);
    }
    for (const key of gone) this.#remove(key);
    this.#resourceVersion = list.metadata.resourceVersion;
    this.#synced = true;
    this.#firstList.resolve();
  }

  async #watch(): Promise<void> {
    const { client, clock, signal } = this.#services;
    const query = new URLSearchParams({
      watch: '1',
      allowWatchBookmarks: 'true',
      resourceVersion: this.#resourceVersion ?? '',
      timeoutSeconds: String(300 + Math.floor(clock.random() * 300)),
    });
    const path = `${resourcePath(this.resource)}?${query}`;
    for await (const { type, object } of client.watch<WatchEvent>(path, signal)) {
      this.#reported = undefined;
      if (type === 'ERROR') throw new ApiError(object.code ?? 500, 'Watch', object.message ?? 'the watch failed');
      if (type === 'ADDED' || type === 'MODIFIED') this.#put(object);
      else if (type === 'DELETED') this.#remove(keyOf(object), object);
      this.#resourceVersion = object.metadata.resourceVersion;
    }
  }

  #put(object: KubeObject): void {
    const old = this.store.put(object);
    for (const subscriber of this.#subscribers) {
      if (old) subscriber.updated(old, object);
      else subscriber.added(object);
    }
  }

  #remove(key: string, last?: KubeObject): void {
    const old = this.store.remove(key);
    const object = last ?? old;
    if (!object) return;
    for (const subscriber of this.#subscribers) subscriber.removed(object);
  }
}
