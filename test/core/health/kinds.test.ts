/** Health of kinds for which kstatus reports Current or InProgress; docs/healthchecks.md has the same table. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../api/kubernetes.ts';
import { healthOf } from '../../../core/health/objects/kindHealth.ts';
import { at, healthContext, ms } from './kustomizationFixture.ts';

/** The version was applied 90 seconds ago. */
const CONTEXT = healthContext({ cutoff: ms('11:58:30') });
const healthStatus = (of: KubeObject<any, any>) => healthOf(of, CONTEXT).status;

const object = (apiVersion: string, kind: string, status: object, spec: object = {}): KubeObject<any, any> => ({
  apiVersion,
  kind,
  metadata: { name: 'web', namespace: 'demo', generation: 2 },
  spec,
  status,
});
const ready = (status: string, reason: string, observedGeneration = 2) => ({
  observedGeneration: 2,
  conditions: [
    { type: 'Reconciling', status: 'True', reason: 'ProgressingWithRetry', message: 'again' },
    { type: 'Ready', status, reason, message: 'because', observedGeneration },
  ],
});
const release = (...args: Parameters<typeof ready>) =>
  object('helm.toolkit.fluxcd.io/v2', 'HelmRelease', ready(...args));
const remediated = (reason: string, failure: object) => {
  const { status, ...rest } = release('False', reason);
  const more = [
    { type: 'Remediated', status: 'True', reason, message: 'because', observedGeneration: 2 },
    { status: 'False', message: 'timed out', observedGeneration: 2, ...failure },
  ];
  return { ...rest, status: { ...status, conditions: [...status.conditions, ...more] } };
};
const nested = (...args: Parameters<typeof ready>) =>
  object('kustomize.toolkit.fluxcd.io/v1', 'Kustomization', ready(...args));
/** A failure that Flux has written with the stored generation (F13). */
const attempted = (lastAttemptedGeneration: number) => {
  const { status, ...rest } = release('False', 'UpgradeFailed');
  return { ...rest, status: { ...status, lastAttemptedGeneration } };
};
const attemptOf = (lastReconciledDuration: string) => {
  const { status, ...rest } = nested('False', 'HealthCheckFailed');
  const time = at('11:59:45');
  const conditions = status.conditions.map((each: object) => ({ ...each, lastTransitionTime: time }));
  const entry = { lastReconciled: time, lastReconciledDuration, lastReconciledStatus: 'HealthCheckFailed' };
  return { ...rest, status: { ...status, conditions, history: [entry] } };
};
const canary = (phase: string, moved = '11:59:00', interval = '30s') =>
  object(
    'flagger.app/v1beta1',
    'Canary',
    {
      phase,
      canaryWeight: 10,
      failedChecks: 2,
      lastTransitionTime: at(moved),
      conditions: [{ type: 'Promoted', status: 'False', message: 'rollback by analysis' }],
    },
    { analysis: { interval } },
  );
/** Flagger reports the specs of its target, as hashes: the present one, and the one that was promoted last. */
const rejected = (lastAppliedSpec: string) => {
  const { status, ...rest } = canary('Failed');
  return { ...rest, status: { ...status, lastAppliedSpec, lastPromotedSpec: 'old' } };
};
const argo = (phase: string, more: object = {}) =>
  object(
    'argoproj.io/v1alpha1',
    'Rollout',
    { observedGeneration: '2', phase, currentStepIndex: 1, canary: { weights: { canary: { weight: 20 } } }, ...more },
    { strategy: { canary: { steps: [{}, {}, {}] } } },
  );
const job = (status: object, spec: object = {}) => object('batch/v1', 'Job', status, spec);
/** As cert-manager reports: the generation is in the condition alone. */
const certificate = (observedGeneration: number | undefined, spec: object = {}) => {
  const conditions = [{ type: 'Ready', status: 'True', observedGeneration }];
  return object('cert-manager.io/v1', 'Certificate', { conditions }, spec);
};
const replicas = { replicas: 3, readyReplicas: 3, updatedReplicas: 3, currentReplicas: 3 };
const onDelete = (status: object = {}) =>
  object(
    'apps/v1',
    'StatefulSet',
    { observedGeneration: 2, ...replicas, currentRevision: 'a', updateRevision: 'a', ...status },
    { replicas: 3, updateStrategy: { type: 'OnDelete' } },
  );
const cloneSet = (status: object, spec: object = {}) =>
  object(
    'apps.kruise.io/v1alpha1',
    'CloneSet',
    { observedGeneration: 2, replicas: 3, ...status },
    { replicas: 3, ...spec },
  );
