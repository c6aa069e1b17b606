/**
 * Whether an object has reached the state in its spec, by the rules and in the words of kstatus
 * (sigs.k8s.io/cli-utils). The rules for every kind come first, then those of its kind, or else its Ready condition.
 */
import type { AnyObject, EpochMs } from '../../api/kubernetes.ts';
import { groupOf } from '../kube/names.ts';
import { parseTime } from '../kube/time.ts';
import { conditionsOf, current, failed, fieldAt, inProgress, type KStatus, numberAt, stringAt } from './fields.ts';

export type { KStatus, KStatusName } from './fields.ts';

type Rule = (object: AnyObject, now: EpochMs) => KStatus;

const alwaysReady: Rule = () => current('Resource is always ready');

/** Rules by `group/Kind`; the core group is empty. */
const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['/ConfigMap', alwaysReady],
  ['/PersistentVolumeClaim', pvcStatus],
  ['/Pod', podStatus],
  ['/Secret', alwaysReady],
  ['/Service', serviceStatus],
  ['apiextensions.k8s.io/CustomResourceDefinition', crdStatus],
  ['apps/DaemonSet', daemonSetStatus],
  ['apps/Deployment', deploymentStatus],
  ['apps/ReplicaSet', replicaSetStatus],
  ['apps/StatefulSet', statefulSetStatus],
  ['batch/CronJob', alwaysReady],
  ['batch/Job', jobStatus],
  ['extensions/DaemonSet', daemonSetStatus],
  ['extensions/Deployment', deploymentStatus],
  ['extensions/ReplicaSet', replicaSetStatus],
  ['policy/PodDisruptionBudget', () => current('AllowedDisruptions has been computed.')],
]);

/** The status of the object. `now` decides only how long a Pod may stay unschedulable. */
export function kstatusOf(object: AnyObject, now: EpochMs): KStatus {
  const generic = genericStatus(object);
  if (generic) return generic;
  const rule = RULES.get(`${groupOf(object.apiVersion)}/${object.kind}`);
  return rule ? rule(object, now) : readyStatus(object);
}

function genericStatus(object: AnyObject): KStatus | undefined {
  if (object.metadata.deletionTimestamp) return { status: 'Terminating', message: 'Resource scheduled for deletion' };

  const generation = numberAt(object, ['metadata', 'generation']);
  const observed = numberAt(object, ['status', 'observedGeneration']);
  if (generation !== undefined && observed !== undefined && generation !== observed) {
    return inProgress(`${object.kind} generation is ${generation}, but latest observed generation is ${observed}`);
  }
  for (const condition of conditionsOf(object)) {
    if (condition.status !== 'True') continue;
    if (condition.type === 'Reconciling') return inProgress(condition.message);
    if (condition.type === 'Stalled') return failed(condition.message);
  }
  return undefined;
}

function readyStatus(object: AnyObject): KStatus {
  for (const { type, status, message } of conditionsOf(object)) {
    if (type !== 'Ready') continue;
    if (status === 'True') return current('Resource is Ready');
    if (status === 'False' || status === 'Unknown') return inProgress(message);
  }
  return current('Resource is current');
}

// Claims, Services and CustomResourceDefinitions.

function pvcStatus(object: AnyObject): KStatus {
  const phase = stringAt(object, ['status', 'phase']) ?? 'unknown';
  return phase === 'Bound' ? current('PVC is Bound') : inProgress(`PVC is not Bound. phase: ${phase}`);
}

function serviceStatus(object: AnyObject): KStatus {
  if (stringAt(object, ['spec', 'type']) === 'LoadBalancer' && !stringAt(object, ['spec', 'clusterIP'])) {
    return inProgress('ClusterIP not set. Service type: LoadBalancer');
  }
  return current('Service is ready');
}

function crdStatus(object: AnyObject): KStatus {
  for (const { type, status, reason, message } of conditionsOf(object)) {
    if (type === 'NamesAccepted' && status === 'False') return failed(message);
    if (type !== 'Established') continue;
    if (status === 'False' && reason !== 'Installing') return failed(message);
    if (status === 'True') return current('CRD is established');
  }
  return inProgress('Install in progress');
}

// Pods and Jobs.

