/**
 * kube-controller-manager and the kubelets: rolling updates of Deployments, StatefulSets and DaemonSets, one Pod at a
 * time, and the statuses of Pods and workloads. Writes into etcd itself, since no webhook sees these objects.
 */
import { isDeepStrictEqual } from 'node:util';
import { timestamp } from '../../actors/timestamp.ts';
import type { AnyObject } from '../../client/send.ts';
import type { Storage } from '../apiServer/storage.ts';
import type { Behavior, Phase } from './versions.ts';

const WORKLOADS = ['apps/deployments', 'apps/statefulsets', 'apps/daemonsets'];
const PODS = '/pods';
const REVISION = 'controller-revision-hash';
const NODES = 2;
const TERMINATION_MS = 20_000;
const PROGRESS_DEADLINE_MS = 600_000;

type Counts = Record<'wanted' | 'all' | 'updated' | 'ready', number>;

export class Workloads {
  readonly #storage: Storage;
  readonly #now: () => number;
  readonly #behaviorOf: (image: string, index: number) => Behavior;
  /** When the container of each Pod starts, by the Pod's uid. */
  readonly #starts = new Map<string, number>();
  #uids = 0;
  /** No node can run a new Pod before. */
  #fullUntil = 0;

  constructor(storage: Storage, now: () => number, behaviorOf: (image: string, index: number) => Behavior) {
    this.#storage = storage;
    this.#now = now;
    this.#behaviorOf = behaviorOf;
  }

