/** The loop of both kinds of controllers: events of parents and children fill a queue, workers empty it. */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../../api/kubernetes.ts';
import { groupOf } from '../../../core/kube/names.ts';
import { compileSelector } from '../../../core/kube/selector.ts';
import type { Resource } from '../../client/resources.ts';
import { type UpdateMethods, updateMethods } from '../children/manage.ts';
import type { Engine } from '../cluster/engine.ts';
import type { Informer, Subscriber } from '../cluster/informer.ts';
import type { ChildRule, CompositeController, DecoratorController, ParentRule } from '../hooks/controllerSpec.ts';
import { type HookClient, hookClient, TooManyRequests } from '../hooks/hookClient.ts';
import { controllerOf, keyOf, kindKey, type ObjectGroups } from '../json/objects.ts';
import { WorkQueue } from '../queue/workQueue.ts';
import { Customize, NotSyncedError } from '../related/customize.ts';
import { every, goDurationMs } from '../runtime/clock.ts';
import { LIMITS } from '../runtime/limits.ts';
import { reasonOf } from '../runtime/log.ts';

/** Metacontroller's resync period. */
const DEFAULT_RESYNC_SECONDS = 30 * 60;

export interface ParentKind {
  resource: Resource;
  ignoreStatusChanges: boolean;
  /** Whether the controller selects this object. */
  concerns(parent: KubeObject): boolean;
}

/** The parts that both kinds of controllers have. */
interface CommonParts {
  controller: CompositeController | DecoratorController;
  syncHook: HookClient;
  customizeHook: HookClient | undefined;
  parents: readonly ParentKind[];
  children: readonly Resource[];
  methods: UpdateMethods;
}

/** Reads what the controller names. Throws when something isn't served (yet). */
export async function loopParts(
  engine: Engine,
  controller: CommonParts['controller'],
  parentRules: readonly ParentRule[],
  childRules: readonly ChildRule[],
): Promise<CommonParts> {
  const { hooks, endpointConfigs } = controller.spec;
  const resourceOf = ({ apiVersion, resource: name }: ParentRule | ChildRule) =>
    engine.client.resource(apiVersion, { name });
  const children = await Promise.all(childRules.map(resourceOf));
  const parents = parentRules.map(async (rule): Promise<ParentKind> => {
    const matches = compileSelector(rule.labelSelector);
    return {
      resource: await resourceOf(rule),
      ignoreStatusChanges: rule.ignoreStatusChanges ?? false,
      concerns: ({ metadata }) => matches(metadata.labels),
    };
  });
  return {
    controller,
    syncHook: await hookClient(hooks.sync, engine, endpointConfigs),
    customizeHook: hooks.customize && (await hookClient(hooks.customize, engine, endpointConfigs)),
    parents: await Promise.all(parents),
    children,
    methods: updateMethods(childRules, children),
  };
}

interface LoopParts extends CommonParts {
  sync(job: SyncJob): Promise<void>;
  /** Parents that may want to adopt a child without a controller. */
  adopters?(child: KubeObject, parents: Iterable<KubeObject>): Iterable<KubeObject>;
}

export interface SyncJob {
  parent: KubeObject;
  kind: ParentKind;
  /** The related objects; calls the customize hook unless its answer is cached. Throws errors that fail the sync. */
  related(): Promise<ObjectGroups>;
  resyncAfter(seconds: number): void;
}

interface WatchedParents extends ParentKind {
  informer: Informer;
  prefix: string;
}

export class ParentLoop {
  readonly children: readonly Informer[];
  readonly #engine: Engine;
  readonly #parts: LoopParts;
  readonly #parents: readonly WatchedParents[];
  readonly #queue: WorkQueue;
  readonly #customize: Customize;
  readonly #ends: (() => void)[] = [];
  #stopped = false;

