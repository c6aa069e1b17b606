/**
 * A cluster of one Rollout: objects in memory, a clock that is set by hand, and what the API server and Metacontroller
 * do around the hooks. Writes go through the admission handlers; a status that the CRD would refuse is refused here
 * too.
 */

import { expect } from 'vitest';
import type { AdmissionRequest } from '../../../api/admission.ts';
import type { ImagePolicy } from '../../../api/flux.ts';
import type { EpochMs, KubeObject } from '../../../api/kubernetes.ts';
import type { ObjectMap, RelatedResourceRule } from '../../../api/metacontroller.ts';
import type { EventRecord, HookCall, ReleaseMetadata, Settings, WebhookCall } from '../../../api/ports.ts';
import type { Rollout, RolloutStatus } from '../../../api/types.ts';
import { sameJson } from '../../../core/kube/json.ts';
import { matchesSelector } from '../../../core/kube/selector.ts';
import { formatTime } from '../../../core/kube/time.ts';
import type { ObjectRef } from '../../../dev/client/resources.ts';
import type { AnyObject } from '../../../dev/client/send.ts';
import { fakeCluster, fakeHookCall, fakeWebhookCall, pluralOf } from '../../../dev/fakes/ports.ts';
import { mapOf, requestOf } from '../../../dev/fakes/requests.ts';
import { enforcePolicies } from '../../../dev/sim/apiServer/admission.ts';
import { kindAt } from '../../../dev/sim/apiServer/kinds.ts';
import { mergePatched } from '../../../dev/sim/apiServer/requests.ts';
import { type Data, NAMESPACE, type Target } from '../../../dev/sim/steps.ts';
import { rolloutHook } from '../../../hooks/rollout/rolloutHook.ts';
import { rolloutRequestsHook } from '../../../hooks/rollout/rolloutRequestsHook.ts';
import { mutateGate } from '../../../webhooks/gate/gateAdmission.ts';
import { mutateRollout } from '../../../webhooks/rollout/rolloutAdmission.ts';
import { mutateRolloutStatus } from '../../../webhooks/rollout/rolloutStatusAdmission.ts';
import { mutateRolloutGate } from '../../../webhooks/rolloutGate/rolloutGateAdmission.ts';

/** The time `T0`. */
export const T0: EpochMs = Date.parse('2026-03-01T12:00:00Z');

export class ScenarioCluster implements Target {
  now: EpochMs = T0;
  /** null: the registry hasn't answered; other tags have no metadata. */
  readonly metadata: Record<string, ReleaseMetadata | null> = {};
  /** Events of the last sync. */
  events: EventRecord[] = [];
  resync: number | undefined;
  configMaps: KubeObject[] = [];
  /** The message of the last refused write. */
  denied: string | undefined;
  readonly settings: Pick<Settings, 'onFailure' | 'kuberikCompat' | 'trustPublishers'>;
  protected readonly objects = new Map<string, KubeObject<any, any>>();
  private serial = 0;

  constructor(settings: Pick<Settings, 'onFailure' | 'kuberikCompat' | 'trustPublishers'>) {
    this.settings = settings;
  }

  /** The stored object itself. */
  get rollout(): Rollout {
    const rollout = this.find('Rollout', NAMESPACE, 'test-resource');
    if (!rollout) throw new Error('the scenario has no Rollout');
    return rollout as unknown as Rollout;
  }

  find(kind: string, namespace: string, name: string): KubeObject<any, any> | undefined {
    return this.objects.get(`${kind}/${namespace}/${name}`);
  }

  /** Stored objects of one kind. */
  all<T>(kind: string): T[] {
    return [...this.objects.values()].filter((object) => object.kind === kind) as unknown as T[];
  }

  /** Creates or replaces the object without its status, and then the status; a Rollout's status is kept. */
  async put(object: KubeObject<any, any>, user = 'alice'): Promise<void> {
    const { name = '', namespace = '' } = object.metadata;
    const old = this.find(object.kind, namespace, name);
    const next = structuredClone(object);
    next.metadata.uid ??= old?.metadata.uid ?? `uid-${++this.serial}`;
    next.metadata.creationTimestamp ??= old?.metadata.creationTimestamp ?? formatTime(this.now);
    next.metadata.generation = old && sameJson(old.spec, next.spec) ? old.metadata.generation : ++this.serial;
    if (object.kind === 'Rollout') {
      delete next.status;
      if (old?.status) next.status = structuredClone(old.status);
    }
    // Other Gates in scenarios are stored as given: they have requests without the order of writes.
    const onGate = object.spec?.approvals ? mutateGate : undefined;
    const handler = { Rollout: mutateRollout, RolloutGate: mutateRolloutGate, Gate: onGate }[object.kind];
    const request = this.request(next, old, user);
    const result = handler ? await handler(request, this.webhookCall()) : undefined;
    if (result?.allowed === false) {
      this.denied = result.message;
      return;
    }
    const stored = result?.allowed && result.object ? result.object : next;
    this.objects.set(`${object.kind}/${namespace}/${name}`, structuredClone(stored));
  }

