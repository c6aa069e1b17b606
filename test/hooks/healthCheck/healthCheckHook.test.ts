import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { HealthCheck } from '../../../api/types.ts';
import { watchesLabel } from '../../../core/health/association.ts';
import { labelAll } from '../../../core/kube/annotate.ts';
import { fakeCluster, fakeHookCall } from '../../../dev/fakes/ports.ts';
import { healthCheckHook } from '../../../hooks/healthCheck/healthCheckHook.ts';
import { namespaceOf } from '../../support/objects.ts';
import { at, cluster, healthCheck, NOW, rollout, syncOnce } from './fixture.ts';

describe('reset: H1 to H16 are cases of the Go controller', () => {
  it.each(['unknown', undefined])('H2, H3: class %s has nothing to say and asks for no resync', async (kind) => {
    const object = healthCheck({ spec: kind === undefined ? {} : { class: kind } });
    expect(await syncOnce(object, cluster([]))).toEqual({ attachments: [] });
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

/** Metacontroller caches the customize answer, which doesn't change with a label (docs/facts.md, M6). */
describe('a HealthCheck that has just got its labels, in a namespace of many Rollouts', () => {
  const shop = { selector: { matchLabels: { app: 'shop' } } };
  const deployed = { timestamp: at('11:59:00') };
  const named = (i: number, spec: object = {}) => {
    const object = rollout(deployed, spec, { name: `app-${i}`, uid: `u${i}` });
    return { ...object, metadata: labelAll(object, watchesLabel(object)).metadata };
  };
  const many = Array.from({ length: 20 }, (_, i) => named(i, i === 7 ? { healthCheckSelector: shop } : {}));
  const relabelled = (labels: Record<string, string>) =>
    healthCheck({
      metadata: { name: 'hc', namespace: 'demo', labels },
      spec: {},
      status: { status: 'Healthy', lastChangeTime: at('11:00:00') },
    });

  it('is reset by the Rollout that watches it now', async () => {
    const { status, resyncAfterSeconds } = await syncOnce(relabelled({ app: 'shop' }), cluster(many));
    expect(status).toMatchObject({ status: 'Pending' });
    expect(resyncAfterSeconds).toBe(1);
  });

  it('is synced again soon, because that Rollout triggers no sync', async () => {
    const reset = { ...relabelled({ app: 'shop' }), status: { status: 'Pending', lastChangeTime: at('11:59:30') } };
    expect(await syncOnce(reset, cluster(many))).toEqual({ attachments: [], resyncAfterSeconds: 60 });
  });

  it('stays as it is if none watches it', async () => {
    expect(await syncOnce(relabelled({ app: 'bank' }), cluster(many))).toEqual({ attachments: [] });
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
