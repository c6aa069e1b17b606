/** A workload that is no longer ready, without a new rollout, and what its Pods show. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../api/kubernetes.ts';
import { healthWithPods, podQueries } from '../../../core/health/objects/pods.ts';
import { type ObjectHealth, objectHealths } from '../../../core/health/objects/resources.ts';
import { formatTime } from '../../../core/kube/time.ts';
import { kubeObject } from '../../support/objects.ts';
import { at, evaluated, healthContext, ms } from './kustomizationFixture.ts';

const CONTEXT = healthContext({ healthyUntil: ms('11:58:30') });
const ENTRY = { id: 'demo_web_apps_Deployment', v: 'v1' };

/** Two of three Pods crash, in Kubernetes' status after a complete rollout. */
function crashing(changedAt: string, subresource?: string): KubeObject<any, any> {
  return kubeObject('apps/v1', 'Deployment', 'demo/web', {
    metadata: {
      generation: 1,
      creationTimestamp: at('10:00:00'),
      managedFields: [
        {
          manager: 'kustomize-controller',
          operation: 'Apply',
          time: at(changedAt),
          ...(subresource && { subresource }),
        },
        { manager: 'kube-controller-manager', operation: 'Update', subresource: 'status', time: at('11:59:59') },
      ] as never,
    },
    spec: { replicas: 3, progressDeadlineSeconds: 600 },
    status: {
      observedGeneration: 1,
      replicas: 3,
      updatedReplicas: 3,
      availableReplicas: 1,
      readyReplicas: 1,
      conditions: [
        { type: 'Available', status: 'False', reason: 'MinimumReplicasUnavailable' },
        { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' },
      ],
    },
  });
}

describe('a Deployment with too few Pods available', () => {
  it.each([
    ['was ready more than a minute ago', '11:50:00', undefined, '11:58:30', 'Unhealthy'],
    ['was ready until a moment ago', '11:50:00', undefined, '11:59:30', 'Pending'],
    ['was never ready since this deployment', '11:50:00', undefined, undefined, 'Pending'],
    ['was applied anew since it was ready', '11:59:00', undefined, '11:58:30', 'Pending'],
    ['was scaled a moment before it was seen', '11:58:00', 'scale', '11:58:30', 'Pending'],
  ])('%s', (_, changedAt, subresource, healthyUntil, health) => {
    const { result } = evaluated({
      kustomization: { entries: [ENTRY] },
      observed: [
        {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          namespace: 'demo',
          name: 'web',
          object: crashing(changedAt, subresource),
        },
      ],
      ...(healthyUntil && { healthyUntil: ms(healthyUntil) }),
    });
    expect(result.health).toBe(health);
    if (health === 'Unhealthy')
      expect(result).toMatchObject({
        message: 'Unhealthy resources: demo/web (incomplete since 2026-01-02T11:58:30Z: Available: 1/3)',
        failedAt: ms('11:58:30'),
      });
  });
});

describe('a Deployment that Kubernetes has found complete for a moment, and no evaluation', () => {
  type Change = { reason?: string; unavailableSince?: string };
  const healthAfter = (
    completed: string,
    progressDeadlineSeconds: number,
    changed = '11:50:00',
    change: Change = {},
  ) => {
    const object = crashing(changed);
    const { reason, unavailableSince = '11:59:00' } = change;
    const [available, progressing] = object.status.conditions;
    const unavailable = { ...available, lastTransitionTime: at(unavailableSince) };
    const complete = { ...progressing, lastUpdateTime: at(completed), ...(reason && { reason }) };
    const status = { ...object.status, conditions: [unavailable, complete] };
    const observed = { ...object, spec: { ...object.spec, progressDeadlineSeconds }, status };
    const resource = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'demo', name: 'web', object: observed };
    return evaluated({ kustomization: { entries: [ENTRY] }, observed: [resource] }).result;
  };

  it('is Unhealthy at its progress deadline', () => {
    expect(healthAfter('11:51:00', 530)).toMatchObject({
      health: 'Unhealthy',
      message: 'Unhealthy resources: demo/web (complete before, and not at its progress deadline: Available: 1/3)',
      failedAt: ms('11:59:50'),
    });
  });

  it('is Unhealthy at its progress deadline after the deployment, which may be a retry', () => {
    expect(healthAfter('11:40:00', 590, '11:30:00')).toMatchObject({ health: 'Unhealthy', failedAt: ms('11:59:50') });
  });

  it('is Unhealthy if the probe of a Pod fails that was ready then, not of a later one', () => {
    const resource = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'demo', name: 'web' };
    const lost: ObjectHealth = { resource, health: 'unhealthy', seenComplete: ms('11:51:00') };
    const healthOfPod = (created: string) => {
      const pod = kubeObject('v1', 'Pod', 'demo/web-1', {
        metadata: { creationTimestamp: at(created) },
        status: { phase: 'Running', containerStatuses: [{ name: 'app', ready: false, state: { running: {} } }] },
      });
      return healthWithPods({ workload: lost, namespace: 'demo', labelSelector: '', atMost: 200 }, [pod], CONTEXT)
        .health;
    };
    expect(healthOfPod('11:50:30')).toBe('unhealthy');
    expect(healthOfPod('11:51:30')).toBe('pending');
  });

  it.each<[string, ReturnType<typeof healthAfter>]>([
    ['before its progress deadline', healthAfter('11:51:00', 600)],
    ['that was scaled or restarted since', healthAfter('11:51:00', 530, '11:51:01')],
    ['that rolls out a version', healthAfter('11:51:00', 530, '11:50:00', { reason: 'ReplicaSetUpdated' })],
    ['that is unavailable for a moment', healthAfter('11:51:00', 530, '11:50:00', { unavailableSince: '11:59:01' })],
    ['for less than its deadline since this deployment', healthAfter('11:40:00', 601, '11:30:00')],
  ])('%s, is Pending', (_, result) => {
    expect(result.health).toBe('Pending');
  });
});

