/**
 * Runs what the CompositeController and DecoratorController objects of the cluster describe, and follows their changes.
 */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { Engine } from '../cluster/engine.ts';
import { compositeController, decoratorController } from '../hooks/controllerSpec.ts';
import { pause } from '../runtime/clock.ts';
import { reasonOf } from '../runtime/log.ts';
import { compositeLoop } from './composite.ts';
import { decoratorLoop } from './decorator.ts';
import type { ParentLoop } from './parentLoop.ts';

const API_VERSION = 'metacontroller.k8s.io/v1alpha1';
const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 5000;

type CreateLoop = (engine: Engine, controller: KubeObject) => Promise<ParentLoop>;

const KINDS: { resource: string; kind: string; create: CreateLoop }[] = [
  {
    resource: 'compositecontrollers',
    kind: 'CompositeController',
    create: async (engine, controller) => compositeLoop(engine, compositeController(controller)),
  },
  {
    resource: 'decoratorcontrollers',
    kind: 'DecoratorController',
    create: async (engine, controller) => decoratorLoop(engine, decoratorController(controller)),
  },
];

interface Running {
  spec: unknown;
  end: AbortController;
  ended: Promise<void>;
  /** Resolves when its caches are complete, or when it could not be started for the first time. */
  settled: Promise<void>;
}

export class ControllerSet {
  readonly #engine: Engine;
  readonly #running = new Map<string, Running>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Resolves when the controllers that exist now have complete caches, or have been reported as not startable. */
  async start(): Promise<void> {
    const informers = KINDS.map(({ resource, kind, create }) => {
      const informer = this.#engine.informer({
        apiVersion: API_VERSION,
        name: resource,
        kind,
        namespaced: false,
        hasStatusSubresource: true,
      });
      const follow = (controller: KubeObject) => this.#follow(kind, controller, create);
      informer.subscribe({
        added: follow,
        updated: (_old, current) => follow(current),
        removed: (controller) => this.#end(nameOf(kind, controller)),
      });
      return informer.whenSynced();
    });
    await Promise.all(informers);
    await Promise.all([...this.#running.values()].map(({ settled }) => settled));
  }

  /** Resolves when all controllers have finished what they had begun. */
  async stop(): Promise<void> {
    const all = [...this.#running.values()];
    for (const { end } of all) end.abort();
    await Promise.all(all.map(({ ended }) => ended));
  }

  #follow(kind: string, controller: KubeObject, create: CreateLoop): void {
    const name = nameOf(kind, controller);
    const before = this.#running.get(name);
    if (before && isDeepStrictEqual(before.spec, controller.spec)) return;
    before?.end.abort();
    const end = new AbortController();
    const settled = Promise.withResolvers<void>();
    // A successor waits for the syncs of its predecessor: no parent is worked on twice at the same time.
    const ended = (before?.ended ?? Promise.resolve()).then(() =>
      this.#run(name, () => create(this.#engine, controller), end.signal, settled.resolve),
    );
    this.#running.set(name, { spec: controller.spec, end, ended, settled: settled.promise });
  }

  #end(name: string): void {
    const running = this.#running.get(name);
    running?.end.abort();
    this.#running.delete(name);
  }

  /** Runs the controller until the signal. Tries until it can start: a CRD, for example, may be installed later. */
  async #run(name: string, create: () => Promise<ParentLoop>, signal: AbortSignal, settled: () => void): Promise<void> {
    const { clock, log } = this.#engine;
    let reported = '';
    for (let retryMs = FIRST_RETRY_MS; !signal.aborted; retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS)) {
      try {
        const loop = await create();
        await Promise.race([loop.start(), aborted(signal)]);
        settled();
        await aborted(signal);
        await loop.stop();
      } catch (error) {
        const reason = reasonOf(error);
        if (reason !== reported)
          log.problem('controller cannot start, trying again', { controller: name, error: reason });
        reported = reason;
        settled();
        await pause(clock, retryMs, signal);
      }
    }
    settled();
  }
}

function nameOf(kind: string, controller: KubeObject): string {
  return `${kind} ${controller.metadata.name}`;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
