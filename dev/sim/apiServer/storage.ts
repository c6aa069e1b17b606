/** Every stored version of every object, in order, as in etcd. Stored objects are shared and never changed. */
import type { AnyObject } from '../../client/send.ts';
import { settled } from './values.ts';

export interface StoredEvent {
  /** Milliseconds since 1970. */
  at: number;
  revision: number;
  /** `group/resource`. */
  resource: string;
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** The object; after a deletion its last version, with the revision of the deletion. */
  object: AnyObject;
  before: AnyObject | undefined;
}

export class Storage {
  readonly #now: () => number;
  readonly events: StoredEvent[] = [];
  revision = 1;
  readonly #objects = new Map<string, Map<string, AnyObject>>();
  readonly #listeners = new Set<(event: StoredEvent) => void>();

  constructor(now: () => number) {
    this.#now = now;
  }

  get(resource: string, key: string): AnyObject | undefined {
    return this.#objects.get(resource)?.get(key);
  }

  list(resource: string, namespace?: string): AnyObject[] {
    const all = [...(this.#objects.get(resource)?.values() ?? [])];
    return namespace ? all.filter(({ metadata }) => metadata.namespace === namespace) : all;
  }

  all(): [resource: string, object: AnyObject][] {
    return [...this.#objects].flatMap(([resource, objects]) =>
      [...objects.values()].map((object): [string, AnyObject] => [resource, object]),
    );
  }

  /** Stores the next version and returns it with its resourceVersion. */
  put(resource: string, object: AnyObject): AnyObject {
    const key = keyOf(object);
    const objects = this.#objects.get(resource) ?? new Map<string, AnyObject>();
    this.#objects.set(resource, objects);
    const before = objects.get(key);
    const stored = this.#next(object);
    objects.set(key, stored);
    this.#publish({
      at: this.#now(),
      revision: this.revision,
      resource,
      type: before ? 'MODIFIED' : 'ADDED',
      object: stored,
      before,
    });
    return stored;
  }

  remove(resource: string, object: AnyObject): void {
    this.#objects.get(resource)?.delete(keyOf(object));
    const last = this.#next(object);
    const { revision } = this;
    this.#publish({ at: this.#now(), revision, resource, type: 'DELETED', object: last, before: object });
  }

  /** Calls the listener with each event from now on; the returned function unsubscribes. */
  follow(listener: (event: StoredEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #next(object: AnyObject): AnyObject {
    const resourceVersion = String(++this.revision);
    return settled({ ...object, metadata: { ...object.metadata, resourceVersion } });
  }

  #publish(event: StoredEvent): void {
    this.events.push(event);
    for (const listener of this.#listeners) listener(event);
  }
}

export function keyOf({ metadata }: AnyObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}
