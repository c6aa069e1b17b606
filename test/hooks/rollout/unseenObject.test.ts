/** Bound objects whose FluxBinding in Metacontroller's cache is missing or behind. */
import { expect, it } from 'vitest';
import type { KubeObject } from '../../../api/kubernetes.ts';
import { boundLabel } from '../../../core/binding/bindingSpec.ts';
import { imagePolicy, rollout } from './call.ts';
import { deployed, freeze, sync } from './sync.ts';

const at = (time: string) => `2026-03-01T${time}Z`;
const late = {
  apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
  kind: 'Kustomization',
  metadata: {
    name: 'late',
    namespace: 'team-a',
    uid: 'u-late',
    annotations: { 'rollout.kuberik.com/substitute.VERSION.from': 'app' },
  },
  spec: {},
} as KubeObject<any, any>;
const app = { ...late, metadata: { ...late.metadata, name: 'app', uid: 'u-app' } } as KubeObject<any, any>;
const binding = {
  apiVersion: 'kuberik.com/v1alpha1',
  kind: 'FluxBinding',
  metadata: { name: 'kustomization-app', namespace: 'team-a', labels: { [boundLabel('app')]: '' } },
  spec: {
    target: { apiVersion: app.apiVersion, kind: 'Kustomization', name: 'app', uid: 'u-app' },
    fields: [{ rollout: 'app', variable: 'VERSION' }],
  },
  status: { applied: [{ rollout: 'app', uid: 'uid-of-app', id: 1, version: '1.0.0' }] },
} as KubeObject<any, any>;
const head = { id: 1, version: { tag: '1.0.0' }, timestamp: at('11:40:00') };

it('an object that is bound at the end of a bake has to apply the version, also before it has a FluxBinding', async () => {
  const entry = { ...head, appliedTime: at('11:41:00'), bakeStatus: 'InProgress', bakeStartTime: at('11:50:00') };
  const status = { ...deployed, history: [entry] };
  const answer = await sync(rollout({ bakeTime: '5m' }, status), [imagePolicy('1.0.0'), binding], {
    objects: [app, late, binding],
  });
  expect(answer.status.history?.[0]).toMatchObject({ bakeStatus: 'InProgress' });
});

it('a deployment does not fail by its timeout once the stored FluxBinding has the version', async () => {
  const parent = rollout({ deployTimeout: '19m30s' }, { ...deployed, history: [{ ...head, bakeStatus: 'Deploying' }] });
  const answer = await sync(parent, [imagePolicy('1.0.0'), { ...binding, status: {} }], { objects: [app, binding] });
  expect(answer.status.history?.[0]).toMatchObject({ bakeStatus: 'Succeeded' });
});

it('a bake begins only once the live objects have the version, also in a sync whose deployment a live Gate stops', async () => {
  const status = {
    ...deployed,
    history: [{ ...head, bakeStatus: 'Deploying' }],
    availableReleases: [{ tag: '1.0.0' }, { tag: '1.1.0' }],
  };
  const parent = rollout({ bakeTime: '5m', gates: [{ name: 'freeze' }] }, status);
  parent.metadata.annotations = { 'rollout.kuberik.com/force-deploy': '1.1.0' };
  const answer = await sync(parent, [imagePolicy('1.1.0'), binding, freeze('freeze', 'opened')], {
    objects: [app, late, binding, freeze('freeze', 'closed')],
  });
  expect(answer.tags).toEqual(['1.0.0']);
  expect(answer.status.history?.[0]).toMatchObject({ bakeStatus: 'Deploying' });
});
