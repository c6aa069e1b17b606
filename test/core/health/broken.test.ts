/** A workload that is no longer ready, without a new rollout, and what its Pods show. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../api/kubernetes.ts';
import { healthWithPods, podQueries } from '../../../core/health/objects/pods.ts';
import { type ObjectHealth, objectHealths } from '../../../core/health/objects/resources.ts';
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
    ['was scaled since it was ready', '11:59:00', 'scale', '11:58:30', 'Pending'],
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
        message: 'Unhealthy resources: demo/web (was complete, but not since 2026-01-02T11:58:30Z: Available: 1/3)',
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
      message: 'Unhealthy resources: demo/web (was complete, but not at its progress deadline: Available: 1/3)',
      failedAt: ms('11:59:50'),
    });
  });

  it('is Unhealthy if the probe of a Pod fails that was ready then, not of a later one', () => {
    const resource = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'demo', name: 'web' };
    const lost: ObjectHealth = { resource, health: 'unhealthy', seenComplete: ms('11:51:00') };
    const healthOfPod = (created: string) => {
      const pod = kubeObject('v1', 'Pod', 'demo/web-1', {
        metadata: { creationTimestamp: at(created) },
        status: { phase: 'Running', containerStatuses: [{ name: 'app', ready: false, state: { running: {} } }] },
      });
      return healthWithPods({ workload: lost, namespace: 'demo', labelSelector: '', atMost: 200 }, [pod]).health;
    };
    expect(healthOfPod('11:50:30')).toBe('unhealthy');
    expect(healthOfPod('11:51:30')).toBe('pending');
  });

  it.each<[string, ReturnType<typeof healthAfter>]>([
    ['before its progress deadline', healthAfter('11:51:00', 600)],
    ['that was scaled or restarted since', healthAfter('11:51:00', 530, '11:51:01')],
    ['that rolls out a version', healthAfter('11:51:00', 530, '11:50:00', { reason: 'ReplicaSetUpdated' })],
    ['that is unavailable for a moment', healthAfter('11:51:00', 530, '11:50:00', { unavailableSince: '11:59:01' })],
    ['whose deadline was before this deployment', healthAfter('11:40:00', 600, '11:30:00')],
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
      { applied: undefined, sources: [] },
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
  const health = (pods: KubeObject<any, any>[], atMost = 200) => healthWithPods({ ...query!, atMost }, pods).health;

  it.each<[string, KubeObject<any, any>]>([
    ['of a drained node, and pulls its image elsewhere', pod('11:58:25', 'False', waiting('ContainerCreating'))],
    ['of a drained node, and starts slowly elsewhere', pod('11:58:25', 'False', running)],
    ['of a drained node, and the registry is down', pod('11:58:25', 'False', waiting('ImagePullBackOff'))],
    ['of a drained node, and no other has room', pod('11:58:25', 'False')],
    ['of a node that is lost: nothing has ended there', pod('10:00:00', 'False', { ...running, ready: true })],
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
