/** The objects of one resource, found by key, namespace or owner without a scan. */
import type { KubeObject } from '../../../api/kubernetes.ts';
import { controllerOf, keyOf } from '../json/objects.ts';

type Members = Map<string, KubeObject>;

export class ObjectStore {
  readonly #objects: Members = new Map();
  readonly #byNamespace = new Map<string, Members>();
  readonly #byOwner = new Map<string, Members>();

  get(key: string): KubeObject | undefined {
    return this.#objects.get(key);
  }

  keys(): Iterable<string> {
    return this.#objects.keys();
  }

  list(namespace?: string): Iterable<KubeObject> {
    return namespace ? (this.#byNamespace.get(namespace)?.values() ?? []) : this.#objects.values();
  }

  /** Objects whose controller has this uid; with a namespace, only those in it. */
  ownedBy(uid: string | undefined, namespace?: string): KubeObject[] {
    const owned = [...(this.#byOwner.get(uid ?? '')?.values() ?? [])];
    return namespace ? owned.filter((object) => object.metadata.namespace === namespace) : owned;
  }

  /** Stores the object; returns the one it replaces. */
  put(object: KubeObject): KubeObject | undefined {
    const key = keyOf(object);
    const old = this.remove(key);
    this.#objects.set(key, object);
    insert(this.#byNamespace, object.metadata.namespace, key, object);
    insert(this.#byOwner, controllerOf(object)?.uid, key, object);
    return old;
  }

  remove(key: string): KubeObject | undefined {
    const old = this.#objects.get(key);
    if (!old) return undefined;
    this.#objects.delete(key);
    erase(this.#byNamespace, old.metadata.namespace, key);
    erase(this.#byOwner, controllerOf(old)?.uid, key);
    return old;
  }
}

function insert(index: Map<string, Members>, entry: string | undefined, key: string, object: KubeObject): void {
  if (!entry) return;
  const members = index.get(entry);
  if (members) members.set(key, object);
  else index.set(entry, new Map([[key, object]]));
}

function erase(index: Map<string, Members>, entry: string | undefined, key: string): void {
  if (!entry) return;
  const members = index.get(entry);
  members?.delete(key);
  if (members?.size === 0) index.delete(entry);
}
