/**
 * A Helm application: the Rollout manages the chart's OCIRepository and waits for its HelmRelease. helm-controller is a
 * fake.
 */
import { describe, expect, it } from 'vitest';
import { fakeFlux } from '../../../dev/actors/fakeFlux.ts';
import { ApiError, ref, sharedCluster, staysTrue, waitFor } from '../support/cluster.ts';
import { applyExample } from '../support/examples.ts';
import { conditionOf, tagArrives } from '../support/versions.ts';

const view = sharedCluster();
const { admin, developer, newNamespace, publish } = view;
const flux = fakeFlux(view);

/** manifests/examples/promotion/helm.yaml, with shorter times. */
async function installed() {
  const ns = await newNamespace();
  await applyExample(admin, 'promotion/helm.yaml', { 'namespace: shop': `namespace: ${ns}` });
  await developer.mergePatch(ref('rollout', ns, 'shop'), { spec: { bakeTime: '1s' } });
  const head = async () => (await admin.get(ref('rollout', ns, 'shop'))).status?.history?.[0] ?? {};
  const app = {
    ns,
    head,
    binding: () => admin.get(ref('fluxBinding', ns, 'helmrelease-shop')),
    headIs: (tag: string, expected: object) =>
      waitFor(
        async () => {
          expect(await head()).toMatchObject({ version: { tag }, ...expected });
          return true;
        },
        `${tag} to be the head with ${JSON.stringify(expected)}`,
      ),
    /** source-controller fetches the chart of this version. */
    fetched: async (tag: string) => {
      await tagArrives(admin, ns, 'shop', tag);
      await flux.fetch(ns, 'shop');
    },
    release: () => flux.release(ns, 'shop'),
    isOnItsWay: (tag: string) =>
      staysTrue(
        async () => {
          const { version, appliedTime } = await head();
          return version?.tag === tag && appliedTime === undefined;
        },
        `${tag} to be on its way`,
        1000,
      ),
  };
  await publish(ns, 'shop', '1.0.0');
  await app.headIs('1.0.0', { bakeStatus: 'Deploying' });
  return app;
}

describe('manifests/examples/promotion/helm.yaml', () => {
  it('a version is applied when Helm has released its chart, not when the chart is fetched', async () => {
    const app = await installed();
    await app.fetched('1.0.0');
    await app.isOnItsWay('1.0.0');
    expect(conditionOf(await app.binding(), 'Ready')).toMatchObject({
      status: 'Unknown',
      message: 'waiting for Flux to apply shop 1.0.0 (1)',
    });
    await app.release();
    await app.headIs('1.0.0', { bakeStatus: 'Succeeded', appliedTime: expect.any(String) });
    expect(conditionOf(await app.binding(), 'Ready')).toMatchObject({ status: 'True', reason: 'Applied' });
    await expect(
      developer.mergePatch(ref('ociRepository', app.ns, 'shop'), { spec: { ref: { tag: '9.9.9' } } }),
    ).rejects.toThrow(ApiError);
    const helmRelease = await admin.get(ref('helmRelease', app.ns, 'shop'));
    expect(Object.keys(helmRelease.metadata.annotations ?? {})).toEqual(['rollout.kuberik.com/rollout']);
  });
});