  /** The object as stored, with its status. */
  seed(object: KubeObject<any, any>): void {
    const { name = '', namespace = '' } = object.metadata;
    this.objects.set(`${object.kind}/${namespace}/${name}`, structuredClone(object));
  }

  async has({ kind, metadata: { namespace = '', name = '' } }: ObjectRef): Promise<boolean> {
    return this.find(kind, namespace, name) !== undefined;
  }

  async merge({ kind, metadata: { namespace = '', name = '' } }: ObjectRef, patch: Data, user?: string): Promise<void> {
    const old = this.find(kind, namespace, name);
    if (!old) throw new Error(`no ${kind} '${name}' in the scenario`);
    this.denied = undefined;
    await this.put(mergePatched(old, patch) as AnyObject, user);
  }

  report(object: ObjectRef, status: Data): Promise<void> {
    return this.merge(object, { status });
  }

  async remove(kind: string, namespace: string, name: string): Promise<void> {
    this.objects.delete(`${kind}/${namespace}/${name}`);
  }

  async pass(ms: number): Promise<void> {
    this.now += ms;
  }

  /** Syncs until nothing is written. */
  async settle(): Promise<void> {
    for (let i = 0; await this.sync(); i++) if (i === 5) throw new Error('the Rollout does not settle');
  }

  /** A write of the Rollout's status by another client. */
  async putStatus(status: RolloutStatus, user = 'dashboard'): Promise<void> {
    const old = this.rollout;
    const request = {
      ...this.request({ ...old, status } as KubeObject, old as KubeObject, user),
      subResource: 'status',
    };
    const result = await mutateRolloutStatus(request, this.webhookCall());
    const accepted = result.allowed && result.object ? result.object.status : status;
    this.store(accepted as RolloutStatus);
  }

  /** Runs composite and decorator once, as Metacontroller does. Resolves to whether anything was written. */
  async sync(): Promise<boolean> {
    const before = structuredClone(this.rollout);
    this.store(await this.answer(before));
    await this.decorate();
    return !sameJson(before, this.rollout);
  }

  /**
   * The composite's answer for the current Rollout, or for an earlier one: Metacontroller's caches may be a write late.
   */
  async answer(parent: Rollout): Promise<RolloutStatus> {
    this.events = [];
    const call = this.hookCall();
    const controller = { apiVersion: 'metacontroller.k8s.io/v1alpha1', kind: 'CompositeController', metadata: {} };
    const object = structuredClone(parent) as KubeObject<any, any>;
    const { relatedResources } = await rolloutHook.customize!({ controller, parent: object }, call);
    const related = this.related(relatedResources);
    const answer = await rolloutHook.sync(
      { controller, parent: object, children: this.children(), related, finalizing: false },
      call,
    );
    this.resync = answer.resyncAfterSeconds;
    this.configMaps = answer.children.filter(({ kind }) => kind === 'ConfigMap');
    this.keepPolicies(answer.children.filter(({ kind }) => kind === 'ImagePolicy'));
    return { ...(answer.status as RolloutStatus), observedGeneration: parent.metadata.generation! };
  }

  /** Records an Event once, as the server does. */
  private record(event: EventRecord): void {
    if (!this.events.some(({ key }) => key === event.key)) this.events.push(event);
  }

  /** The ImagePolicies that the Rollout has created. */
  policies(): ImagePolicy[] {
    const isOurs = ({ metadata }: ImagePolicy) =>
      metadata.ownerReferences?.some(({ uid }) => uid === this.rollout.metadata.uid);
    return this.all<ImagePolicy>('ImagePolicy').filter(isOurs);
  }

  private children(): ObjectMap {
    const policies = this.policies().map((policy) => [`${NAMESPACE}/${policy.metadata.name}`, policy]);
    return { 'ConfigMap.v1': {}, 'ImagePolicy.image.toolkit.fluxcd.io/v1': Object.fromEntries(policies) };
  }