const oneUpdated = { readyReplicas: 3, availableReplicas: 3, updatedReplicas: 1 };
const kruiseDaemonSet = (status: object) =>
  object('apps.kruise.io/v1alpha1', 'DaemonSet', { observedGeneration: 2, desiredNumberScheduled: 2, ...status });
const available = { updatedReplicas: 3, availableReplicas: 3, unavailableReplicas: 0 };
const kruise = (phase: string, more: object = {}) =>
  object('rollouts.kruise.io/v1beta1', 'Rollout', { observedGeneration: 2, phase, ...more });

const pipelineRun = (succeeded: string, reason: string) =>
  object('tekton.dev/v1', 'PipelineRun', {
    conditions: [{ type: 'Succeeded', status: succeeded, reason, message: 'Tasks Completed: 1 (Failed: 1)' }],
  });
const workflow = (status: object) => object('argoproj.io/v1alpha1', 'Workflow', status);

describe('health of', () => {
  it.each<[string, KubeObject<any, any>, string, RegExp]>([
    ...['InstallFailed', 'UpgradeFailed', 'TestFailed', 'RollbackFailed', 'UninstallFailed'].map(
      (reason) =>
        [
          `a HelmRelease with ${reason}, which Flux tries again`,
          release('False', reason),
          'Failed',
          /Failed: because/,
        ] as [string, KubeObject<any, any>, string, RegExp],
    ),
    [
      'a HelmRelease that Flux has rolled back after an upgrade that failed',
      remediated('RollbackSucceeded', { type: 'Released', reason: 'UpgradeFailed' }),
      'Failed',
      /^UpgradeFailed: timed out \(RollbackSucceeded: because\)$/,
    ],
    [
      'a HelmRelease that Flux has uninstalled after a test that failed',
      remediated('UninstallSucceeded', { type: 'TestSuccess', reason: 'TestFailed' }),
      'Failed',
      /^TestFailed: timed out \(UninstallSucceeded: because\)$/,
    ],
    ['a HelmRelease that moves to another namespace', release('False', 'UninstallSucceeded'), 'InProgress', /again/],
    ['a HelmRelease of the generation before', release('False', 'UpgradeFailed', 1), 'InProgress', /again/],
    ['one whose upgrade to this generation failed', attempted(2), 'Failed', /UpgradeFailed/],
    ['one whose upgrade to the generation before failed meanwhile', attempted(1), 'InProgress', /again/],
    ['a HelmRelease without its chart yet', release('False', 'ArtifactFailed'), 'InProgress', /again/],
    ['a kind whose Ready is of this generation', certificate(2), 'Current', /Ready/],
    ['one whose Ready has no generation', certificate(undefined), 'Current', /Ready/],
    ['one whose Ready is of the generation before', certificate(1), 'InProgress', /Ready is about generation 1, not 2/],
    ['one that is suspended, and so stays as it is', certificate(1, { suspend: true }), 'Current', /Ready/],
    ['one that was changed while suspended', certificate(0, { suspend: true }), 'InProgress', /generation 0, not 2/],
    ['a Pod that has failed', object('v1', 'Pod', { phase: 'Failed', reason: 'Evicted' }), 'Failed', /Failed: Evicted/],
    ['a Pod that has succeeded', object('v1', 'Pod', { phase: 'Succeeded' }), 'Current', /successfully/],
    ['a Job that runs', job({ startTime: at('11:59:00'), active: 1 }), 'InProgress', /active: 1/],
    ['a Job that has completed', job({ conditions: [{ type: 'Complete', status: 'True' }] }), 'Current', /Completed/],
    ['a Job that has failed', job({ conditions: [{ type: 'Failed', status: 'True' }] }), 'Failed', /Failed/],
    [
      'a Job that is suspended',
      job({ conditions: [{ type: 'Suspended', status: 'True' }] }, { suspend: true }),
      'Current',
      /suspended/,
    ],
    ['a StatefulSet with OnDelete that has not changed', onDelete(), 'Current', /Updated: 3\/3/],
    [
      'one whose Pods were all deleted, and run this version',
      onDelete({ updateRevision: 'b', currentReplicas: 0 }),
      'Current',
      /Updated: 3\/3/,
    ],
    ['one whose Pods crash', onDelete({ readyReplicas: 0 }), 'InProgress', /Ready: 0\/3/],
    [
      'one whose Pods still run the version before',
      onDelete({ updateRevision: 'b', updatedReplicas: 1, currentReplicas: 2 }),
      'InProgress',
      /Updated: 1\/3, delete the other Pods/,
    ],
    [
      'a StatefulSet whose Pods are ready, and not yet for minReadySeconds',
      { ...onDelete({ availableReplicas: 2 }), spec: { replicas: 3 } },
      'InProgress',
      /Available: 2\/3/,
    ],
    ['one whose Pods are available', { ...onDelete({ availableReplicas: 3 }), spec: { replicas: 3 } }, 'Current', /3/],
    ['a CloneSet of OpenKruise without a Pod', cloneSet({ readyReplicas: 2 }), 'InProgress', /Ready: 2\/3/],
    ['one with all Pods', cloneSet({ readyReplicas: 3, availableReplicas: 3 }), 'Current', /current/],
    ['one with one Pod of this version', cloneSet(oneUpdated), 'InProgress', /Updated: 1\/3/],
    [
      'one of which no part keeps the version before',
      cloneSet(oneUpdated, { updateStrategy: { partition: '0%' } }),
      'InProgress',
      /Updated: 1\/3/,
    ],
    [
      'one of which a part keeps the version before',
      cloneSet(oneUpdated, { updateStrategy: { partition: '50%' } }),
      'Current',
      /current/,
    ],
    [
      'a StatefulSet of OpenKruise of which a part does',
      cloneSet(oneUpdated, { updateStrategy: { rollingUpdate: { partition: 2 } } }),
      'Current',
      /current/,
    ],
    [
      'one whose condition is Ready',
      cloneSet({ ...oneUpdated, conditions: [{ type: 'Ready', status: 'True' }] }),
      'Current',
      /Ready/,
    ],
    [
      'a DaemonSet of OpenKruise whose Pods crash',
      kruiseDaemonSet({ numberReady: 0, updatedNumberScheduled: 2 }),
      'InProgress',
      /Ready: 0\/2/,
    ],
    [
      'one with one Pod of this version',
      kruiseDaemonSet({ numberReady: 2, numberAvailable: 2, updatedNumberScheduled: 1 }),
      'InProgress',
      /Updated: 1\/2/,
    ],
    ['one that no node can run', kruiseDaemonSet({ desiredNumberScheduled: 0, numberReady: 0 }), 'Current', /current/],
    ['a Prometheus without a Pod', cloneSet({ availableReplicas: 2 }), 'InProgress', /Available: 2\/3/],
    ['one with all its Pods, without a count of ready ones', cloneSet(available), 'Current', /current/],
    ['a LeaderWorkerSet without any Pod that is ready', cloneSet({ updatedReplicas: 3 }), 'InProgress', /Ready: 0\/3/],
    [
      'a kind that is Ready by its condition',
      cloneSet({ updatedReplicas: 3, conditions: [{ type: 'Ready', status: 'True' }] }),
      'Current',
      /Ready/,
    ],
    ['a KafkaNodePool, which counts no ready Pods', cloneSet({}), 'Current', /current/],
    ['a Kustomization whose own health check failed', nested('False', 'HealthCheckFailed'), 'Failed', /because/],
    ['one whose health check began with this version, and failed', attemptOf('60s'), 'Failed', /because/],
    ['one whose health check began before it, and failed meanwhile', attemptOf('5m0s'), 'InProgress', /again/],
    ['a Kustomization that waits for another', nested('False', 'DependencyNotReady'), 'InProgress', /again/],
    [
      'a closed Gate',
      object('gating.toolkit.fluxcd.io/v1alpha1', 'Gate', ready('False', 'GateClosed')),
      'Current',
      /is there/,
    ],
    [
      'a RolloutGate that is not passing',
      object('kuberik.com/v1alpha1', 'RolloutGate', ready('False', 'NotPassing')),
      'Current',
      /is there/,
    ],
    [
      'a rejected Canary',
      canary('Failed'),
      'Failed',
      /Canary Failed, weight 10 %, 2 failed checks: rollback by analysis/,
    ],
    ['a rejected one whose target is as it was', rejected('new'), 'Failed', /Canary Failed/],
    ['one whose target was rolled back to what was promoted', rejected('old'), 'Current', /has the promoted version/],
    ['a promoted Canary', canary('Succeeded'), 'Current', /Succeeded/],
    ['a Canary under way', canary('Progressing'), 'InProgress', /Progressing, weight 10 %/],
    ['a Canary without a phase', canary(''), 'InProgress', /without a phase/],
    ['a Canary that has not looked yet', canary('Succeeded', '11:00:00', '1m'), 'InProgress', /not analyzed it yet/],
    ['one of the version before that failed', canary('Failed', '11:00:00', '1m'), 'InProgress', /not analyzed it yet/],
    ['one that this version does not concern', canary('Succeeded', '11:00:00', '30s'), 'Current', /Succeeded/],
    ['a PipelineRun of Tekton that runs', pipelineRun('Unknown', 'Running'), 'InProgress', /Running: Tasks/],
    ['one that has failed', pipelineRun('False', 'Failed'), 'Failed', /Failed: Tasks Completed/],
    ['one that has succeeded', pipelineRun('True', 'Completed'), 'Current', /Completed/],
    ['a TaskRun that waits', object('tekton.dev/v1beta1', 'TaskRun', {}), 'InProgress', /has not started/],
    ['a Workflow of Argo that runs', workflow({ phase: 'Running' }), 'InProgress', /Workflow Running/],
    ['one that waits', workflow({}), 'InProgress', /Workflow without a phase/],
    ['one that has failed', workflow({ phase: 'Failed', message: 'exit code 1' }), 'Failed', /Failed: exit code 1/],
    ['one that could not run', workflow({ phase: 'Error' }), 'Failed', /Workflow Error/],
    [
      'one that has succeeded',
      workflow({ phase: 'Succeeded', conditions: [{ type: 'Completed', status: 'True' }] }),
      'Current',
      /Succeeded/,
    ],
    [
      'a degraded Rollout of Argo',
      argo('Degraded', { message: 'aborted' }),
      'Failed',
      /weight 20 %, step 1 of 3: aborted/,
    ],
    ['an aborted one', argo('Progressing', { abort: true }), 'Failed', /Progressing/],
    ['a paused one', argo('Paused'), 'InProgress', /Paused/],
    ['a healthy one', argo('Healthy'), 'Current', /Healthy/],
    [
      'one that its controller has not seen',
      argo('Healthy', { observedGeneration: '1' }),
      'InProgress',
      /observed generation is 1/,
    ],
    [
      'a Rollout of OpenKruise under way',
      kruise('Progressing', { canaryStatus: { currentStepIndex: 2 } }),
      'InProgress',
      /step 2/,
    ],
    ['a healthy one of OpenKruise', kruise('Healthy'), 'Current', /Healthy/],
    [
      'one of OpenKruise that was rolled back',
      kruise('Healthy', { conditions: [{ type: 'Succeeded', status: 'False' }] }),
      'Failed',
      /Healthy/,
    ],
  ])('%s', (_, of, status, message) => {
    const health = healthOf(of, CONTEXT);
    expect(health.status).toBe(status);
    expect(health.message).toMatch(message);
  });
});

