/**
 * The state of a workload's Pods: whether they are to blame, and why they don't run, in a few words. The text omits
 * output of containers, because a termination message may hold a secret, and values that change with each restart.
 */
import type { AnyObject, EpochMs } from '../../../api/kubernetes.ts';
import { conditionsOf, fieldAt, numberAt, stringAt } from '../../kstatus/fields.ts';
import { isMap } from '../../kube/json.ts';
import { toSelectorString } from '../../kube/selector.ts';
import { earliestTime, formatTime, parseTime } from '../../kube/time.ts';
import { oneLine, shortened } from '../../text/oneLine.ts';
import type { Unfinished } from './broken.ts';
import type { HealthContext } from './healthContext.ts';
import type { ObjectHealth } from './resources.ts';

type Pod = AnyObject;

/** A namespace and a selector that finds the Pods of one workload. */
export interface PodQuery {
  workload: ObjectHealth;
  namespace: string;
  labelSelector: string;
  atMost: number;
}

/** The most Pods of a workload that are read for the cause. */
export const MAX_PODS_OF_WORKLOAD = 20;
const MAX_SELECTOR_CHARACTERS = 1024;

/**
 * The most workloads of a HealthCheck whose Pods are read in one evaluation, and the most Pods of each.
 * The Pod to blame must be among those of a workload that has lost Pods. The drain of a node takes Pods from as many
 * workloads as it runs Pods: 110 by default.
 */
const READS: readonly { of: (workload: ObjectHealth) => boolean; workloads: number; pods: number }[] = [
  { of: ({ seenComplete }) => seenComplete !== undefined, workloads: 110, pods: 200 },
  { of: ({ unfinished }) => unfinished !== undefined, workloads: 110, pods: 200 },
  {
    of: ({ seenComplete, health }) => seenComplete === undefined && health === 'unhealthy',
    workloads: 10,
    pods: MAX_PODS_OF_WORKLOAD,
  },
  {
    of: ({ unfinished, health }) => unfinished === undefined && health === 'pending',
    workloads: 3,
    pods: MAX_PODS_OF_WORKLOAD,
  },
];

/** Queries for the Pods of workloads that have lost Pods or failed, and of others that are not complete. */
export function podQueries(objects: readonly ObjectHealth[]): PodQuery[] {
  return READS.flatMap(({ of, workloads, pods }) => {
    const queries = objects.filter(of).flatMap((workload): PodQuery[] => {
      const { namespace, object } = workload.resource;
      const labelSelector = podSelector(object);
      return labelSelector === undefined ? [] : [{ workload, namespace, labelSelector, atMost: pods }];
    });
    return queries.slice(0, workloads);
  });
}

/**
 * The workload's health, taking its Pods into account. If it has lost Pods and no unready Pod is to blame, nodes were
 * drained, have failed or were added. Then the workload is Pending until all Pods are ready, however long that takes.
 * A workload that is not complete at its deadline has failed if one of its Pods has crashed.
 */
export function healthWithPods(
  { workload, atMost }: PodQuery,
  pods: readonly Pod[],
  context: Pick<HealthContext, 'now' | 'gracePeriod'>,
): ObjectHealth {
  const { seenComplete, unfinished, resource, why } = workload;
  const cause = causeOf(pods);
  const failedAt = unfinished && crashDeadline(unfinished, resource.object, pods, context);
  if (failedAt !== undefined) {
    return {
      ...workload,
      health: 'unhealthy',
      why: `not complete at ${formatTime(failedAt)}: ${why}`,
      failedAt,
      cause,
    };
  }
  const isSpared =
    seenComplete !== undefined &&
    pods.length < atMost &&
    // A StatefulSet creates a Pod again only once the deleted one has ended.
    pods.filter(hasNotEnded).length >= wantedPods(workload.resource.object) &&
    !pods.some((pod) => isCountedPod(pod) && !isReady(pod) && isToBlame(pod, seenComplete));
  return { ...workload, cause, ...(isSpared && { health: 'pending', failedAt: undefined }) };
}