  private keepPolicies(wanted: readonly KubeObject<any, any>[]): void {
    for (const { metadata } of this.policies()) this.objects.delete(`ImagePolicy/${NAMESPACE}/${metadata.name}`);
    const { name = '', uid = '' } = this.rollout.metadata;
    const ownerReferences = [{ apiVersion: 'kuberik.com/v1alpha1', kind: 'Rollout', name, uid, controller: true }];
    for (const policy of wanted) this.seed({ ...policy, metadata: { ...policy.metadata, ownerReferences } });
  }

  private async decorate(): Promise<void> {
    const object = structuredClone(this.rollout) as KubeObject<any, any>;
    const controller = { apiVersion: 'metacontroller.k8s.io/v1alpha1', kind: 'DecoratorController', metadata: {} };
    const request = { controller, object, attachments: {}, related: {}, finalizing: false };
    const { labels, annotations } = await rolloutRequestsHook.sync(request, this.hookCall());
    if (!labels && !annotations) return;
    object.metadata.labels = merged(object.metadata.labels, labels);
    object.metadata.annotations = merged(object.metadata.annotations, annotations);
    await this.put(object, 'system:serviceaccount:metacontroller:metacontroller');
  }

  /** @throws if the API server would refuse the status, or prune a field of it: by the CRD, or by a policy */
  store(status: RolloutStatus): void {
    const { rollout } = this;
    if (sameJson(status, rollout.status)) return;
    const old = rollout as unknown as AnyObject;
    const next: AnyObject = { ...old, status: JSON.parse(JSON.stringify(status)) };
    const { schema } = kindAt('kuberik.com', 'rollouts')!;
    expect(schema!.prepare(next).status).toEqual(next.status);
    expect(schema!.problems(next, old)).toEqual([]);
    enforcePolicies(requestOf({ object: next, oldObject: old, subResource: 'status' }));
    rollout.status = next.status;
  }

  private related(rules: RelatedResourceRule[]): ObjectMap {
    const found = rules.flatMap((rule) => {
      if (rule.names?.length === 0) throw new Error(`customize rule for ${rule.resource} has an empty names list`);
      return [...this.objects.values()].filter((object) => this.matches(rule, object));
    });
    return structuredClone(mapOf(...found));
  }

  private matches(rule: RelatedResourceRule, { apiVersion, kind, metadata }: KubeObject): boolean {
    if (apiVersion !== rule.apiVersion || pluralOf(kind) !== rule.resource) return false;
    if (rule.namespace && rule.namespace !== metadata.namespace) return false;
    if (rule.names && !rule.names.includes(metadata.name ?? '')) return false;
    const namespace = this.find('Namespace', '', metadata.namespace ?? '');
    if (rule.namespaceSelector && !matchesSelector(rule.namespaceSelector, namespace?.metadata.labels)) return false;
    return matchesSelector(rule.labelSelector, metadata.labels);
  }

  private around() {
    const serves = (apiVersion: string) => apiVersion !== 'image.toolkit.fluxcd.io/v1beta2';
    return {
      now: this.now,
      cluster: fakeCluster(() => [...this.objects.values()], { serves }),
      settings: { ...this.settings, metacontrollerUser: 'metacontroller' },
    };
  }

  private hookCall(): HookCall {
    const { call } = fakeHookCall({
      ...this.around(),
      metadata: {
        lookup: ({ tag }) => (tag in this.metadata ? (this.metadata[tag] ?? undefined) : {}),
        isAwaited: ({ tag }) => this.metadata[tag] === null,
      },
    });
    return { ...call, events: { record: (event) => this.record(event) } };
  }

  private webhookCall(): WebhookCall {
    const access = { may: async ({ username }: { username: string }) => username === 'sre' };
    return fakeWebhookCall({ ...this.around(), access }).call;
  }

  private request(object: KubeObject, old: KubeObject | undefined, user: string): AdmissionRequest {
    const objects = structuredClone({ object, oldObject: old ?? null });
    return requestOf({ ...objects, uid: `request-${++this.serial}`, userInfo: { username: user } });
  }
}

/** null removes a field, as in Metacontroller and in merge patches. */
function merged(map: Record<string, string> | undefined, patch: Record<string, string | null> | undefined) {
  const entries = Object.entries({ ...map, ...patch });
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== null));
}
