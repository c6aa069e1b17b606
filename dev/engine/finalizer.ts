/** The finalizer that keeps a deleted parent until the finalize hook has said that it is done. */
import type { KubeObject } from '../../api/kubernetes.ts';
import type { Resource } from './discovery.ts';
import type { Engine } from './engine.ts';
import { liveUpdate } from './liveUpdate.ts';

/** With one of these the garbage collector decides about the children. */
const GC_FINALIZERS = ['foregroundDeletion', 'orphan'];

export class Finalizer {
  readonly name: string;
  readonly #wanted: boolean;
  readonly #engine: Engine;

  constructor(engine: Engine, name: string, wanted: boolean) {
    this.#engine = engine;
    this.name = name;
    this.#wanted = wanted;
  }

  isOn(object: KubeObject): boolean {
    return object.metadata.finalizers?.includes(this.name) ?? false;
  }

  /** Adds it before anything else is done for the parent, or removes one left from an earlier controller. */
  async ensure(resource: Resource, parent: KubeObject): Promise<KubeObject> {
    if (this.isOn(parent) === this.#wanted) return parent;
    if (!this.#wanted) return this.remove(resource, parent);
    if (parent.metadata.deletionTimestamp !== undefined) return parent;
    return liveUpdate(this.#engine.client, this.#engine.clock, resource, parent, (live) => {
      if (this.isOn(live)) return undefined;
      const finalizers = [...(live.metadata.finalizers ?? []), this.name];
      return { ...live, metadata: { ...live.metadata, finalizers } };
    });
  }

  remove(resource: Resource, parent: KubeObject): Promise<KubeObject> {
    return liveUpdate(this.#engine.client, this.#engine.clock, resource, parent, (live) => {
      return this.isOn(live) ? this.without(live) : undefined;
    });
  }

  without(object: KubeObject): KubeObject {
    const finalizers = object.metadata.finalizers?.filter((name) => name !== this.name);
    return { ...object, metadata: { ...object.metadata, finalizers } };
  }

  /** Children of a parent that is being deleted are looked after only while the finalize hook is at work. */
  managesChildren(parent: KubeObject): boolean {
    if (parent.metadata.deletionTimestamp === undefined) return true;
    const collected = parent.metadata.finalizers?.some((name) => GC_FINALIZERS.includes(name)) ?? false;
    return this.#wanted && !collected && this.isOn(parent);
  }
}