/**
 * The first deadline at which a Pod with the workload's present spec was not ready because it crashes; undefined if no
 * Pod has crashed and has been unready for the grace period.
 */
function crashDeadline(
  { changed, since, deadlineMs }: Unfinished,
  workload: AnyObject | undefined,
  pods: readonly Pod[],
  { now, gracePeriod }: Pick<HealthContext, 'now' | 'gracePeriod'>,
): EpochMs | undefined {
  const crashing = pods.filter(
    (pod) =>
      isCountedPod(pod) &&
      hasPresentSpec(pod, workload, changed) &&
      containersOf(pod).some((container) => hasCrashed(container) && !isUp(container) && !isRunning(container)) &&
      conditionsOf(pod).some(
        ({ type, status, lastTransitionTime }) =>
          type === 'Ready' && status !== 'True' && (parseTime(lastTransitionTime) ?? now) + gracePeriod <= now,
      ),
  );
  const deadline = earliestTime(crashing.map((pod) => Math.max(since, createdAt(pod)) + deadlineMs));
  return deadline !== undefined && deadline <= now ? deadline : undefined;
}

/** Whether the Pod certainly has the workload's present spec: a Pod of an earlier version proves nothing. */
function hasPresentSpec(pod: Pod, workload: AnyObject | undefined, changed: EpochMs): boolean {
  const status = (field: string) => fieldAt(workload, ['status', field]);
  // Only StatefulSets have a revision. They also replace lost Pods with Pods of the version before.
  const revision = status('updateRevision');
  if (revision !== undefined) return pod.metadata.labels?.['controller-revision-hash'] === revision;
  const updated = status('updatedNumberScheduled') ?? status('updatedReplicas');
  const all = status('currentNumberScheduled') ?? status('replicas');
  return createdAt(pod) >= changed || updated === all;
}

function createdAt({ metadata }: Pod): EpochMs {
  return parseTime(metadata.creationTimestamp) ?? 0;
}

function wantedPods(object: AnyObject | undefined): number {
  return numberAt(object, ['status', 'desiredNumberScheduled']) ?? numberAt(object, ['spec', 'replicas']) ?? 1;
}

/**
 * Whether the workload counts the Pod. A Pod that was evicted or is being deleted doesn't count, because it is
 * replaced.
 */
function isCountedPod(pod: Pod): boolean {
  return !pod.metadata.deletionTimestamp && hasNotEnded(pod);
}

function hasNotEnded({ status }: Pod): boolean {
  return !['Succeeded', 'Failed'].includes(stringAt(status, ['phase']) ?? '');
}

function isReady(pod: Pod): boolean {
  return conditionsOf(pod).some(({ type, status }) => type === 'Ready' && status === 'True');
}

/**
 * Whether a Pod that is not ready shows a fault of its version: it has crashed, or fails its probe after it was ready.
 * On a node that is lost all containers stay ready.
 * @param lastSeen when all Pods were ready
 */
function isToBlame(pod: Pod, lastSeen: EpochMs): boolean {
  const isNew = createdAt(pod) > lastSeen;
  return containersOf(pod).some((container) => !isUp(container) && (hasCrashed(container) || !isNew));
}

function hasCrashed(container: unknown): boolean {
  return (numberAt(container, ['restartCount']) ?? 0) > 0 || endOf(container, 'state') !== undefined;
}

/** The object's selector for Pods; undefined if there is none, or an empty one, which would find all Pods. */
function podSelector(object: AnyObject | undefined): string | undefined {
  const selector = fieldAt(object, ['spec', 'selector']);
  if (!isMap(selector) || !isMap(fieldAt(object, ['spec', 'template']))) return undefined;
  try {
    const text = toSelectorString(selector);
    return text === '' || text.length > MAX_SELECTOR_CHARACTERS ? undefined : text;
  } catch {
    return undefined;
  }
}