/** The time that the scheduler has before an unschedulable Pod counts as failed. */
const SCHEDULE_WINDOW_MS = 15_000;

function podStatus(object: AnyObject, now: EpochMs): KStatus {
  const phase = stringAt(object, ['status', 'phase']) ?? '';
  switch (phase) {
    case '':
      return inProgress('Pod phase not available');
    case 'Succeeded':
      return current('Pod has completed successfully');
    case 'Failed':
      return current('Pod has completed, but not successfully');
    case 'Running':
      return runningStatus(object);
    case 'Pending':
      return pendingStatus(object, now);
    default:
      return { status: 'Unknown', message: `unknown phase ${phase}` };
  }
}

function runningStatus(object: AnyObject): KStatus {
  if (conditionsOf(object).some((c) => c.type === 'Ready' && c.status === 'True')) return current('Pod is Ready');
  const crashing = crashLoopingContainers(object);
  if (crashing.length > 0) return failed(`Containers in CrashLoop state: ${crashing.join(',')}`);
  return inProgress('Pod is running but is not Ready');
}

function pendingStatus(object: AnyObject, now: EpochMs): KStatus {
  const scheduled = conditionsOf(object).find((c) => c.type === 'PodScheduled' && c.status === 'False');
  if (scheduled?.reason !== 'Unschedulable') return inProgress('Pod is in the Pending phase');
  const created = parseTime(object.metadata.creationTimestamp);
  if (created !== undefined && created > now - SCHEDULE_WINDOW_MS) return inProgress('Pod has not been scheduled');
  return failed('Pod could not be scheduled');
}

function crashLoopingContainers(object: AnyObject): string[] {
  const containers = fieldAt(object, ['status', 'containerStatuses']);
  if (!Array.isArray(containers)) return [];
  return containers
    .filter((container) => stringAt(container, ['state', 'waiting', 'reason']) === 'CrashLoopBackOff')
    .flatMap((container) => stringAt(container, ['name']) ?? []);
}

/** The status of a Job, which is current from its start. */
function jobStatus(object: AnyObject): KStatus {
  const completions = numberAt(object, ['spec', 'completions']) ?? numberAt(object, ['spec', 'parallelism']) ?? 1;
  const count = (field: string) => numberAt(object, ['status', field]) ?? 0;

  for (const condition of conditionsOf(object)) {
    if (condition.status !== 'True') continue;
    if (condition.type === 'Complete') return current(`Job Completed. succeeded: ${count('succeeded')}/${completions}`);
    if (condition.type === 'Failed') return failed(`Job Failed. failed: ${count('failed')}/${completions}`);
  }
  if (!stringAt(object, ['status', 'startTime'])) return inProgress('Job not started');
  return current(
    `Job in progress. success:${count('succeeded')}, active: ${count('active')}, failed: ${count('failed')}`,
  );
}

// Kinds that keep a number of Pods. The order of the comparisons decides which message users see.

/** The Deployment controller reads this value as "no deadline". */
const NO_DEADLINE = 2 ** 31 - 1;

function deploymentStatus(object: AnyObject): KStatus {
  const conditions = conditionsOf(object);
  if (conditions.some((c) => c.type === 'Progressing' && c.reason === 'ProgressDeadlineExceeded')) {
    return failed('Progress deadline exceeded');
  }
  const wanted = numberAt(object, ['spec', 'replicas']) ?? 1;
  const { replicas, updatedReplicas: updated, availableReplicas: available, readyReplicas: ready } = counts(object);

  if (replicas < wanted) return inProgress(`Replicas: ${replicas}/${wanted}`);
  if (updated < wanted) return inProgress(`Updated: ${updated}/${wanted}`);
  if (replicas > wanted) return inProgress(`Pending termination: ${replicas - wanted}`);
  if (available < updated) return inProgress(`Available: ${available}/${updated}`);
  if (ready < wanted) return inProgress(`Ready: ${ready}/${wanted}`);

  // Without a deadline the controller never sets the condition.
  const deadline = numberAt(object, ['spec', 'progressDeadlineSeconds']) ?? NO_DEADLINE;
  const progressed = conditions.some(
    (c) => c.type === 'Progressing' && c.status === 'True' && c.reason === 'NewReplicaSetAvailable',
  );
  if (deadline !== NO_DEADLINE && !progressed) return inProgress('ReplicaSet not Available');
  if (!conditions.some((c) => c.type === 'Available' && c.status === 'True')) {
    return inProgress('Deployment not Available');
  }
  return current(`Deployment is available. Replicas: ${replicas}`);
}

