/** docs/depend-on-a-gate.md and docs/resource-set-inputs.md, with the real Flux Operator. */
import { expect, it } from 'vitest';
import { requestToken } from '../../../dev/local/controlPlane/serviceAccount.ts';
import { type AnyObject, gate, ref, rollout, rolloutGate, waitFor } from '../../cluster/support/cluster.ts';
import { applyExample } from '../../cluster/support/examples.ts';
import { requestGate } from '../../cluster/support/gates.ts';
import { conditionOf, history, imageTag } from '../../cluster/support/versions.ts';
import { realFluxSetup } from './realFluxSetup.ts';

const setup = realFluxSetup({ withOperator: true });

const GATE = { apiVersion: 'gating.toolkit.fluxcd.io/v1alpha1', kind: 'Gate' };
const ROLLOUT_GATE = { apiVersion: 'kuberik.com/v1alpha1', kind: 'RolloutGate' };

it.each([
  ['Gate', GATE, () => requestGate(setup.view.sre, setup.ns, 'gate', 'open')],
  [
    'RolloutGate',
    ROLLOUT_GATE,
    () => setup.view.sre.mergePatch(ref('rolloutGate', setup.ns, 'rolloutgate'), { spec: { passing: true } }),
  ],
])('a ResourceSet waits for the %s that it depends on', async (kind, api, open) => {
  const { ns, view } = setup;
  const name = kind.toLowerCase();
  const closed =
    kind === 'Gate'
      ? gate(ns, name, { spec: { default: 'closed' } })
      : rolloutGate(ns, name, 'app', { passing: false });
  await view.sre.create(closed);
  const metadata = { namespace: ns, name };
  const resourceSet = { apiVersion: 'fluxcd.controlplane.io/v1', kind: 'ResourceSet', metadata };
  const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
  await view.admin.create({
    ...resourceSet,
    spec: { dependsOn: [{ ...api, name, namespace: ns, ready: true }], resources: [configMap] },
  } as AnyObject);
  const isReady = (expected: object) =>
    waitFor(
      async () => {
        expect(conditionOf(await view.admin.get(resourceSet), 'Ready')).toMatchObject(expected);
        return true;
      },
      `the ResourceSet to be ${JSON.stringify(expected)}`,
      180_000,
    );
  await isReady({ status: 'False', reason: 'DependencyNotReady' });
  expect(await view.admin.find(configMap)).toBeUndefined();
  await open();
  await isReady({ status: 'True' });
  expect(await view.admin.find(configMap)).toBeDefined();
});

/** Secrets and manifests of docs/resource-set-inputs.md, for the Rollout my-app in a namespace of the test. */
async function applyInputs(ns: string): Promise<void> {
  const { admin } = setup.view;
  const url = 'https://rollout-hooks.rollout-hooks.svc:9443/inputs/apps';
  await applyExample(admin, 'resource-set-inputs.yaml', {
    [url]: `${setup.inputs}/inputs/${ns}`,
    'namespace: apps': `namespace: ${ns}`,
  });
  const token = await requestToken(admin, { namespace: ns, name: 'rollout-hooks-inputs' }, 'rollout-hooks');
  const secret = (name: string, stringData: Record<string, string>): AnyObject =>
    ({ apiVersion: 'v1', kind: 'Secret', metadata: { namespace: ns, name }, stringData }) as AnyObject;
  await admin.create(secret('rollout-hooks-inputs', { token }));
  await admin.create(secret('rollout-hooks-ca', { 'ca.crt': String(admin.access.ca) }));
}

it('a ResourceSet gets a version once a Gate allows its Rollout to deploy it, and keeps it whatever the answer', async () => {
  const { admin, sre, newNamespace, publish } = setup.view;
  const ns = await newNamespace();
  const metadata = { namespace: ns, name: 'my-app' };
  const provider = { apiVersion: 'fluxcd.controlplane.io/v1', kind: 'ResourceSetInputProvider', metadata };
  const resourceSet = { ...provider, kind: 'ResourceSet' };
  /** Makes Flux Operator reconcile now, as it does every minute. */
  const provided = async (expected: object) => {
    const requestedAt = String(performance.now());
    const annotations = { 'reconcile.fluxcd.io/requestedAt': requestedAt };
    await admin.mergePatch(provider, { metadata: { annotations } });
    await waitFor(
      async () => {
        const object = await admin.get(provider);
        expect(object.status.lastHandledReconcileAt).toBe(requestedAt);
        expect(conditionOf(object, 'Ready')).toMatchObject(expected);
        return true;
      },
      `the provider to be ${JSON.stringify(expected)}`,
      180_000,
    );
  };
  const applies = (tag: string) =>
    waitFor(async () => (await imageTag(admin, ns, 'my-app')) === tag, `the ResourceSet to apply ${tag}`, 180_000);
  const deploys = (...tags: string[]) =>
    waitFor(async () => {
      const { status } = await admin.get(ref('rollout', ns, 'my-app'));
      expect([status.pendingVersion, status.history?.[0]?.version.tag].filter(Boolean)).toEqual(tags);
      return true;
    }, `the Rollout to wait with, and to have ${tags}`);

  await sre.create(gate(ns, 'release', { spec: { default: 'closed' } }));
  await publish(ns, 'my-app', '1.0.0');
  await admin.create(rollout(ns, 'my-app', { spec: { gates: [{ name: 'release' }] } }));
  await deploys('1.0.0');
  await applyInputs(ns);
  await provided({ status: 'False', message: expect.stringContaining('returned HTTP 409') });
  expect(await admin.find(ref('ociRepository', ns, 'my-app'))).toBeUndefined();

  await requestGate(sre, ns, 'release', 'open');
  await waitFor(async () => (await history(admin, ns, 'my-app')).length === 1, '1.0.0 to be deployed');
  await provided({ status: 'True' });
  await applies('1.0.0');

  await requestGate(sre, ns, 'release', 'close');
  await publish(ns, 'my-app', '1.1.0');
  await deploys('1.1.0', '1.0.0');
  await provided({ status: 'True' });
  expect((await admin.get(provider)).status.exportedInputs).toMatchObject([{ tag: '1.0.0', rollout: 'my-app' }]);
  expect(await imageTag(admin, ns, 'my-app')).toBe('1.0.0');

  await requestGate(sre, ns, 'release', 'open');
  await deploys('1.1.0');
  await provided({ status: 'True' });
  await applies('1.1.0');

  const { uid } = (await admin.get(ref('ociRepository', ns, 'my-app'))).metadata;
  await admin.remove(ref('rollout', ns, 'my-app'));
  await provided({ status: 'False', message: expect.stringContaining('returned HTTP 404') });
  await admin.mergePatch(resourceSet, { metadata: { annotations: { 'reconcile.fluxcd.io/requestedAt': 'now' } } });
  await waitFor(
    async () => conditionOf(await admin.get(resourceSet), 'Ready')?.reason === 'DependencyNotReady',
    'the ResourceSet to wait for its provider',
    60_000,
  );
  expect((await admin.get(ref('ociRepository', ns, 'my-app'))).metadata).toMatchObject({ uid });
  expect(await imageTag(admin, ns, 'my-app')).toBe('1.1.0');
});