/** The cause of the newest Pod that has one; undefined if no Pod has one. */
export function causeOf(pods: readonly Pod[]): string | undefined {
  const newest = pods
    .filter(({ metadata, status }) => !metadata.deletionTimestamp && stringAt(status, ['phase']) !== 'Succeeded')
    .sort((a, b) => createdAt(b) - createdAt(a) || ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
  for (const pod of newest) {
    const cause = causeOfPod(pod);
    if (cause !== undefined) return `Pod ${shortText(pod.metadata.name ?? '')}: ${cause}`;
  }
  return undefined;
}

/** The statuses of the Pod's containers. */
function containersOf(pod: Pod): unknown[] {
  return ['initContainerStatuses', 'containerStatuses'].flatMap((field) => {
    const list = fieldAt(pod, ['status', field]);
    return Array.isArray(list) ? list : [];
  });
}

function causeOfPod(pod: Pod): string | undefined {
  for (const container of containersOf(pod)) {
    const cause = causeOfContainer(container) ?? failingProbe(container, pod);
    if (cause !== undefined) return `container ${shortText(stringAt(container, ['name']) ?? '')}: ${cause}`;
  }
  // Evicted, Preempting, NodeLost and the like.
  const reason = stringAt(pod, ['status', 'reason']);
  if (reason) return shortText(reason);
  const unschedulable = conditionsOf(pod).some(
    ({ type, status, reason }) => type === 'PodScheduled' && status === 'False' && reason === 'Unschedulable',
  );
  return unschedulable ? 'no node can run it (Unschedulable)' : undefined;
}

/** Reasons for which a container waits without a problem. */
const STARTING = new Set(['', 'ContainerCreating', 'PodInitializing']);
const PULLING = new Set(['ImagePullBackOff', 'ErrImagePull', 'InvalidImageName', 'ErrImageNeverPull']);

function causeOfContainer(container: unknown): string | undefined {
  const waiting = stringAt(container, ['state', 'waiting', 'reason']) ?? '';
  if (PULLING.has(waiting)) return `${waiting} of ${shortText(stringAt(container, ['image']) ?? 'its image')}`;
  const ended = endOf(container, 'state') ?? (isUp(container) ? undefined : endOf(container, 'lastState'));
  const causes = [...(STARTING.has(waiting) ? [] : [shortText(waiting)]), ...(ended === undefined ? [] : [ended])];
  return causes.length > 0 ? causes.join(', ') : undefined;
}

/** The end of the container, as text; undefined if it has not ended, or has succeeded. */
function endOf(container: unknown, state: 'state' | 'lastState'): string | undefined {
  const exitCode = numberAt(container, [state, 'terminated', 'exitCode']);
  if (exitCode === undefined || exitCode === 0) return undefined;
  const reason = stringAt(container, [state, 'terminated', 'reason']) ?? '';
  // Kubernetes uses `Error` for every other exit code.
  return reason === '' || reason === 'Error' ? `exit code ${exitCode}` : `${shortText(reason)}, exit code ${exitCode}`;
}

const isUp = (container: unknown) => fieldAt(container, ['ready']) === true;
const isRunning = (container: unknown) => isMap(fieldAt(container, ['state', 'running']));

/** The text for a container that runs and that a probe keeps from being ready. */
function failingProbe(container: unknown, pod: Pod): string | undefined {
  if (isUp(container) || !isRunning(container)) return undefined;
  const name = stringAt(container, ['name']);
  const containers = fieldAt(pod, ['spec', 'containers']);
  const spec = (Array.isArray(containers) ? containers : []).find((each) => stringAt(each, ['name']) === name);
  if (isMap(fieldAt(spec, ['startupProbe'])) && fieldAt(container, ['started']) !== true) {
    return 'its startup probe does not succeed';
  }
  return isMap(fieldAt(spec, ['readinessProbe'])) ? 'its readiness probe does not succeed' : undefined;
}

const MAX_TEXT_CHARACTERS = 200;

/** The text, shortened: any controller may write any reason into a Pod. */
function shortText(text: string): string {
  return oneLine(shortened(text, MAX_TEXT_CHARACTERS));
}
