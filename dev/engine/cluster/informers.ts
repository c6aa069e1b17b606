/** Informers, one per resource, shared by all controllers and stopped with their last user. */

import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { ApiClient } from './apiClient.ts';
import type { Resource } from './discovery.ts';
import { Informer } from './informer.ts';

export class SharedInformers {
  readonly #client: ApiClient;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #shared = new Map<string, { informer: Informer; users: number }>();

  constructor(client: ApiClient, clock: Clock, log: Log) {
    this.#client = client;
    this.#clock = clock;
    this.#log = log;
  }

  /** Give back what was acquired with `release`. */
  acquire(resource: Resource): Informer {
    const key = `${resource.apiVersion}/${resource.name}`;
    let entry = this.#shared.get(key);
    if (!entry) {
      entry = { informer: new Informer(resource, this.#client, this.#clock, this.#log), users: 0 };
      this.#shared.set(key, entry);
    }
    entry.users += 1;
    return entry.informer;
  }

  release(informer: Informer): void {
    const key = `${informer.resource.apiVersion}/${informer.resource.name}`;
    const entry = this.#shared.get(key);
    if (!entry) return;
    entry.users -= 1;
    if (entry.users > 0) return;
    this.#shared.delete(key);
    informer.stop();
  }

  stop(): void {
    for (const { informer } of this.#shared.values()) informer.stop();
    this.#shared.clear();
  }
}