  /** What happens within a few seconds. */
  tick(): void {
    for (const [resource, workload] of WORKLOADS.flatMap((each) =>
      this.#storage.list(each).map((object) => [each, object] as const),
    )) {
      for (const pod of this.#podsOf(workload)) {
        if (this.#now() > Date.parse(pod.metadata.deletionTimestamp ?? '') + TERMINATION_MS)
          this.#storage.remove(PODS, pod);
      }
      this.#replacePods(workload);
      for (const pod of this.#podsOf(workload)) this.#put(PODS, pod, this.#podStatus(pod));
      const { all, updated, ready, wanted } = this.countsOf(workload);
      this.#put(resource, workload, this.#statusOf(workload, { all, updated, ready, wanted }));
    }
  }

  /** Whether every Pod is ready and has the present spec. */
  isComplete(workload: AnyObject): boolean {
    const { wanted, all, updated, ready } = this.countsOf(workload);
    return [all, updated, ready].every((count) => count === wanted);
  }

  /** Deletes the Pods of one node, as a drain does. No other node can run them for a while. */
  drain(node: number, fullMs: number): void {
    this.#fullUntil = this.#now() + fullMs;
    for (const pod of this.#storage.list(PODS)) if (indexOf(pod) === node) this.#delete(pod);
    this.tick();
  }

  #delete(pod: AnyObject): void {
    const metadata = { ...pod.metadata, deletionTimestamp: timestamp(this.#now()) };
    if (!pod.metadata.deletionTimestamp) this.#storage.put(PODS, { ...pod, metadata });
  }

  countsOf(workload: AnyObject): Counts {
    const pods = this.#podsOf(workload).filter(isStaying);
    const wanted = workload.spec.replicas ?? NODES;
    const updated = pods.filter((pod) => pod.metadata.labels?.[REVISION] === revisionOf(workload)).length;
    return { wanted, all: pods.length, updated, ready: pods.filter(isReady).length };
  }

  #podsOf({ kind, metadata }: AnyObject): AnyObject[] {
    return this.#storage
      .list(PODS, metadata.namespace)
      .filter(({ metadata: { labels } }) => labels?.app === metadata.name && labels?.kind === kind);
  }

  /** One step of a rolling update: Deployments create a Pod before they delete one, the others after. */
  #replacePods(workload: AnyObject): void {
    const isSurge = workload.kind === 'Deployment';
    // A Pod of the others is created once the one before has ended.
    const all = this.#podsOf(workload);
    const pods = all.filter(isStaying);
    const { wanted, ready } = this.countsOf(workload);
    const revision = revisionOf(workload);
    const [old, current] = [true, false].map((isOld) =>
      pods.filter((pod) => (pod.metadata.labels?.[REVISION] !== revision) === isOld),
    ) as [AnyObject[], AnyObject[]];
    const used = new Set((isSurge ? current : all).map(indexOf));
    const missing = Array.from({ length: wanted }, (_, i) => i).find((i) => !used.has(i));
    if (missing !== undefined && pods.length < wanted + (isSurge ? 1 : 0)) this.#create(workload, missing);
    const isEnough = isSurge ? ready > wanted : current.every(isReady) && pods.length === wanted;
    const gone = old.find((pod) => !isReady(pod)) ?? (isEnough ? old[0] : undefined);
    if (gone) this.#delete(gone);
  }

  #create(workload: AnyObject, index: number): void {
    const { kind, metadata, spec } = workload;
    const revision = revisionOf(workload);
    const uid = `uid-pods-${++this.#uids}`;
    this.#starts.set(uid, Math.max(this.#now(), this.#fullUntil));
    this.#storage.put(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: kind === 'Deployment' ? `${metadata.name}-${uid}` : `${metadata.name}-${index}`,
        namespace: metadata.namespace,
        uid,
        creationTimestamp: timestamp(this.#now()),
        labels: { ...spec.template.metadata.labels, [REVISION]: revision, index: String(index) },
      },
      spec: spec.template.spec,
    });
  }

  #podStatus(pod: AnyObject): AnyObject {
    const { image } = pod.spec.containers[0];
    const start = this.#starts.get(pod.metadata.uid ?? '') ?? 0;
    const age = (this.#now() - start) / 1000;
    if (age < 0) {
      const scheduled = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable' };
      return { phase: 'Pending', conditions: [scheduled] } as never;
    }
    const { phase, restarts } = stateAt(this.#behaviorOf(image, indexOf(pod)), age);
    const state = phase === 'crashed' ? { waiting: { reason: 'CrashLoopBackOff' } } : { running: {} };
    const lastState = restarts > 0 ? { terminated: { exitCode: 1, reason: 'Error' } } : {};
    const ready = phase === 'ready';
    return {
      phase: 'Running',
      conditions: [this.#condition(pod, 'Ready', ready ? 'True' : 'False')],
      containerStatuses: [{ name: 'app', image, ready, started: true, restartCount: restarts, state, lastState }],
    } as never;
  }

  #condition({ status }: AnyObject, type: string, value: string, more: object = {}): AnyObject {
    const before = status?.conditions?.find((each: AnyObject) => each.type === type);
    const lastTransitionTime = before?.status === value ? before.lastTransitionTime : timestamp(this.#now());
    return { type, status: value, lastTransitionTime, ...more } as never;
  }

  #statusOf(workload: AnyObject, counts: Counts): object {
    const { wanted, all, updated, ready } = counts;
    const { kind, metadata, status = {} } = workload;
    const observedGeneration = metadata.generation;
    const revision = revisionOf(workload);
    if (kind === 'DaemonSet') {
      const scheduled = { desiredNumberScheduled: wanted, currentNumberScheduled: all, numberMisscheduled: 0 };
      const counted = { numberReady: ready, numberAvailable: ready, updatedNumberScheduled: updated };
      return {
        observedGeneration,
        ...scheduled,
        ...nonZero({ ...counted, numberUnavailable: wanted - ready }),
        numberReady: ready,
      };
    }
    const counted = { readyReplicas: ready, availableReplicas: ready, updatedReplicas: updated };
    if (kind === 'StatefulSet') {
      const isUpdated = updated === wanted && ready === wanted;
      const currentRevision = isUpdated ? revision : (status.currentRevision ?? revision);
      const currentReplicas = currentRevision === revision ? updated : all - updated;
      const revisions = { currentRevision, updateRevision: revision };
      return { observedGeneration, replicas: all, ...nonZero({ ...counted, currentReplicas }), ...revisions };
    }
    const unavailable = { unavailableReplicas: Math.max(wanted, all) - ready };
    const available = this.#condition(workload, 'Available', ready >= wanted ? 'True' : 'False');
    const conditions = [available, this.#progressOf(workload, counts)];
    return { observedGeneration, ...nonZero({ replicas: all, ...counted, ...unavailable }), conditions };
  }

  /** The condition Progressing. A Deployment that was complete stays so until its Pod template changes. */
  #progressOf(workload: AnyObject, { wanted, all, updated, ready }: Counts): AnyObject {
    const { status = {} } = workload;
    const before = status.conditions?.find(({ type }: AnyObject) => type === 'Progressing');
    const template = revisionOf(workload);
    const now = timestamp(this.#now());
    const condition = (value: string, reason: string, lastUpdateTime = now) =>
      this.#condition(workload, 'Progressing', value, { reason, lastUpdateTime, message: template });
    const isSame = before?.message === template;
    if (isSame && before.reason === 'NewReplicaSetAvailable') return before;
    if (updated === wanted && all === wanted && ready === wanted) return condition('True', 'NewReplicaSetAvailable');
    const hasProgressed =
      updated > (status.updatedReplicas ?? 0) || ready > (status.readyReplicas ?? 0) || all < (status.replicas ?? 0);
    if (!isSame || hasProgressed) return condition('True', 'ReplicaSetUpdated');
    const isLate = this.#now() - Date.parse(before.lastUpdateTime) > PROGRESS_DEADLINE_MS;
    return isLate && before.status === 'True' ? condition('False', 'ProgressDeadlineExceeded') : before;
  }

  #put(resource: string, object: AnyObject, status: object): void {
    const next = JSON.parse(JSON.stringify(status));
    if (!isDeepStrictEqual(next, object.status)) this.#storage.put(resource, { ...object, status: next });
  }
}

/** The state of a container some seconds after its start. */
function stateAt(behavior: Behavior, seconds: number): { phase: Phase; restarts: number } {
  let left = seconds;
  let restarts = 0;
  for (const [took, phase] of behavior.slice(0, -1)) {
    if (phase === 'crashed') restarts++;
    if (left < took) return { phase, restarts };
    left -= took;
  }
  return { phase: behavior.at(-1)![1], restarts };
}

const isStaying = ({ metadata }: AnyObject) => metadata.deletionTimestamp === undefined;
const isReady = ({ status }: AnyObject) =>
  status?.conditions?.some(({ type, status }: AnyObject) => type === 'Ready' && String(status) === 'True') === true;
const indexOf = ({ metadata }: AnyObject) => Number(metadata.labels?.index);
const nonZero = (counts: Record<string, number>) =>
  Object.fromEntries(Object.entries(counts).filter(([, n]) => n !== 0));

function revisionOf({ spec }: AnyObject): string {
  let hash = 0;
  for (const letter of JSON.stringify(spec.template)) hash = (Math.imul(hash, 31) + letter.charCodeAt(0)) | 0;
  return (hash >>> 0).toString(36);
}
