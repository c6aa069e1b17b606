/** A Gate holds every deployment of a Rollout; only a bypass gets past it, once. */
import { describe, expect, it } from 'vitest';
import { gate, kustomization, ref, rollout, sharedCluster, staysTrue, waitFor } from './support/cluster.ts';
import { timestamp } from './support/gates.ts';
import { conditionOf, history, variablesArrive } from './support/versions.ts';

const { admin, developer, newNamespace, publish } = sharedCluster();

const reasonGiven = (reason: string) => ({ metadata: { annotations: { 'gate.fluxcd.io/bypass-reason': reason } } });

async function heldApp(): Promise<string> {
  const ns = await newNamespace();
  await admin.create(gate(ns, 'freeze', { spec: { default: 'closed' } }));
  await developer.create(
    rollout(ns, 'app', { spec: { releasesImagePolicy: { name: 'app' }, gates: [{ name: 'freeze' }] } }),
  );
  await developer.create(kustomization(ns, 'app', { variables: { APP_VERSION: 'app' } }));
  await publish(ns, 'app', '1.0.0');
  await waits(ns, '1.0.0');
  return ns;
}

async function waits(ns: string, version: string): Promise<void> {
  await waitFor(async () => {
    const object = await admin.get(ref('rollout', ns, 'app'));
    expect(object.status.pendingVersion).toBe(version);
    expect(conditionOf(object, 'DeploymentBlocked')).toMatchObject({ status: 'True', reason: 'GateClosed' });
    return true;
  }, `${version} to wait for the gate`);
}

describe('a fresh reason on a Rollout', () => {
  it('by somebody with the verb bypass lets one deployment past its closed Gate, and is recorded', async () => {
    const ns = await heldApp();
    await admin.mergePatch(ref('rollout', ns, 'app'), reasonGiven('INC-1: the fix cannot wait'));
    await variablesArrive(admin, ns, 'app', { APP_VERSION: '1.0.0' });
    const { metadata } = await admin.get(ref('rollout', ns, 'app'));
    expect(metadata.annotations).toMatchObject({
      'gate.fluxcd.io/bypass-reason': 'INC-1: the fix cannot wait',
      'gate.fluxcd.io/bypassed-gates': `1.0.0 (1): ${ns}/freeze`,
      'gate.fluxcd.io/bypassed-by': expect.stringMatching(/ admin$/),
    });
    await waitFor(async () => {
      const events = await admin.list('v1', 'Event', ns);
      return events.some(({ reason, message }) => reason === 'GateBypassed' && String(message).includes('INC-1'));
    }, 'the Event GateBypassed');
    await publish(ns, 'app', '1.1.0');
    await waits(ns, '1.1.0');
    expect(await history(admin, ns, 'app')).toEqual([[1, '1.0.0']]);
  });

  it('by a developer gets nothing past it, and the answer says so', async () => {
    const ns = await heldApp();
    const asked = developer.mergePatch(ref('rollout', ns, 'app'), reasonGiven('please'));
    await expect(asked).rejects.toMatchObject({
      code: 403,
      message: expect.stringContaining(`developer has no verb bypass on ${ns}/freeze`),
    });
    await developer.mergePatch(ref('rollout', ns, 'app'), {
      metadata: {
        annotations: {
          'gate.fluxcd.io/bypassed-gates': `1.0.0 (1): ${ns}/freeze`,
          'gate.fluxcd.io/bypassed-by': `${timestamp()} admin`,
        },
      },
    });
    await staysTrue(async () => (await history(admin, ns, 'app')).length === 0, 'no deployment', 1500);
  });
});
