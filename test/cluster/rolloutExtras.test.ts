/** Columns of `kubectl get` for Rollouts. */
import { describe, expect, it } from 'vitest';
import { send } from '../../dev/client/send.ts';
import { rolloutGate, sharedCluster, waitFor } from './support/cluster.ts';
import { type RolloutScenario, scenarioOf } from './support/rolloutScenario.ts';

const view = sharedCluster();
const { admin, newNamespace } = view;

describe('kubectl get rollouts', () => {
  async function row(scenario: RolloutScenario): Promise<Record<string, unknown>> {
    const { object: table } = await send(
      admin.access,
      'GET',
      `/apis/kuberik.com/v1alpha1/namespaces/${scenario.ns}/rollouts`,
      { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' },
    );
    const names: string[] = table.columnDefinitions.map(({ name }: { name: string }) => name);
    return Object.fromEntries(names.map((name, i) => [name, table.rows[0].cells[i]]));
  }

  it('shows the state at a glance', async () => {
    const scenario = scenarioOf(view, await newNamespace());
    await scenario.publish('1.0.0');
    await scenario.create();
    await scenario.headIs('1.0.0', 'Succeeded');
    await admin.create(rolloutGate(scenario.ns, 'qa', 'app', { passing: false }));
    await scenario.publish('1.1.0');
    await scenario.conditionIs('GatesPassing', { status: 'False' });
    await waitFor(async () => (await scenario.statusOf()).pendingVersion === '1.1.0', '1.1.0 to wait');
    expect(await row(scenario)).toMatchObject({
      Name: 'app',
      Version: '1.0.0',
      Message: 'Automatic deployment',
      BakeStatus: 'Succeeded',
      Gates: 'False',
      Available: 2,
      Ready: 'True',
      Status: 'Release deployed successfully. Bake completed successfully',
      Pending: '1.1.0',
    });
  });
});