/** An object without a report: neither a missing `status` nor an empty one shows running Pods. */
describe('without a status', () => {
  const one = { template: { spec: { containers: [] } } };
  it.each<[string, string, object, 'InProgress' | 'Current']>([
    ['apps/v1', 'Deployment', { replicas: 0, progressDeadlineSeconds: 2147483647 }, 'InProgress'],
    ['apps/v1', 'StatefulSet', { updateStrategy: { type: 'OnDelete' } }, 'InProgress'],
    ['apps/v1', 'StatefulSet', { replicas: 0 }, 'InProgress'],
    ['apps/v1', 'ReplicaSet', { replicas: 0 }, 'InProgress'],
    ['apps/v1', 'DaemonSet', {}, 'InProgress'],
    ['apps/v1', 'ControllerRevision', {}, 'Current'],
    ['batch/v1', 'Job', {}, 'InProgress'],
    ['batch/v1', 'CronJob', { jobTemplate: { spec: one } }, 'Current'],
    ['argoproj.io/v1alpha1', 'Rollout', {}, 'InProgress'],
    ['argoproj.io/v1alpha1', 'AnalysisTemplate', { metrics: [] }, 'Current'],
    ['flagger.app/v1beta1', 'Canary', {}, 'InProgress'],
    ['rollouts.kruise.io/v1beta1', 'Rollout', {}, 'InProgress'],
    ['apps.kruise.io/v1alpha1', 'CloneSet', one, 'InProgress'],
    ['example.com/v1', 'Engine', { replicas: 2 }, 'InProgress'],
    ['example.com/v1', 'Engine', one, 'InProgress'],
    ['bitnami.com/v1alpha1', 'SealedSecret', { template: { type: 'Opaque' } }, 'Current'],
    ['example.com/v1', 'Widget', { size: 3 }, 'Current'],
    ['v1', 'Service', {}, 'Current'],
  ])('%s %s %j is %3$s', (apiVersion, kind, spec, status) => {
    const of = object(apiVersion, kind, {}, spec);
    const { status: _, ...bare } = of;
    const deleted = { ...of, metadata: { ...of.metadata, deletionTimestamp: at('11:00:00') } };
    expect([of, bare, deleted].map(healthStatus)).toEqual([status, status, 'Terminating']);
  });

  it('any status counts as one, whatever it holds', () => {
    const engine = (status: object) => object('example.com/v1', 'Engine', status, { replicas: 2 });
    expect(healthStatus(engine({ phase: 'On' }))).toBe('Current');
    expect(healthOf(engine({}), CONTEXT).message).toBe('Engine has no status yet');
  });
});
