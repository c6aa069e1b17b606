/** docs/depend-on-a-gate.md, with the real Flux Operator. */
import { expect, it } from 'vitest';
import { type AnyObject, gate, ref, rolloutGate, waitFor } from '../../cluster/support/cluster.ts';
import { ask } from '../../cluster/support/gates.ts';
import { conditionOf } from '../../cluster/support/versions.ts';
import { fluxWorld } from './world.ts';

const world = fluxWorld({ withOperator: true });

const GATE = { apiVersion: 'gating.toolkit.fluxcd.io/v1alpha1', kind: 'Gate' };
const ROLLOUT_GATE = { apiVersion: 'kuberik.com/v1alpha1', kind: 'RolloutGate' };

it.each([
  ['Gate', GATE, () => ask(world.view.sre, world.ns, 'gate', 'open')],
  [
    'RolloutGate',
    ROLLOUT_GATE,
    () => world.view.sre.mergePatch(ref('rolloutGate', world.ns, 'rolloutgate'), { spec: { passing: true } }),
  ],
])('a ResourceSet waits for the %s that it depends on', async (kind, api, open) => {
  const { ns, view } = world;
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
