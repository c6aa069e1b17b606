/** A Rollout as the hooks leave it after steps of test/scenario/rollout, and the output of commands about it. */
import { join } from 'node:path';
import { expect } from 'vitest';
import { inTime, NAMESPACE, partsOf, putFixture } from '../../dev/sim/steps.ts';
import { masked } from '../cluster/support/golden.ts';
import { ScenarioCluster, T0 } from '../scenario/rollout/scenarioCluster.ts';
import { STEPS } from '../scenario/rollout/steps.ts';
import type { Called } from '../support/command.ts';
import type { Stored } from './objectServer.ts';

export { NAMESPACE };

export type Step = string | Record<string, unknown>;

export class CliScenario extends ScenarioCluster {
  async play(...steps: readonly Step[]): Promise<this> {
    for (const step of steps) {
      const [name, data] = partsOf(step);
      await STEPS[name]!(this, inTime(data, this.now, T0));
    }
    return this;
  }

  /** All stored objects; the Rollout and its ImagePolicy are both named `app`. */
  get stored(): Stored[] {
    const text = JSON.stringify([...this.objects.values()]);
    return JSON.parse(text.replaceAll(/test-(resource|image-policy)/g, 'app'));
  }
}

/** A scenario that begins with the Rollout and its ImagePolicy. */
export async function scenario(...steps: readonly Step[]): Promise<CliScenario> {
  const cluster = new CliScenario({ onFailure: 'Continue', kuberikCompat: false, trustPublishers: false });
  await putFixture(cluster);
  return cluster.play(...steps);
}

/** Flux has applied the newest deployment in the objects of these bindings. */
export async function applied(of: CliScenario, ...names: string[]): Promise<void> {
  await of.play({ apply: names });
  const { id, version } = of.rollout.status!.history![0]!;
  for (const name of names) {
    const binding = of.find('FluxBinding', NAMESPACE, name)!;
    const ready = { type: 'Ready', status: 'True', reason: 'Applied', message: `app ${version.tag} (${id}) applied` };
    await of.put({ ...binding, status: { ...binding.status, conditions: [ready] } });
  }
}

/** Compares both streams and the exit code with a file of golden/. Writes a missing file, unless CI is set. */
export async function golden(name: string, { out, err, code }: Called, expected = 0): Promise<void> {
  const text = `${out}${err && `--- stderr\n${err}`}--- exit code ${code}\n`.replaceAll('platform', 'GATES');
  const file = join(import.meta.dirname, `golden/${name}.txt`);
  await expect(masked(text, NAMESPACE).replace(/uid-\d+/g, 'UID')).toMatchFileSnapshot(file);
  expect(code).toBe(expected);
}
