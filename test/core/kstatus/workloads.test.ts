import { condition, table } from './table.ts';

const available = [condition('Progressing', 'True', 'NewReplicaSetAvailable'), condition('Available', 'True')];
const three = { replicas: 3, updatedReplicas: 3, availableReplicas: 3, readyReplicas: 3 };
const withDeadline = { replicas: 3, progressDeadlineSeconds: 600 };

table('apps/v1', 'Deployment', [
  [
    'deadline exceeded beats the counters',
    {
      spec: withDeadline,
      status: { ...three, conditions: [condition('Progressing', 'False', 'ProgressDeadlineExceeded')] },
    },
    'Failed',
    'Progress deadline exceeded',
  ],
  ['too few replicas', { spec: withDeadline, status: { ...three, replicas: 2 } }, 'InProgress', 'Replicas: 2/3'],
  ['replicas default to 1', {}, 'InProgress', 'Replicas: 0/1'],
  ['too few updated', { spec: withDeadline, status: { ...three, updatedReplicas: 1 } }, 'InProgress', 'Updated: 1/3'],
  [
    'old Pods still there',
    { spec: withDeadline, status: { ...three, replicas: 5 } },
    'InProgress',
    'Pending termination: 2',
  ],
  [
    'too few available',
    { spec: withDeadline, status: { ...three, availableReplicas: 2 } },
    'InProgress',
    'Available: 2/3',
  ],
  ['too few ready', { spec: withDeadline, status: { ...three, readyReplicas: 2 } }, 'InProgress', 'Ready: 2/3'],
  [
    'ReplicaSet not available',
    { spec: withDeadline, status: { ...three, conditions: [available[1]] } },
    'InProgress',
    'ReplicaSet not Available',
  ],
  [
    'not available',
    { spec: withDeadline, status: { ...three, conditions: [available[0]] } },
    'InProgress',
    'Deployment not Available',
  ],
  [
    'all there',
    { spec: withDeadline, status: { ...three, conditions: available } },
    'Current',
    'Deployment is available. Replicas: 3',
  ],
  [
    'without a deadline nobody sets Progressing',
    { spec: { replicas: 3 }, status: { ...three, conditions: [available[1]] } },
    'Current',
    'Deployment is available. Replicas: 3',
  ],
  [
    'the largest deadline is none',
    { spec: { replicas: 3, progressDeadlineSeconds: 2147483647 }, status: { ...three, conditions: [available[1]] } },
    'Current',
    'Deployment is available. Replicas: 3',
  ],
  [
    'none wanted',
    { spec: { replicas: 0 }, status: { conditions: available } },
    'Current',
    'Deployment is available. Replicas: 0',
  ],
]);

const set = {
  replicas: 3,
  readyReplicas: 3,
  currentReplicas: 3,
  updatedReplicas: 3,
  currentRevision: 'a',
  updateRevision: 'a',
};
const partition = (n: number) => ({ replicas: 3, updateStrategy: { rollingUpdate: { partition: n } } });

table('apps/v1', 'StatefulSet', [
  [
    'OnDelete is somebody else’s business',
    { spec: { replicas: 3, updateStrategy: { type: 'OnDelete' } } },
    'Current',
    'StatefulSet is using the ondelete update strategy',
  ],
  ['too few replicas', { spec: { replicas: 3 }, status: { ...set, replicas: 2 } }, 'InProgress', 'Replicas: 2/3'],
  ['too few ready', { spec: { replicas: 3 }, status: { ...set, readyReplicas: 1 } }, 'InProgress', 'Ready: 1/3'],
  ['too many', { spec: { replicas: 3 }, status: { ...set, replicas: 4 } }, 'InProgress', 'Pending termination: 1'],
  [
    'partition not reached',
    { spec: partition(1), status: { ...set, updatedReplicas: 1 } },
    'InProgress',
    'updated: 1/2',
  ],
  [
    'partition reached',
    { spec: partition(1), status: { ...set, updatedReplicas: 2, updateRevision: 'b' } },
    'Current',
    'Partition rollout complete. updated: 2',
  ],
  [
    'too few of the current revision',
    { spec: { replicas: 3 }, status: { ...set, currentReplicas: 2 } },
    'InProgress',
    'current: 2/3',
  ],
  [
    'revisions differ',
    { spec: { replicas: 3 }, status: { ...set, updateRevision: 'b' } },
    'InProgress',
    'Waiting for updated revision to match current',
  ],
  ['all there', { spec: { replicas: 3 }, status: set }, 'Current', 'All replicas scheduled as expected. Replicas: 3'],
]);

const daemons = {
  observedGeneration: 1,
  desiredNumberScheduled: 4,
  currentNumberScheduled: 4,
  updatedNumberScheduled: 4,
  numberAvailable: 4,
  numberReady: 4,
};
const generation = { metadata: { generation: 1 } };

table('apps/v1', 'DaemonSet', [
  ['no generation', { status: daemons }, 'InProgress', 'DaemonSet metadata.generation not found'],
  [
    'not observed',
    { ...generation, status: { ...daemons, observedGeneration: undefined } },
    'InProgress',
    'DaemonSet status.observedGeneration not found',
  ],
  [
    'nothing computed',
    { ...generation, status: { observedGeneration: 1 } },
    'InProgress',
    'Missing .status.desiredNumberScheduled',
  ],
  [
    'too few current',
    { ...generation, status: { ...daemons, currentNumberScheduled: 3 } },
    'InProgress',
    'Current: 3/4',
  ],
  [
    'too few updated',
    { ...generation, status: { ...daemons, updatedNumberScheduled: 2 } },
    'InProgress',
    'Updated: 2/4',
  ],
  ['too few available', { ...generation, status: { ...daemons, numberAvailable: 1 } }, 'InProgress', 'Available: 1/4'],
  ['too few ready', { ...generation, status: { ...daemons, numberReady: 0 } }, 'InProgress', 'Ready: 0/4'],
  ['all there', { ...generation, status: daemons }, 'Current', 'All replicas scheduled as expected. Replicas: 4'],
]);

const two = { replicas: 2, fullyLabeledReplicas: 2, availableReplicas: 2, readyReplicas: 2 };

table('apps/v1', 'ReplicaSet', [
  [
    'cannot make Pods',
    { spec: { replicas: 2 }, status: { ...two, conditions: [condition('ReplicaFailure', 'True')] } },
    'InProgress',
    'Replica Failure condition. Check Pods',
  ],
  [
    'too few labelled',
    { spec: { replicas: 2 }, status: { ...two, fullyLabeledReplicas: 1 } },
    'InProgress',
    'Labelled: 1/2',
  ],
  [
    'too few available',
    { spec: { replicas: 2 }, status: { ...two, availableReplicas: 1 } },
    'InProgress',
    'Available: 1/2',
  ],
  ['too few ready', { spec: { replicas: 2 }, status: { ...two, readyReplicas: 1 } }, 'InProgress', 'Ready: 1/2'],
  ['too many', { spec: { replicas: 2 }, status: { ...two, replicas: 3 } }, 'InProgress', 'Pending termination: 1'],
  ['all there', { spec: { replicas: 2 }, status: two }, 'Current', 'ReplicaSet is available. Replicas: 2'],
]);
