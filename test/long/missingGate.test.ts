/** A missing Gate: the API server accepts every action that `why` proposes, and no object can stop requiring it. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CommandView } from '../../client/explain/application.ts';
import { USERS } from '../../dev/local/controlPlane/users.ts';
import { gate, kustomization, ref, waitFor } from '../cluster/support/cluster.ts';
import { ownCluster } from '../cluster/support/ownCluster.ts';
import { scenarioOf } from '../cluster/support/rolloutScenario.ts';
import { newReader, type Reader } from './install/reader.ts';

const { view } = await ownCluster();
const { admin, developer, sre } = view;
const users = ['developer', 'sre', 'admin'] as const;
const shells = {} as Record<(typeof users)[number], Reader>;

beforeAll(async () => {
  for (const name of users) {
    shells[name] = await newReader(join(view.dir, USERS[name].file), 'registry.example.com');
  }
}, 900_000);
afterAll(() => {
  for (const shell of Object.values(shells)) shell.dispose();
});

/** Each command, with the first user who has the rights for it. */
async function commands(target: string, ns: string): Promise<{ by: (typeof users)[number]; view: CommandView }[]> {
  const found = new Map<string, { by: (typeof users)[number]; view: CommandView }>();
  for (const by of users) {
    const said = JSON.parse(await shells[by].run(`kubectl rollouts why ${target} -n ${ns} -o json`));
    for (const view of said.commands as CommandView[]) {
      if (view.allowed && !found.has(view.text)) found.set(view.text, { by, view });
    }
  }
  return [...found.values()];
}

const names = (gates: string[]) => ({ gates: gates.map((name) => ({ name })) });

const isSeen = (scenario: ReturnType<typeof scenarioOf>, seen: boolean) =>
  waitFor(async () => {
    const status = await scenario.statusOf();
    expect(status.namedGates).toEqual([{ gate: `${scenario.ns}/typo`, seen }]);
    return true;
  }, 'the record of the name');

/** 1.0.0 waits for a missing Gate. */
async function waiting() {
  const scenario = scenarioOf(view, await view.newNamespace());
  await scenario.create(names(['typo']));
  await scenario.publish('1.0.0');
  await waitFor(async () => (await scenario.statusOf()).pendingVersion === '1.0.0', 'the version to wait');
  return scenario;
}

/** The Gate was closed, and a user with the right to bypass it has deleted it. */
async function gone() {
  const scenario = scenarioOf(view, await view.newNamespace());
  await sre.create(gate(scenario.ns, 'typo', { spec: { default: 'closed' } }));
  await scenario.create(names(['typo']));
  await scenario.publish('1.0.0');
  await isSeen(scenario, true);
  const typo = ref('gate', scenario.ns, 'typo');
  await sre.mergePatch(typo, { metadata: { annotations: { 'gate.fluxcd.io/bypass-reason': 'replaced' } } });
  await sre.remove(typo);
  return scenario;
}

describe('a name that never was a Gate', () => {
  it('doctor names the command to run', async () => {
    const { ns } = await waiting();
    const { findings } = JSON.parse(await shells.admin.run(`kubectl rollouts doctor -n ${ns} -o json || true`));
    const { command } = findings.find(({ about, level }: any) => about === 'References' && level === 'problem');
    expect(await shells.admin.run(command)).toContain('create Gate');
  });

  it('is removed, or becomes one, by the action that why proposes', async () => {
    const tried: string[] = [];
    for (let index = 0; ; index++) {
      const scenario = await waiting();
      await isSeen(scenario, false);
      const all = await commands('app', scenario.ns);
      if (index === all.length) break;
      const { by, view } = all[index]!;
      await shells[by].run(view.command);
      await scenario.headIs('1.0.0', 'Succeeded');
      tried.push(`${by}: ${view.rights[0]!.verb} ${view.rights[0]!.resource}`);
    }
    expect(tried).toEqual(['developer: patch rollouts', 'sre: create gates']);
  });

  it('does not keep the Rollout from being deleted', async () => {
    const scenario = await waiting();
    await isSeen(scenario, false);
    await developer.remove(scenario.app);
  });
});

describe('a Gate that is gone', () => {
  it('can’t be removed by a user who may not bypass it', async () => {
    const scenario = await gone();
    await expect(scenario.spec(names([]))).rejects.toThrow(/cannot remove a closed Gate from its required Gates/);
    await expect(developer.remove(scenario.app)).rejects.toThrow(/cannot be deleted/);
    // Nor with a record of one's own.
    await admin.patchStatus(scenario.app, { namedGates: [{ gate: `${scenario.ns}/typo`, seen: false }] });
    await expect(scenario.spec(names([]))).rejects.toThrow(/cannot remove a closed Gate from its required Gates/);
    await isSeen(scenario, true);
  });

  it('is created again, or left with a bypass, as why proposes', async () => {
    const tried: string[] = [];
    for (let index = 0; ; index++) {
      const scenario = await gone();
      const all = await commands('app', scenario.ns);
      if (index === all.length) break;
      const { by, view } = all[index]!;
      await shells[by].run(view.command);
      await scenario.headIs('1.0.0', 'Succeeded');
      tried.push(`${by}: ${view.rights[0]!.verb} ${view.rights[0]!.resource}`);
    }
    expect(tried).toEqual(['sre: create gates', 'sre: bypass gates']);
  });
});

it('a Flux object that names one is resumed once it is created', async () => {
  const ns = await view.newNamespace();
  await developer.create(kustomization(ns, 'web', { annotations: { 'gate.fluxcd.io/gates': 'typo' } }));
  const isSuspended = async () => (await admin.get(ref('kustomization', ns, 'web'))).spec.suspend === true;
  await waitFor(isSuspended, 'the suspension');
  const [created, ...others] = await commands('kustomization/web', ns);
  expect(others).toEqual([]);
  await shells[created!.by].run(created!.view.command);
  await waitFor(async () => !(await isSuspended()), 'its resumption');
});