describe('a Deployment that has lost one of two Pods', () => {
  const [query] = podQueries(
    objectHealths(
      [
        {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          namespace: 'demo',
          name: 'web',
          object: kubeObject('apps/v1', 'Deployment', 'demo/web', {
            metadata: { creationTimestamp: at('10:00:00') },
            spec: { replicas: 2, selector: { matchLabels: { app: 'web' } }, template: {} },
            status: { replicas: 2, updatedReplicas: 2, availableReplicas: 1, readyReplicas: 1 },
          }),
        },
      ],
      { applied: undefined, related: [] },
      CONTEXT,
    ),
  );
  const pod = (created: string, ready: string, container?: object, status: object = {}) =>
    kubeObject('v1', 'Pod', 'demo/web-1', {
      metadata: { creationTimestamp: at(created) },
      status: {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: ready }],
        ...(container && { containerStatuses: [{ name: 'app', ...container }] }),
        ...status,
      },
    });
  const waiting = (reason: string, more: object = {}) => ({ ready: false, state: { waiting: { reason } }, ...more });
  const running = { ready: false, state: { running: {} } };
  const well = pod('10:00:00', 'True', { ...running, ready: true });
  const ending = pod('10:00:00', 'False', running);
  ending.metadata.deletionTimestamp = at('11:59:50');
  const health = (pods: KubeObject<any, any>[], atMost = 200) =>
    healthWithPods({ ...query!, atMost }, pods, CONTEXT).health;

  it.each<[string, KubeObject<any, any>]>([
    ['of a drained node, and pulls its image elsewhere', pod('11:58:25', 'False', waiting('ContainerCreating'))],
    ['of a drained node, and starts slowly elsewhere', pod('11:58:25', 'False', running)],
    ['of a drained node, and the registry is down', pod('11:58:25', 'False', waiting('ImagePullBackOff'))],
    ['of a drained node, and no other has room', pod('11:58:25', 'False')],
    ['of a node that is lost: nothing has ended there', pod('10:00:00', 'False', { ...running, ready: true })],
    ['of a drained node, and ends there', ending],
    ['and waits for minReadySeconds in another', pod('11:58:25', 'True', { ...running, ready: true })],
  ])('%s, is Pending', (_, other) => {
    expect(query?.workload.health).toBe('unhealthy');
    expect(health([well, other])).toBe('pending');
  });

  it.each<[string, KubeObject<any, any>]>([
    ['that crashes', pod('10:00:00', 'False', waiting('CrashLoopBackOff', { restartCount: 2 }))],
    ['that has crashed and runs again', pod('11:58:25', 'False', { ...running, restartCount: 1 })],
    ['whose probe fails', pod('10:00:00', 'False', running)],
    ['that has crashed for the first time', pod('11:58:25', 'False', { state: { terminated: { exitCode: 1 } } })],
    ['that was evicted and not replaced', pod('10:00:00', 'False', running, { phase: 'Failed', reason: 'Evicted' })],
  ])('%s, is Unhealthy', (_, other) => {
    expect(health([well, other])).toBe('unhealthy');
  });

  it('is Unhealthy unless all its Pods were read', () => {
    const moved = pod('11:58:25', 'False', running);
    expect(health([well, moved], 2)).toBe('unhealthy');
    expect(health([moved])).toBe('unhealthy');
  });
});

