/** RolloutSchedules and ClusterRolloutSchedules create RolloutGates, which block releases. */
import { describe, expect, it } from 'vitest';
import { type AnyObject, sharedCluster, staysTrue, waitFor } from './support/cluster.ts';
import { type RolloutScenario, scenarioOf } from './support/rolloutScenario.ts';

const view = sharedCluster();
const { admin, newNamespace } = view;

async function deployed(namespace?: string): Promise<RolloutScenario> {
  const scenario = scenarioOf(view, namespace ?? (await newNamespace()));
  await scenario.publish('1.0.0');
  await scenario.create();
  await scenario.headIs('1.0.0', 'Succeeded');
  return scenario;
}

describe('a schedule', () => {
  const always = { name: 'always', timeRange: { start: '00:00', end: '00:00' } };
  const schedule = (namespace: string | undefined, name: string, spec: object): AnyObject => ({
    apiVersion: 'kuberik.com/v1alpha1',
    kind: namespace ? 'RolloutSchedule' : 'ClusterRolloutSchedule',
    metadata: { name, ...(namespace && { namespace }) },
    spec: { rolloutSelector: {}, ...spec },
  });

  async function holds(scenario: RolloutScenario, object: AnyObject, release: () => Promise<unknown>): Promise<void> {
    await admin.create(object);
    const gate = await waitFor(async () => {
      const gates = await admin.list('kuberik.com/v1alpha1', 'RolloutGate', scenario.ns);
      return gates.find(({ spec }) => spec.passing === false);
    }, 'a closed RolloutGate');
    expect(gate.spec.rolloutRef.name).toBe('app');
    expect(gate.metadata.labels).toMatchObject({
      'gate.kuberik.com/schedule-name': object.metadata.name,
      'gate.kuberik.com/schedule-kind': object.kind,
      'gate.kuberik.com/rollout-name': 'app',
    });
    await scenario.publish('1.1.0');
    await scenario.conditionIs('GatesPassing', { reason: 'SomeGatesBlocking' });
    await staysTrue(async () => (await scenario.head()).version.tag === '1.0.0', '1.0.0', 500);
    await release();
    await scenario.headIs('1.1.0', 'Succeeded');
  }

  it('of the cluster holds the Rollouts of the namespaces it selects', async () => {
    const team = `team-${Math.random().toString(36).slice(2)}`;
    const scenario = await deployed(await newNamespace({ team }));
    const other = await deployed();
    const name = `freeze-${team}`;
    const object = schedule(undefined, name, { namespaceSelector: { matchLabels: { team } }, rules: [always] });
    await holds(scenario, object, async () => {
      await other.publish('1.1.0');
      await other.headIs('1.1.0', 'Succeeded');
      await admin.remove({ apiVersion: object.apiVersion, kind: object.kind, metadata: { name } });
    });
  });
});
