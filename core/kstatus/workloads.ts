/** kstatus of the kinds that keep a number of Pods. The order of the comparisons decides which message people see. */
import type { KubeObject } from '../../api/kubernetes.ts';
import { conditionsOf, numberAt, stringAt } from './fields.ts';
import { current, failed, inProgress, type KStatus } from './result.ts';

/** The Deployment controller reads this value as "no deadline". */
const NO_DEADLINE = 2 ** 31 - 1;

export function deploymentStatus(object: KubeObject<any, any>): KStatus {
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

export function statefulSetStatus(object: KubeObject<any, any>): KStatus {
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

export function daemonSetStatus(object: KubeObject<any, any>): KStatus {
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

export function replicaSetStatus(object: KubeObject<any, any>): KStatus {
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
function counts(object: KubeObject<any, any>) {
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