describe('a workload that is not complete at its deadline, ten minutes after its last change or the deployment', () => {
  interface Setup {
    kind?: string;
    changed?: string;
    cutoff?: string;
    status?: object;
    deadline?: number;
  }
  const revision = { updateRevision: 'web-2', currentRevision: 'web-1', replicas: 3, readyReplicas: 2 };
  const healths = (pods: KubeObject<any, any>[], setup: Setup = {}) => {
    const { kind = 'StatefulSet', changed = '11:45:00', cutoff = '11:44:00', status = revision, deadline } = setup;
    const object = kubeObject('apps/v1', kind, 'demo/web', {
      metadata: { generation: 1, creationTimestamp: at('10:00:00'), managedFields: [{ time: at(changed) }] as never },
      spec: {
        ...{ replicas: 3, selector: { matchLabels: { app: 'web' } }, template: { spec: {} } },
        ...(deadline !== undefined && { progressDeadlineSeconds: deadline }),
      },
      status: { observedGeneration: 1, ...status },
    });
    const context = healthContext({ cutoff: ms(cutoff) });
    const resource = { apiVersion: 'apps/v1', kind, namespace: 'demo', name: 'web', object };
    const [query] = podQueries(objectHealths([resource], { applied: undefined, related: [] }, context));
    const { health, failedAt } = healthWithPods(query!, pods, context);
    return { health, ...(failedAt !== undefined && { failedAt: formatTime(failedAt) }) };
  };
  interface PodSetup {
    created?: string;
    unready?: string;
    hash?: string;
    container?: object;
    phase?: string;
  }
  const pod = ({ created = '11:46:00', unready = '11:55:00', hash = 'web-2', container, phase }: PodSetup = {}) =>
    kubeObject('v1', 'Pod', 'demo/web-2', {
      metadata: { creationTimestamp: at(created), labels: { 'controller-revision-hash': hash } },
      status: {
        phase,
        conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: at(unready) }],
        containerStatuses: [
          { ready: false, state: { waiting: { reason: 'CrashLoopBackOff' } }, restartCount: 6, ...container },
        ],
      },
    }) as KubeObject<any, any>;
  const failed = (time: string) => ({ health: 'unhealthy', failedAt: at(time) });
  const numbers = { desiredNumberScheduled: 3, currentNumberScheduled: 3, updatedNumberScheduled: 1, numberReady: 2 };
  const counts = { replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 2 };

  it.each<[string, ReturnType<typeof healths>]>([
    ['a StatefulSet', healths([pod()])],
    ['a DaemonSet', healths([pod()], { kind: 'DaemonSet', status: numbers })],
    ['a Deployment of which enough Pods are available', healths([pod()], { kind: 'Deployment', status: counts })],
    [
      'a Deployment that was scaled',
      healths([pod({ created: '10:00:00' })], { kind: 'Deployment', status: counts, changed: '11:46:00' }),
    ],
  ])('%s is Unhealthy if one of its Pods crashes', (_, result) => {
    expect(result).toEqual(failed('11:56:00'));
  });

  it('has the time of its last change: Flux may be about to change it', () => {
    const object = kubeObject('apps/v1', 'StatefulSet', 'demo/web', {
      metadata: { managedFields: [{ time: at('11:40:00') }] as never },
      status: revision,
    });
    const resource = { apiVersion: 'apps/v1', kind: 'StatefulSet', namespace: 'demo', name: 'web', object };
    const context = healthContext({ cutoff: ms('11:44:00') });
    const [found] = objectHealths([resource], { applied: undefined, related: [] }, context);
    expect(found).toMatchObject({ health: 'pending', changed: ms('11:40:00') });
  });

  it('counts from the deployment, which may be a retry', () => {
    expect(healths([pod()], { cutoff: '11:49:00' })).toEqual(failed('11:59:00'));
    expect(healths([pod()], { cutoff: '11:50:01' }).health).toBe('pending');
  });

  it.each<[string, ReturnType<typeof healths>]>([
    ['before', healths([pod()], { changed: '11:50:01' })],
    ['if a Pod is younger than that', healths([pod({ created: '11:50:01' })])],
    ['if a Pod was ready a moment ago', healths([pod({ unready: '11:59:01' })])],
    ['if a Pod only starts slowly', healths([pod({ container: { restartCount: 0 } })])],
    ['if a Pod has crashed once and starts slowly', healths([pod({ container: { state: { running: {} } } })])],
    ['if a Pod of the version before crashes', healths([pod({ hash: 'web-1' })])],
    [
      'if such a Pod of a DaemonSet does',
      healths([pod({ created: '11:44:30' })], { kind: 'DaemonSet', status: numbers }),
    ],
    ['if the Pod was evicted', healths([pod({ phase: 'Failed' })])],
    ['if its controller has a deadline of its own', healths([pod()], { kind: 'Other' })],
    ['if a Deployment has more time', healths([pod()], { kind: 'Deployment', status: counts, deadline: 1200 })],
  ])('is Pending %s', (_, { health }) => {
    expect(health).toBe('pending');
  });
});
