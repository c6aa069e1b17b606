import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { HealthCheck } from '../../../api/types.ts';
import { fakeCluster, fakeHookCall } from '../../../dev/fakes/ports.ts';
import { healthCheckHook } from '../../../hooks/healthCheck/healthCheckHook.ts';
import { namespaceOf } from '../../support/objects.ts';
import { at, cluster, healthCheck, NOW, rollout, syncOnce } from './fixture.ts';

describe('reset: H1 to H16 are cases of the Go controller', () => {
  it.each(['unknown', undefined])('H2, H3: class %s has nothing to say and asks for no resync', async (kind) => {
    const object = healthCheck({ spec: kind === undefined ? {} : { class: kind } });
    expect(await syncOnce(object, cluster([]))).toEqual({ attachments: [] });
  });

  const deployedAnHourAgo = rollout({ timestamp: at('11:00:00') });

  it('requeues after a second, in case the write was lost in a conflict', async () => {
    const object = healthCheck({ spec: {}, status: { status: 'Healthy' } });
    expect((await syncOnce(object, cluster([]), [deployedAnHourAgo])).resyncAfterSeconds).toBe(1);
  });

  it('a deployment of the future resets at its time', async () => {
    const object = healthCheck({ spec: {}, status: { status: 'Healthy' } });
    const future = rollout({ timestamp: at('12:00:20') });
    expect(await syncOnce(object, cluster([]), [future])).toEqual({ attachments: [], resyncAfterSeconds: 20 });
    expect((await syncOnce(object, cluster([]), [future], NOW + 20_000)).status).toMatchObject({ status: 'Pending' });
  });

  it('Q20: a Rollout of another namespace never resets this one, whatever its selectors and consents', async () => {
    const elsewhere = rollout(
      { timestamp: at('11:00:00') },
      { healthCheckSelector: { selector: {}, namespaceSelector: { matchLabels: { team: 'a' } } } },
      { namespace: 'other' },
    );
    const annotations = { 'healthcheck.kuberik.com/watched-from': '*' };
    const namespace = namespaceOf('demo', { labels: { team: 'a' }, annotations });
    const object = healthCheck({
      spec: {},
      annotations,
      status: { status: 'Unhealthy', lastErrorTime: at('10:00:00') },
    });
    expect((await syncOnce(object, cluster([namespace]), [elsewhere])).status).toBeUndefined();
  });

  it('an unreadable namespace is no answer at all', async () => {
    const elsewhere = rollout(
      { timestamp: at('11:00:00') },
      { healthCheckSelector: { selector: {}, namespaceSelector: {} } },
    );
    await expect(syncOnce(healthCheck(), cluster([], { namespaces: 'timeout' }), [elsewhere])).rejects.toThrow(
      'timeout',
    );
  });
});

describe('customize', () => {
  const customize = (object: HealthCheck, serves = true, around: KubeObject<any, any>[] = []) => {
    const parent = object as unknown as KubeObject;
    return healthCheckHook.customize!(
      { controller: parent, parent },
      fakeHookCall({ now: NOW, cluster: fakeCluster(around, { serves: () => serves }) }).call,
    );
  };
  const own = { apiVersion: 'kuberik.com/v1alpha1', resource: 'rollouts', namespace: 'demo' };
  const named = (namespace: string, name: string) => ({
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    resource: 'kustomizations',
    namespace,
    names: [name],
  });

  it('relates the Rollouts of its namespace, and its Kustomization', async () => {
    expect((await customize(healthCheck())).relatedResources).toEqual([own, named('demo', 'test-kustomization')]);
  });

  it('relates of many Rollouts those that may watch it', async () => {
    const many = Array.from({ length: 20 }, (_, i) => rollout(undefined, {}, { name: `app-${i}`, uid: `u${i}` }));
    const object = healthCheck({ metadata: { name: 'hc', namespace: 'demo', labels: { app: 'shop' } }, spec: {} });
    const { relatedResources } = await customize(object, true, many);
    expect(relatedResources.map(({ labelSelector }) => labelSelector?.matchExpressions?.[0]?.operator)).toEqual([
      'In',
      'DoesNotExist',
    ]);
  });

  it('leaves the Kustomization out where Flux is not installed, or the reference is bad, or the class is another', async () => {
    expect((await customize(healthCheck(), false)).relatedResources).toEqual([own]);
    expect((await customize(healthCheck({ annotations: {} }))).relatedResources).toEqual([own]);
    expect((await customize(healthCheck({ spec: {} }))).relatedResources).toEqual([own]);
  });
});

it('does nothing for an object that is being deleted', async () => {
  const object = healthCheck({ metadata: { name: 'hc', namespace: 'demo', deletionTimestamp: at('11:00:00') } });
  expect(await syncOnce(object, cluster([]))).toEqual({ attachments: [] });
});