  constructor(engine: Engine, parts: LoopParts) {
    this.#engine = engine;
    this.#parts = parts;
    this.#queue = new WorkQueue(engine.clock, LIMITS.workers, (key) => this.#work(key));
    this.#parents = parts.parents.map((kind) => ({
      ...kind,
      informer: engine.informer(kind.resource),
      prefix: `${kindKey(kind.resource.apiVersion, kind.resource.kind)} `,
    }));
    this.children = parts.children.map((resource) => engine.informer(resource));
    this.#customize = new Customize(engine, {
      hook: parts.customizeHook,
      controller: parts.controller,
      parent: (key) => this.#find(key)?.parent,
      enqueue: (key) => this.#queue.add(key),
    });
  }

  /** Resolves when the caches are complete and the workers run. */
  async start(): Promise<void> {
    for (const kind of this.#parents) {
      const subscriber = this.#parentEvents(kind);
      this.#ends.push(kind.informer.subscribe(subscriber));
      const seconds = Math.max(1, this.#parts.controller.spec.resyncPeriodSeconds ?? DEFAULT_RESYNC_SECONDS);
      this.#ends.push(every(this.#engine.clock, seconds * 1000, () => kind.informer.resync(subscriber)));
    }
    for (const informer of this.children) this.#ends.push(informer.subscribe(this.#childEvents()));
    await Promise.all([...this.#parents.map(({ informer }) => informer), ...this.children].map((i) => i.whenSynced()));
    if (!this.#stopped) this.#queue.start();
  }

  /** Resolves when the syncs that have begun are finished. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const end of this.#ends) end();
    await this.#queue.stop();
    this.#customize.stop();
  }

  #parentEvents(kind: WatchedParents): Subscriber {
    const enqueue = (parent: KubeObject) => {
      if (kind.concerns(parent)) this.#queue.add(kind.prefix + keyOf(parent));
    };
    return {
      added: enqueue,
      updated: (old, current) => {
        if (!kind.ignoreStatusChanges || concernsMoreThanStatus(old, current)) enqueue(current);
      },
      removed: enqueue,
    };
  }

  #childEvents(): Subscriber {
    return {
      added: (child) => this.#childChanged(child),
      updated: (old, current) => {
        // A relist: parents are resynced by their own events.
        if (old.metadata.resourceVersion !== current.metadata.resourceVersion) this.#childChanged(current);
      },
      removed: (child) => this.#ownerOf(child, (key) => this.#queue.add(key)),
    };
  }

  #childChanged(child: KubeObject): void {
    if (controllerOf(child)) {
      this.#ownerOf(child, (key) => this.#queue.add(key));
    } else if (child.metadata.deletionTimestamp === undefined && this.#parts.adopters) {
      for (const { informer, prefix, resource, concerns } of this.#parents) {
        const nearby = informer.store.list(resource.namespaced ? child.metadata.namespace : undefined);
        for (const parent of this.#parts.adopters(child, nearby)) {
          if (concerns(parent)) this.#queue.add(prefix + keyOf(parent));
        }
      }
    }
  }

  /** Calls `found` with the key of the parent that controls the child, if this controller has that parent. */
  #ownerOf(child: KubeObject, found: (key: string) => void): void {
    const owner = controllerOf(child);
    if (!owner) return;
    for (const { informer, prefix, resource, concerns } of this.#parents) {
      // The version may be another one than ours.
      if (owner.kind !== resource.kind || groupOf(owner.apiVersion) !== groupOf(resource.apiVersion)) continue;
      const key = resource.namespaced ? `${child.metadata.namespace}/${owner.name}` : owner.name;
      const parent = informer.store.get(key);
      if (parent && parent.metadata.uid === owner.uid && concerns(parent)) found(prefix + key);
    }
  }

  #find(key: string): { kind: WatchedParents; parent: KubeObject | undefined } | undefined {
    const kind = this.#parents.find(({ prefix }) => key.startsWith(prefix));
    return kind && { kind, parent: kind.informer.store.get(key.slice(kind.prefix.length)) };
  }

  async #work(key: string): Promise<void> {
    try {
      const { kind, parent } = this.#find(key) ?? {};
      if (!kind || !parent) this.#customize.forget(key);
      else if (kind.concerns(parent)) await this.#sync(key, kind, parent);
      this.#queue.forget(key);
    } catch (error) {
      if (error instanceof TooManyRequests) {
        this.#queue.addAfter(key, error.afterSeconds * 1000);
        return;
      }
      if (!this.#stopped && !(error instanceof NotSyncedError)) {
        const { kind, metadata } = this.#parts.controller;
        const controller = `${kind} ${metadata.name}`;
        this.#engine.log.problem('sync failed', { controller, parent: key, error: reasonOf(error) });
      }
      this.#queue.addRateLimited(key);
    }
  }

  #sync(key: string, kind: ParentKind, parent: KubeObject): Promise<void> {
    return this.#parts.sync({
      parent,
      kind,
      related: () => this.#customize.relatedOf(key, parent),
      resyncAfter: (seconds) => {
        if (seconds > 0) this.#queue.addAfter(key, goDurationMs(seconds));
      },
    });
  }
}

/** Whether an update changes more than the status. A resync counts: its old and current object are the same. */
function concernsMoreThanStatus(old: KubeObject, current: KubeObject): boolean {
  return (
    old === current ||
    old.metadata.generation !== current.metadata.generation ||
    !isDeepStrictEqual(old.metadata.labels ?? {}, current.metadata.labels ?? {}) ||
    !isDeepStrictEqual(old.metadata.annotations ?? {}, current.metadata.annotations ?? {}) ||
    current.metadata.deletionTimestamp !== undefined
  );
}