function statefulSetStatus(object: AnyObject): KStatus {
  if (stringAt(object, ['spec', 'updateStrategy', 'type']) === 'OnDelete') {
    return current('StatefulSet is using the ondelete update strategy');
  }
  const wanted = numberAt(object, ['spec', 'replicas']) ?? 1;
  const { replicas, readyReplicas: ready, currentReplicas, updatedReplicas: updated } = counts(object);

  if (replicas < wanted) return inProgress(`Replicas: ${replicas}/${wanted}`);
  if (ready < wanted) return inProgress(`Ready: ${ready}/${wanted}`);
  if (replicas > wanted) return inProgress(`Pending termination: ${replicas - wanted}`);

  const partition = numberAt(object, ['spec', 'updateStrategy', 'rollingUpdate', 'partition']);
  if (partition !== undefined && partition !== -1) {
    if (updated < wanted - partition) return inProgress(`updated: ${updated}/${wanted - partition}`);
    return current(`Partition rollout complete. updated: ${updated}`);
  }
  if (currentReplicas < wanted) return inProgress(`current: ${currentReplicas}/${wanted}`);
  if (stringAt(object, ['status', 'currentRevision']) !== stringAt(object, ['status', 'updateRevision'])) {
    return inProgress('Waiting for updated revision to match current');
  }
  return current(`All replicas scheduled as expected. Replicas: ${replicas}`);
}

function daemonSetStatus(object: AnyObject): KStatus {
  if (numberAt(object, ['metadata', 'generation']) === undefined) {
    return inProgress(`${object.kind} metadata.generation not found`);
  }
  if (numberAt(object, ['status', 'observedGeneration']) === undefined) {
    return inProgress(`${object.kind} status.observedGeneration not found`);
  }
  const desired = numberAt(object, ['status', 'desiredNumberScheduled']);
  if (desired === undefined) return inProgress('Missing .status.desiredNumberScheduled');

  const steps = [
    ['Current', 'currentNumberScheduled'],
    ['Updated', 'updatedNumberScheduled'],
    ['Available', 'numberAvailable'],
    ['Ready', 'numberReady'],
  ] as const;
  for (const [label, field] of steps) {
    const count = numberAt(object, ['status', field]) ?? 0;
    if (count < desired) return inProgress(`${label}: ${count}/${desired}`);
  }
  return current(`All replicas scheduled as expected. Replicas: ${desired}`);
}

function replicaSetStatus(object: AnyObject): KStatus {
  if (conditionsOf(object).some((c) => c.type === 'ReplicaFailure' && c.status === 'True')) {
    return inProgress('Replica Failure condition. Check Pods');
  }
  const wanted = numberAt(object, ['spec', 'replicas']) ?? 1;
  const {
    replicas,
    fullyLabeledReplicas: labelled,
    availableReplicas: available,
    readyReplicas: ready,
  } = counts(object);

  if (labelled < wanted) return inProgress(`Labelled: ${labelled}/${wanted}`);
  if (available < wanted) return inProgress(`Available: ${available}/${wanted}`);
  if (ready < wanted) return inProgress(`Ready: ${ready}/${wanted}`);
  if (replicas > wanted) return inProgress(`Pending termination: ${replicas - wanted}`);
  return current(`ReplicaSet is available. Replicas: ${replicas}`);
}

/** The counters of `status`; an absent one is 0. */
function counts(object: AnyObject) {
  const count = (field: string) => numberAt(object, ['status', field]) ?? 0;
  return {
    replicas: count('replicas'),
    readyReplicas: count('readyReplicas'),
    currentReplicas: count('currentReplicas'),
    updatedReplicas: count('updatedReplicas'),
    availableReplicas: count('availableReplicas'),
    fullyLabeledReplicas: count('fullyLabeledReplicas'),
  };
}
