/** A workload that is no longer ready, without a new rollout. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../api/kubernetes.ts';
import { kubeObject } from '../../support/objects.ts';
import { at, evaluated, ms } from './kustomizationFixture.ts';

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
        message: 'Unhealthy resources: demo/web (was complete, and is not since 2026-01-02T11:58:30Z: Available: 1/3)',
        failedAt: ms('11:58:30'),
      });
  });
});
