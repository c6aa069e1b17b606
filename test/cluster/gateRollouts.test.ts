/** A Gate for many Rollouts. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type AnyObject, kustomization, ref, rollout, sharedCluster, staysTrue, waitFor } from './support/cluster.ts';
import { requestGate } from './support/gates.ts';
import { columnsOf, conditionOf, history, variablesArrive } from './support/versions.ts';

const { admin, developer, sre, newNamespace, publish } = sharedCluster();
const EXAMPLE = new URL('../../manifests/examples/weekend.yaml', import.meta.url);

async function app(ns: string): Promise<void> {
  await developer.create(rollout(ns, 'app'));
  await developer.create(kustomization(ns, 'app', { variables: { APP_VERSION: 'app' } }));
}

async function waits(ns: string, version: string, path: string): Promise<void> {
  await waitFor(async () => {
    const object = await admin.get(ref('rollout', ns, 'app'));
    expect(object.status?.pendingVersion).toBe(version);
    const blocked = conditionOf(object, 'DeploymentBlocked');
    expect(blocked).toMatchObject({ status: 'True', reason: 'GateClosed' });
    expect(blocked?.message).toContain(`Gate '${path}' is closed`);
    return true;
  }, `${version} to wait for ${path}`);
  // Ready is about the version that runs.
  await waitFor(async () => {
    expect(await columnsOf(admin, ns)).toMatchObject({ Pending: version, Why: 'GateClosed', HeldBy: path });
    return true;
  }, 'the columns');
}

describe('nothing at all on the weekend, for all of production', () => {
  it('is the one object of manifests/examples/weekend.yaml', async () => {
    // In this test the weekend lasts all week, and production is the test's namespace.
    const example = parse(readFileSync(EXAMPLE, 'utf8'));
    const [production, other] = await Promise.all([newNamespace({ environment: 'test-weekend' }), newNamespace()]);
    const ns = await newNamespace();
    const weekend: AnyObject = { ...example, metadata: { ...example.metadata, namespace: ns } };
    expect(weekend.spec.schedule.rules).toEqual([{ daysOfWeek: ['Saturday', 'Sunday'] }]);
    weekend.spec.schedule.rules = [{}];
    weekend.spec.selects.namespaceSelector.matchLabels.environment = 'test-weekend';
    await sre.create(weekend);
    await Promise.all([publish(production, 'app', '1.0.0'), publish(other, 'app', '1.0.0')]);
    await Promise.all([app(production), app(other)]);

    await variablesArrive(admin, other, 'app', { APP_VERSION: '1.0.0' });
    const path = `${ns}/no-weekend-releases`;
    await waits(production, '1.0.0', path);
    const byHand = { metadata: { annotations: { 'rollout.kuberik.com/force-deploy': '1.0.0' } } };
    const { warnings } = await developer.mergePatch(ref('rollout', production, 'app'), byHand);
    expect(warnings).toContain(`version 1.0.0 waits: Gate '${path}' is closed`);
    await staysTrue(async () => (await history(admin, production, 'app')).length === 0, 'no deployment', 1500);

    // An opening for one version leaves the Gate closed.
    const open = (version: string | null) =>
      requestGate(sre, ns, 'no-weekend-releases', 'open', { more: { 'open.gate.fluxcd.io/for': version } });
    await open(`${production}/app:1.0.0`);
    await variablesArrive(admin, production, 'app', { APP_VERSION: '1.0.0' });
    const gate = await admin.get(ref('gate', ns, 'no-weekend-releases'));
    expect(conditionOf(gate, 'Opened')).toMatchObject({ status: 'False' });
    expect(gate.status.exception).toMatchObject({ for: `${production}/app:1.0.0` });
    await publish(production, 'app', '1.1.0');
    await waits(production, '1.1.0', path);

    await open(null);
    await variablesArrive(admin, production, 'app', { APP_VERSION: '1.1.0' });
  });
});
