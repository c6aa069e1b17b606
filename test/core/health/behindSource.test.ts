/** Flux objects of an inventory that have yet to take what their source, in the same inventory, has fetched. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../api/kubernetes.ts';
import { relatedObjectOf } from '../../../core/health/objects/behindSource.ts';
import type { ObservedResource } from '../../../core/health/objects/resources.ts';
import { kubeObject, objectOf } from '../../support/objects.ts';
import { evaluated, NEW, OLD, source } from './kustomizationFixture.ts';

const digest = (revision: string) => revision.split('@')[1];
const ready = [{ type: 'Ready', status: 'True', reason: 'Succeeded', message: '', observedGeneration: 1 }];
const seen = (object: KubeObject<any, any>): ObservedResource => {
  const { apiVersion, kind, metadata } = object;
  return { apiVersion, kind, namespace: metadata.namespace ?? '', name: metadata.name ?? '', object };
};
const chart = seen(
  objectOf('OCIRepository', 'demo/chart', {
    metadata: { generation: 1 },
    spec: { ref: { tag: '1.1.0' } },
    status: { observedGeneration: 1, conditions: ready, artifact: { revision: NEW } } as never,
  }),
);
const release = (ociDigest?: string, spec: object = {}) =>
  seen(
    objectOf('HelmRelease', 'demo/app', {
      metadata: { generation: 1 },
      spec: { chartRef: { kind: 'OCIRepository', name: 'chart' }, ...spec },
      status: { observedGeneration: 1, conditions: ready, history: [{ status: 'deployed', ociDigest }] } as never,
    }),
  );
const nested = (lastAppliedRevision: string, source = 'chart') =>
  seen(
    objectOf('Kustomization', 'demo/app', {
      metadata: { generation: 1 },
      spec: { sourceRef: { kind: 'OCIRepository', name: source } },
      status: { observedGeneration: 1, conditions: ready, lastAppliedRevision } as never,
    }),
  );

const rolledBack = (of: ObservedResource, attempt: object): ObservedResource => {
  const history = [{ status: 'deployed', chartVersion: '1.0.0' }];
  return { ...of, object: { ...of.object!, status: { ...of.object!.status, history, ...attempt } } };
};
const failed = (of: ObservedResource, reason: string, attempt: object): ObservedResource => {
  const conditions = [{ ...ready[0], status: 'False', reason, lastTransitionTime: '2026-01-02T11:59:00Z' }];
  return { ...of, object: { ...of.object!, status: { ...of.object!.status, conditions, ...attempt } } };
};
const upgradeOf = (revision?: string) =>
  failed(release(digest(OLD)), 'UpgradeFailed', {
    lastAttemptedRevision: '1',
    lastAttemptedRevisionDigest: revision && digest(revision),
    history: [{ status: 'failed', chartVersion: '1', lastDeployed: '2026-01-02T11:58:00Z' }],
  });
const notFetched = { ...chart, object: { ...chart.object!, metadata: { ...chart.object!.metadata, generation: 2 } } };

const GIT = { old: 'v1.0.0@sha1:aaa', new: 'v1.1.0@sha1:bbb' };
const repository = seen(
  objectOf('GitRepository', 'demo/web', {
    metadata: { generation: 1 },
    status: { observedGeneration: 1, conditions: ready, artifact: { revision: GIT.new } } as never,
  }),
);
const external = seen(
  objectOf('ExternalArtifact', 'demo/web', {
    metadata: { generation: 1 },
    status: { conditions: ready, artifact: { revision: GIT.new } } as never,
  }),
);
const from = (kind: string, lastAppliedRevision: string) => {
  const of = nested(lastAppliedRevision);
  return { ...of, object: { ...of.object!, spec: { sourceRef: { kind, name: 'web' } } } };
};
const ofGit = (lastAppliedRevision: string) => from('GitRepository', lastAppliedRevision);

describe('a failure after the deployment of 1.1.0', () => {
  it.each<[string, ObservedResource[], string]>([
    ['to upgrade to it counts', [chart, upgradeOf(NEW)], 'Unhealthy'],
    ['of an upgrade to 1.0.0 that was under way is no failure of it', [chart, upgradeOf(OLD)], 'Pending'],
    ['is none of it before its chart is fetched', [notFetched, upgradeOf(OLD)], 'Pending'],
    ['counts if the attempt is unknown', [chart, upgradeOf()], 'Unhealthy'],
    [
      'of a Kustomization that applied 1.0.0 is no failure of it',
      [chart, failed(nested(OLD), 'HealthCheckFailed', { lastAttemptedRevision: OLD })],
      'Pending',
    ],
  ])('%s', (_, observed, health) => {
    expect(evaluated({ kustomization: {}, observed }).result).toMatchObject({ health });
  });
});

describe('with the source of 1.1.0 in its inventory, a check is', () => {
  it.each<[string, ObservedResource[], string, string]>([
    ['a HelmRelease that runs it', [release(digest(NEW))], 'Healthy', ''],
    ['one that still runs 1.0.0', [release(digest(OLD))], 'Pending', 'OCIRepository chart has 1.1.0@sha256:bbb'],
    ['one that is suspended', [release(digest(OLD), { suspend: true })], 'Pending', 'suspended'],
    ['one that reports no digest', [release()], 'Healthy', ''],
    [
      'one that Helm rolled back to 1.0.0',
      [rolledBack(release(), { lastAttemptedRevision: '1.0.0', lastAttemptedRevisionDigest: digest(OLD) })],
      'Pending',
      'runs sha256:aaa',
    ],
    ['one of another source', [release('x', { chartRef: { kind: 'OCIRepository', name: 'other' } })], 'Healthy', ''],
    [
      'a source that a user suspended before it fetched its tag',
      [seen(source({ artifact: OLD, suspend: true }))],
      'Pending',
      'OCIRepository web has 1.0.0@sha256:aaa, not 1.1.0',
    ],
    ['a Kustomization that has applied it', [nested(NEW)], 'Healthy', ''],
    [
      'one that has applied 1.0.0 of the source that it shares with the Kustomization above it',
      [nested(OLD, 'web')],
      'Pending',
      '(still runs 1.0.0@sha256:aaa; OCIRepository web has 1.1.0@sha256:bbb)',
    ],
    ['a Kustomization that has applied it from a GitRepository', [repository, ofGit(GIT.new)], 'Healthy', ''],
    [
      'one that still runs 1.0.0 of a GitRepository',
      [repository, ofGit(GIT.old)],
      'Pending',
      '(still runs v1.0.0@sha1:aaa; GitRepository web has v1.1.0@sha1:bbb)',
    ],
    ['one whose GitRepository is not in the inventory', [ofGit(GIT.old)], 'Healthy', ''],
    ['one of a source that reports no generation', [external, from('ExternalArtifact', GIT.new)], 'Healthy', ''],
  ])('of %s', (_, others, health, message) => {
    const { result } = evaluated({ kustomization: {}, observed: [chart, ...others] });
    expect(result).toMatchObject({ health, message: expect.stringContaining(message) });
  });
});

describe('a Rollout of Argo whose Pod template is that of a Deployment at generation 3 is', () => {
  const workload = seen(
    kubeObject('apps/v1', 'Deployment', 'demo/app', {
      metadata: { generation: 3 },
      spec: { replicas: 0 },
      status: { observedGeneration: 3, conditions: [{ type: 'Available', status: 'True' }] },
    }),
  );
  const argo = (phase: string, workloadObservedGeneration: string, name = 'app') =>
    seen(
      kubeObject('argoproj.io/v1alpha1', 'Rollout', 'demo/app', {
        metadata: { generation: 1 },
        spec: { workloadRef: { apiVersion: 'apps/v1', kind: 'Deployment', name } },
        status: { observedGeneration: '1', phase, workloadObservedGeneration },
      }),
    );
  it.each<[string, ObservedResource, string]>([
    ['Healthy once it has observed it', argo('Healthy', '3'), 'Healthy'],
    ['Pending before, with the version before', argo('Healthy', '2'), 'Pending'],
    ['Pending before, also if the version before was aborted', argo('Degraded', '2'), 'Pending'],
    ['Unhealthy if this one was aborted', argo('Degraded', '3'), 'Unhealthy'],
    ['Healthy if the Deployment is not in the inventory', argo('Healthy', '2', 'other'), 'Healthy'],
  ])('%s', (_, rollout, health) => {
    expect(evaluated({ observed: [workload, rollout] }).result).toMatchObject({ health });
  });
});

describe('a Canary at rest is', () => {
  const workload = (name: string, image: string) =>
    seen(
      kubeObject('apps/v1', 'Deployment', `demo/${name}`, {
        metadata: { generation: 1 },
        spec: { replicas: 0, template: { spec: { containers: [{ name: 'app', image }] } } },
        status: { observedGeneration: 1, conditions: [{ type: 'Available', status: 'True' }] },
      }),
    );
  const canary = seen(
    kubeObject('flagger.app/v1beta1', 'Canary', 'demo/web', {
      metadata: { generation: 1 },
      spec: { targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, analysis: { interval: '30s' } },
      status: { phase: 'Succeeded', lastTransitionTime: '2026-01-02T11:00:00Z' },
    }),
  );

  it('Pending if Flagger, which may be down, has not promoted the images of its target', () => {
    const healthWith = (promoted: string) =>
      evaluated({ observed: [workload('web', 'web:2'), canary, workload('web-primary', promoted)] }).result;
    expect(healthWith('web:1')).toMatchObject({
      health: 'Pending',
      message: 'Pending resources: demo/web (Flagger has not promoted the images of Deployment web yet)',
    });
    expect(healthWith('web:2').health).toBe('Healthy');
  });

  it('Healthy if its primary can’t be read', () => {
    expect(evaluated({ observed: [workload('web', 'web:2'), canary] }).result.health).toBe('Healthy');
  });

  it('read with its primary', () => {
    const primary = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'demo', name: 'web-primary' };
    expect(relatedObjectOf(canary.object!)).toEqual(primary);
  });
});
