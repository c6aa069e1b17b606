import { condition, table } from './table.ts';

const PROGRESSED = condition('Progressing', 'True', 'NewReplicaSetAvailable');
const AVAILABLE = condition('Available', 'True');
const three = { replicas: 3, updatedReplicas: 3, availableReplicas: 3, readyReplicas: 3 };
/** Three replicas, all ready unless a row differs. */
const deployment = (status: object, spec: object = { progressDeadlineSeconds: 600 }) => ({
  spec: { replicas: 3, ...spec },
  status: { ...three, ...status },
});
const late = { conditions: [condition('Progressing', 'False', 'ProgressDeadlineExceeded')] };
const noDeadline = { progressDeadlineSeconds: 2147483647 };
const available = { conditions: [AVAILABLE] };
const all = { conditions: [PROGRESSED, AVAILABLE] };

const THERE = 'Deployment is available. Replicas: 3';

table('apps/v1', 'Deployment', [
  ['deadline exceeded beats the counters', deployment(late), 'Failed', 'Progress deadline exceeded'],
  ['too few replicas', deployment({ replicas: 2 }), 'InProgress', 'Replicas: 2/3'],
  ['replicas default to 1', {}, 'InProgress', 'Replicas: 0/1'],
  ['too few updated', deployment({ updatedReplicas: 1 }), 'InProgress', 'Updated: 1/3'],
  ['old Pods still there', deployment({ replicas: 5 }), 'InProgress', 'Pending termination: 2'],
  ['too few available', deployment({ availableReplicas: 2 }), 'InProgress', 'Available: 2/3'],
  ['too few ready', deployment({ readyReplicas: 2 }), 'InProgress', 'Ready: 2/3'],
  ['ReplicaSet not available', deployment(available), 'InProgress', 'ReplicaSet not Available'],
  ['not available', deployment({ conditions: [PROGRESSED] }), 'InProgress', 'Deployment not Available'],
  ['all there', deployment(all), 'Current', THERE],
  ['without a deadline nobody sets Progressing', deployment(available, {}), 'Current', THERE],
  ['the largest deadline is none', deployment(available, noDeadline), 'Current', THERE],
  ['none wanted', { spec: { replicas: 0 }, status: all }, 'Current', 'Deployment is available. Replicas: 0'],
]);

const set = (status: object, spec: object = {}) => ({
  spec: { replicas: 3, ...spec },
  status: { ...three, currentReplicas: 3, currentRevision: 'a', updateRevision: 'a', ...status },
});
const partition = { updateStrategy: { rollingUpdate: { partition: 1 } } };
const onDelete = { spec: { replicas: 3, updateStrategy: { type: 'OnDelete' } } };
const USES = 'StatefulSet is using the ondelete update strategy';
const reached = { updatedReplicas: 2, updateRevision: 'b' };

table('apps/v1', 'StatefulSet', [
  ['OnDelete is somebody else’s business', onDelete, 'Current', USES],
  ['too few replicas', set({ replicas: 2 }), 'InProgress', 'Replicas: 2/3'],
  ['too few ready', set({ readyReplicas: 1 }), 'InProgress', 'Ready: 1/3'],
  ['too many', set({ replicas: 4 }), 'InProgress', 'Pending termination: 1'],
  ['partition not reached', set({ updatedReplicas: 1 }, partition), 'InProgress', 'updated: 1/2'],
  ['partition reached', set(reached, partition), 'Current', 'Partition rollout complete. updated: 2'],
  ['too few of the current revision', set({ currentReplicas: 2 }), 'InProgress', 'current: 2/3'],
  ['revisions differ', set({ updateRevision: 'b' }), 'InProgress', 'Waiting for updated revision to match current'],
  ['all there', set({}), 'Current', 'All replicas scheduled as expected. Replicas: 3'],
]);

const daemons = (status: object) => ({
  metadata: { generation: 1 },
  status: {
    observedGeneration: 1,
    desiredNumberScheduled: 4,
    currentNumberScheduled: 4,
    updatedNumberScheduled: 4,
    numberAvailable: 4,
    numberReady: 4,
    ...status,
  },
});
const unobserved = { observedGeneration: undefined };

table('apps/v1', 'DaemonSet', [
  ['no generation', { ...daemons({}), metadata: {} }, 'InProgress', 'DaemonSet metadata.generation not found'],
  ['not observed', daemons(unobserved), 'InProgress', 'DaemonSet status.observedGeneration not found'],
  [
    'nothing computed',
    { ...daemons({}), status: { observedGeneration: 1 } },
    'InProgress',
    'Missing .status.desiredNumberScheduled',
  ],
  ['too few current', daemons({ currentNumberScheduled: 3 }), 'InProgress', 'Current: 3/4'],
  ['too few updated', daemons({ updatedNumberScheduled: 2 }), 'InProgress', 'Updated: 2/4'],
  ['too few available', daemons({ numberAvailable: 1 }), 'InProgress', 'Available: 1/4'],
  ['too few ready', daemons({ numberReady: 0 }), 'InProgress', 'Ready: 0/4'],
  ['all there', daemons({}), 'Current', 'All replicas scheduled as expected. Replicas: 4'],
]);

const two = (status: object) => ({
  spec: { replicas: 2 },
  status: { replicas: 2, fullyLabeledReplicas: 2, availableReplicas: 2, readyReplicas: 2, ...status },
});
const failing = { conditions: [condition('ReplicaFailure', 'True')] };

table('apps/v1', 'ReplicaSet', [
  ['cannot make Pods', two(failing), 'InProgress', 'Replica Failure condition. Check Pods'],
  ['too few labelled', two({ fullyLabeledReplicas: 1 }), 'InProgress', 'Labelled: 1/2'],
  ['too few available', two({ availableReplicas: 1 }), 'InProgress', 'Available: 1/2'],
  ['too few ready', two({ readyReplicas: 1 }), 'InProgress', 'Ready: 1/2'],
  ['too many', two({ replicas: 3 }), 'InProgress', 'Pending termination: 1'],
  ['all there', two({}), 'Current', 'ReplicaSet is available. Replicas: 2'],
]);
