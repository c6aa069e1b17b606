import { expect, it } from 'vitest';
import { twoRegistries } from '../support/registries.ts';
import { sharedCluster, waitFor } from './support/cluster.ts';
import { copyScenario, targetOf } from './support/copyScenario.ts';

const view = sharedCluster();
const [source, target] = await twoRegistries();

it('a version is deployed once the target has it, and the Job is deleted when the status has that', async () => {
  const scenario = await copyScenario(view, { source, target });
  const digest = await scenario.release('1.0.0');
  await scenario.create(targetOf(scenario, { source, target }));
  await scenario.headIs('1.0.0', 'Succeeded');
  expect(await scenario.inTarget('1.0.0')).toBe(digest);
  const message = `Version 1.0.0 is in oci://${target.host}/${scenario.ns}/prod as ${digest}`;
  await waitFor(async () => {
    expect(await scenario.copied()).toMatchObject({ status: 'True', message: expect.stringContaining(message) });
    expect(await scenario.jobs()).toEqual([]);
    return true;
  }, 'the copy to be stored');
  expect((await scenario.statusOf()).copy).toMatchObject({ tag: '1.0.0', digest });
});
