import { describe, expect, it } from 'vitest';
import { kstatusOf } from '../../../core/kstatus/kstatus.ts';
import { condition, is, NOW, object, READY, table } from './table.ts';

const second = { metadata: { generation: 2 } };

table('example.com/v1', 'Widget', [
  [
    'being deleted beats everything else',
    { metadata: { ...second.metadata, deletionTimestamp: '2026-01-02T11:00:00Z' }, status: { observedGeneration: 1 } },
    'Terminating',
    'Resource scheduled for deletion',
  ],
  [
    'a generation that was not observed beats Ready',
    { ...second, status: { observedGeneration: 1, conditions: [READY] } },
    'InProgress',
    'Widget generation is 2, but latest observed generation is 1',
  ],
  [
    'without observedGeneration the generation says nothing',
    { ...second, ...is(READY) },
    'Current',
    'Resource is Ready',
  ],
  ['Reconciling', is(READY, condition('Reconciling', 'True', 'Retry', 'at it')), 'InProgress', 'at it'],
  ['Reconciling=False says nothing', is(condition('Reconciling', 'False')), 'Current', 'Resource is current'],
  ['Stalled', is(condition('Stalled', 'True', 'Bad', 'will never work')), 'Failed', 'will never work'],
  [
    'the first of Reconciling and Stalled decides',
    is(condition('Stalled', 'True', '', 's'), condition('Reconciling', 'True', '', 'r')),
    'Failed',
    's',
  ],
  ['Ready', is(READY), 'Current', 'Resource is Ready'],
  ['not Ready', is(condition('Ready', 'False', 'No', 'not yet')), 'InProgress', 'not yet'],
  ['Ready unknown', is(condition('Ready', 'Unknown', 'No', 'who knows')), 'InProgress', 'who knows'],
  ['no condition at all', {}, 'Current', 'Resource is current'],
  ['a status that is no object', { status: 'fine' }, 'Current', 'Resource is current'],
  ['conditions that are no list', { status: { conditions: { Ready: 'True' } } }, 'Current', 'Resource is current'],
  ['conditions with junk in between', is(null, 7, {}, condition('Ready', 'False', '', 'no')), 'InProgress', 'no'],
]);

const crashing = [
  { name: 'app', state: { waiting: { reason: 'CrashLoopBackOff' } } },
  { name: 'proxy', state: { running: {} } },
  { name: 'side', state: { waiting: { reason: 'CrashLoopBackOff' } } },
];
const pod = (phase: string, more: object = {}) => ({ status: { phase, ...more } });
const unschedulable = (since: string) => ({
  metadata: { creationTimestamp: `2026-01-02T${since}Z` },
  ...pod('Pending', { conditions: [condition('PodScheduled', 'False', 'Unschedulable')] }),
});

table('v1', 'Pod', [
  ['not seen yet', {}, 'InProgress', 'Pod phase not available'],
  ['done', pod('Succeeded'), 'Current', 'Pod has completed successfully'],
  ['ended badly', pod('Failed'), 'Current', 'Pod has completed, but not successfully'],
  ['ready', pod('Running', { conditions: [READY] }), 'Current', 'Pod is Ready'],
  ['crash loop', pod('Running', { containerStatuses: crashing }), 'Failed', 'Containers in CrashLoop state: app,side'],
  ['running, not ready', pod('Running'), 'InProgress', 'Pod is running but is not Ready'],
  ['pending', pod('Pending'), 'InProgress', 'Pod is in the Pending phase'],
  ['unschedulable for 14 s', unschedulable('11:59:46'), 'InProgress', 'Pod has not been scheduled'],
  ['unschedulable for 15 s', unschedulable('11:59:45'), 'Failed', 'Pod could not be scheduled'],
  ['a phase nobody knows', pod('Dancing'), 'Unknown', 'unknown phase Dancing'],
]);

const ended = (type: string) => ({ conditions: [condition(type, 'True')] });

table('batch/v1', 'Job', [
  [
    'complete',
    { spec: { completions: 2 }, status: { succeeded: 2, ...ended('Complete') } },
    'Current',
    'Job Completed. succeeded: 2/2',
  ],
  [
    'failed; completions default to parallelism',
    { spec: { parallelism: 3 }, status: { failed: 1, ...ended('Failed') } },
    'Failed',
    'Job Failed. failed: 1/3',
  ],
  ['not started', { status: {} }, 'InProgress', 'Job not started'],
  [
    'running',
    { status: { startTime: '2026-01-02T11:00:00Z', active: 1 } },
    'Current',
    'Job in progress. success:0, active: 1, failed: 0',
  ],
]);

table('v1', 'PersistentVolumeClaim', [
  ['bound', { status: { phase: 'Bound' } }, 'Current', 'PVC is Bound'],
  ['pending', { status: { phase: 'Pending' } }, 'InProgress', 'PVC is not Bound. phase: Pending'],
  ['no phase', {}, 'InProgress', 'PVC is not Bound. phase: unknown'],
]);

table('v1', 'Service', [
  ['plain', { spec: {} }, 'Current', 'Service is ready'],
  [
    'load balancer, no address',
    { spec: { type: 'LoadBalancer' } },
    'InProgress',
    'ClusterIP not set. Service type: LoadBalancer',
  ],
  ['load balancer', { spec: { type: 'LoadBalancer', clusterIP: '10.0.0.1' } }, 'Current', 'Service is ready'],
]);

table('apiextensions.k8s.io/v1', 'CustomResourceDefinition', [
  ['names taken', is(condition('NamesAccepted', 'False', 'Taken', 'widgets is taken')), 'Failed', 'widgets is taken'],
  ['refused', is(condition('Established', 'False', 'NotAccepted', 'not accepted')), 'Failed', 'not accepted'],
  ['installing', is(condition('Established', 'False', 'Installing', 'x')), 'InProgress', 'Install in progress'],
  [
    'established',
    is(condition('NamesAccepted', 'True'), condition('Established', 'True')),
    'Current',
    'CRD is established',
  ],
  ['nothing said', {}, 'InProgress', 'Install in progress'],
]);

describe('kinds without a state of their own', () => {
  it.each([
    ['v1', 'Secret', 'Resource is always ready'],
    ['policy/v1', 'PodDisruptionBudget', 'AllowedDisruptions has been computed.'],
  ])('%s %s', (apiVersion, kind, message) => {
    expect(kstatusOf(object(apiVersion, kind), NOW)).toEqual({ status: 'Current', message });
  });
});

it('is decided by group and kind: another group’s Deployment has only its Ready condition', () => {
  const other = object('example.com/v1', 'Deployment', is(condition('Ready', 'False', '', 'no')));
  expect(kstatusOf(other, NOW)).toEqual({ status: 'InProgress', message: 'no' });
  const old = object('extensions/v1beta1', 'Deployment');
  expect(kstatusOf(old, NOW).message).toBe('Replicas: 0/1');
});
