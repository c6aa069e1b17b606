/** A Flux object between the decorator, the binding and the webhook. */
import { expect } from 'vitest';
import type { FluxObject } from '../../../api/flux.ts';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { DecoratorResponse } from '../../../api/metacontroller.ts';
import type { HookCall } from '../../../api/ports.ts';
import type { FluxBinding, Gate, Rollout } from '../../../api/types.ts';
import { fakeHookCall } from '../../../dev/fakes/ports.ts';
import { controller, decorating, mapOf } from '../../../dev/fakes/requests.ts';
import { fluxBindingHook } from '../../../hooks/flux/fluxBindingHook.ts';
import { fluxHook } from '../../../hooks/flux/fluxHook.ts';
import { holdHook } from '../../../hooks/flux/holdHook.ts';
import { mutateFlux, validateFlux } from '../../../webhooks/flux/fluxAdmission.ts';
import { NOW } from '../../core/admission/objects.ts';
import { send } from '../../support/admission.ts';

const METACONTROLLER = { username: 'system:serviceaccount:metacontroller:metacontroller' };

/** A Flux object in a cluster of its own; `settle` plays Metacontroller. */
export class Cluster {
  object: FluxObject;
  binding: FluxBinding | undefined;
  gates: Gate[] = [];
  rollouts: Rollout[] = [];
  others: FluxBinding[] = [];
  /** The object that `spec.sourceRef` names. */
  source: FluxObject | undefined;
  /** The Kustomization that applies the object. */
  applier: FluxObject | undefined;
  namespaceLabels: Record<string, string> = {};
  now = NOW;
  noCrossNamespaceRefs = false;
  may: string[] = [];
  writes = 0;

  constructor(object: FluxObject) {
    this.object = object;
  }

  /** A settled object in this cluster. */
  static async settled(
    object: FluxObject,
    among: Partial<Pick<Cluster, 'gates' | 'rollouts' | 'applier' | 'source'>>,
  ): Promise<Cluster> {
    const cluster = Object.assign(new Cluster(object), among);
    await cluster.settle();
    return cluster;
  }

  private get call(): HookCall {
    const settings = { noCrossNamespaceRefs: this.noCrossNamespaceRefs };
    return fakeHookCall({ now: this.now, settings, objects: [...this.gates, ...(this.applier ? [this.applier] : [])] })
      .call;
  }

  private get namespace(): KubeObject {
    return { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels: this.namespaceLabels } };
  }

  /** The webhook's last answer. */
  answer: Awaited<ReturnType<typeof send<FluxObject>>> | undefined;

  /** Writes through both webhooks; resolves to whether the write was allowed. */
  async write(object: FluxObject, user = { username: 'developer' }, fieldManager?: string): Promise<boolean> {
    const applier = this.applier ? [this.applier] : [];
    const context = {
      objects: [...this.gates, ...this.rollouts, ...applier, ...(this.source ? [this.source] : []), this.namespace],
      now: this.now,
      settings: { noCrossNamespaceRefs: this.noCrossNamespaceRefs },
      may: this.may,
    };
    const options = fieldManager === undefined ? {} : { options: { fieldManager } };
    const mutated = await send(mutateFlux, { object, oldObject: this.object, user, ...options }, context);
    this.answer = mutated;
    if (!mutated.object) return false;
    const final = { object: mutated.object, oldObject: this.object, user };
    if (!(await send(validateFlux, final, context)).allowed) return false;
    if (JSON.stringify(mutated.object.spec) !== JSON.stringify(this.object.spec)) {
      const { metadata } = mutated.object;
      mutated.object.metadata = { ...metadata, generation: (metadata.generation ?? 0) + 1 };
    }
    this.object = mutated.object;
    return true;
  }

  /** The related Rollouts, which Metacontroller caches by generation. */
  #rules: { generation: number; names: string[] } | undefined;

  private async named(): Promise<Rollout[]> {
    const { generation = 0 } = this.object.metadata;
    if (this.#rules?.generation !== generation) {
      const { relatedResources } = await fluxHook.customize!(
        { controller, parent: this.object as KubeObject },
        this.call,
      );
      const names = relatedResources.flatMap(({ resource, names = [] }) => (resource === 'rollouts' ? names : []));
      this.#rules = { generation, names };
    }
    return this.rollouts.filter(({ metadata }) => this.#rules!.names.includes(metadata.name!));
  }

  /** The decorator that suspends and resumes. It gets all Gates of the object, and no other objects. */
  async hold() {
    return holdHook.sync(decorating(this.object, { related: [...this.gates, this.namespace] }), this.call);
  }

  /**
   * Both decorators as one: the one that suspends and resumes comes first if it has something to write, unless it
   * checks whether an object still bypasses.
   */
  async decorate(): Promise<DecoratorResponse> {
    const held = await this.hold();
    const passes = this.object.metadata.annotations?.['gate.fluxcd.io/state']?.startsWith('bypassing');
    if (held.annotations && !passes)
      return { ...held, attachments: this.binding ? [this.binding as unknown as KubeObject] : [] };
    const related = [...(await this.named()), ...this.others];
    return fluxHook.sync(decorating(this.object, { related, attachments: mapOf(this.binding) }), this.call);
  }

  async bind() {
    if (!this.binding) return;
    const parent = this.binding;
    const related = mapOf(...this.gates, ...this.rollouts, this.source, this.binding.spec?.awaits && this.applier);
    const { status } = await fluxBindingHook.sync(
      { controller, parent, children: {}, related, finalizing: false },
      this.call,
    );
    this.binding = { ...this.binding, status: status as NonNullable<FluxBinding['status']> };
  }

  /** Syncs until nothing changes and nothing is requested; fails after ten rounds. */
  async settle() {
    for (let round = 0; round < 10; round++) {
      const before = JSON.stringify([this.object, this.binding]);
      const answer = await this.decorate();
      if (answer.status) this.object = { ...this.object, status: answer.status as any };
      if (answer.annotations) {
        this.writes++;
        const annotations: Record<string, any> = { ...this.object.metadata.annotations, ...answer.annotations };
        for (const [key, value] of Object.entries(annotations)) if (value === null) delete annotations[key];
        const allowed = await this.write(
          { ...this.object, metadata: { ...this.object.metadata, annotations } },
          METACONTROLLER,
        );
        expect(allowed, 'our own writes always conform').toBe(true);
      }
      const [binding] = answer.attachments as unknown as FluxBinding[];
      this.binding = binding && { ...binding, ...(this.binding?.status && { status: this.binding.status }) };
      await this.bind();
      if (JSON.stringify([this.object, this.binding]) !== before) continue;
      expect(answer.annotations, 'what is stored is not asked for again each second').toBeUndefined();
      return;
    }
    throw new Error('never settles');
  }
}
