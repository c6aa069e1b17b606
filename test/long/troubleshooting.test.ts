/** docs/troubleshooting.md: in each situation, the commands of its section print the documented output. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { fakeFlux } from '../../dev/actors/fakeFlux.ts';
import { REPOSITORY } from '../../dev/repository.ts';
import { gate, kustomization, ociRepository, ref, rollout, rolloutGate, waitFor } from '../cluster/support/cluster.ts';
import { isHeld, requestGate, STATE } from '../cluster/support/gates.ts';
import { masked } from '../cluster/support/golden.ts';
import { ownCluster } from '../cluster/support/ownCluster.ts';
import { healthCheck, SELECTS_HEALTH } from '../cluster/support/rolloutScenario.ts';
import { conditionOf, variablesArrive } from '../cluster/support/versions.ts';
import { newReader } from '../long/install/reader.ts';

const NS = 'shop';
const { cluster, view } = await ownCluster();
const reader = await newReader(cluster.kubeconfigOf('admin'), 'registry.example.com');

beforeAll(async () => {
  await view.admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NS } });
  await aRelease();
  await aFreeze();
});

/** The objects of the examples: my-app runs 1.0.0, and 1.1.0 waits for a gate; api waits for health. */
async function aRelease(): Promise<void> {
  const { admin, developer, publish } = view;
  for (const name of ['my-app', 'api']) {
    await publish(NS, name, '1.0.0');
    await developer.create(kustomization(NS, name, { variables: { APP_VERSION: name } }));
  }
  await developer.create(ociRepository(NS, 'my-app', { spec: { ref: { tag: '1.0.0' } } }));
  await admin.create(healthCheck(NS));
  await developer.create(rollout(NS, 'api', { spec: { bakeTime: '10m', ...SELECTS_HEALTH } }));
  await developer.create(rollout(NS, 'my-app'));
  await variablesArrive(admin, NS, 'my-app', { APP_VERSION: '1.0.0' });
  await fakeFlux(view).fetch(NS, 'my-app');
  await fakeFlux(view).apply(NS, 'my-app');
  await admin.create(rolloutGate(NS, 'qa', 'my-app', { passing: false }));
  await publish(NS, 'my-app', '1.1.0');
  await conditionIs('my-app', 'WaitingForRolloutGates');
  await conditionIs('api', 'Progressing');
}

/** `freeze` holds `web`; it has held `child`, which now waits for its applier. */
async function aFreeze(): Promise<void> {
  const { admin, sre, flux } = view;
  for (const name of ['freeze', 'over']) await sre.create(gate(NS, name, { spec: { default: 'opened' } }));
  await admin.create(kustomization(NS, 'apps'));
  const applied = { 'kustomize.toolkit.fluxcd.io/name': 'apps', 'kustomize.toolkit.fluxcd.io/namespace': NS };
  const web = kustomization(NS, 'web', { annotations: { 'gate.fluxcd.io/gates': 'freeze' } });
  const child = kustomization(NS, 'child', { labels: applied, annotations: { 'gate.fluxcd.io/gates': 'over' } });
  for (const object of [web, child]) await flux.apply(object);
  await requestGate(sre, NS, 'freeze', 'close', { more: { 'close.gate.fluxcd.io/reason': 'INC-42' } });
  await requestGate(sre, NS, 'over', 'close');
  for (const object of [web, child]) await isHeld(admin, object);
  await requestGate(sre, NS, 'over', 'open');
  await waitFor(
    async () => (await admin.get(child as never)).metadata.annotations?.[STATE]?.startsWith('opening'),
    'child to wait for its applier',
  );
  await waitFor(
    async () => (await admin.get(ref('gate', NS, 'freeze'))).status?.requiredByCount === 1,
    'the count of freeze',
  );
}

const conditionIs = (name: string, type: string) =>
  waitFor(async () => conditionOf(await view.admin.get(ref('rollout', NS, name)), type)?.status === 'True', type);

const PAGE = readFileSync(join(REPOSITORY, 'docs/troubleshooting.md'), 'utf8');

/** Commands and output in a section. */
function shownIn(heading: string): { command: string; output: string }[] {
  const section = PAGE.split(/^## /m).find((text) => text.startsWith(`${heading}\n`));
  const blocks = [...(section ?? '').matchAll(/^```\n\$ (.*)\n([\s\S]*?)^```$/gm)];
  return blocks.map(([, command = '', output = '']) => ({ command, output }));
}

async function expectShown(heading: string): Promise<void> {
  const shown = shownIn(heading);
  expect(shown, heading).not.toEqual([]);
  for (const { command, output } of shown) {
    const printed = async () => masked(asInPods(await reader.run(`${command} || true`)), NS);
    await waitFor(
      async () => {
        expect(await printed(), command).toBe(masked(output, NS));
        return true;
      },
      `${command} to print what the page shows`,
      60_000,
    );
  }
}

/** Output from a cluster with Pods, in the form of the page. */
const asInPods = (text: string) =>
  text
    .replaceAll(/https:\/\/127\.0\.0\.1:\d+/g, 'https://rollout-hooks.rollout-hooks.svc:443')
    .replaceAll(/127\.0\.0\.1:\d+/g, '10.96.14.7:443')
    // Metacontroller and the hook server run outside this cluster, so doctor can't check them.
    .replaceAll(/; \d+ not checked\./g, '.');

it.each([
  'A version is not deployed',
  'A deployment does not end',
  'Who deployed this?',
  'A Flux object is suspended',
  'A write is denied',
  'A Gate does not open',
  'Open, and still suspended',
])('%s', expectShown);

it('After an upgrade', async () => {
  const controller = {
    apiVersion: 'metacontroller.k8s.io/v1alpha1',
    kind: 'CompositeController',
    metadata: { name: 'rolloutbudgets' },
  };
  const { spec } = await view.admin.get(controller);
  await reader.run('kubectl delete compositecontroller rolloutbudgets');
  await expectShown('After an upgrade');
  await view.admin.create({ ...controller, spec } as never);
});

it('Nothing happens at all', async () => {
  await cluster.driver()!.stop();
  await view.sre.mergePatch(ref('gate', NS, 'over'), { spec: { default: 'closed' } });
  await expectShown('Nothing happens at all');
  await cluster.startDriver();
  await waitFor(async () => {
    const { status, metadata } = await view.admin.get(ref('gate', NS, 'over'));
    return status?.observedGeneration === metadata.generation;
  }, 'Metacontroller to catch up');
});

it('The webhook does not answer', async () => {
  await cluster.hooks()!.stop();
  await expectShown('The webhook does not answer');
  await cluster.startHooks();
});

it('every section that shows a command is walked here', () => {
  const sections = PAGE.split(/^## /m)
    .slice(1)
    .map((text) => text.slice(0, text.indexOf('\n')));
  const walked = readFileSync(import.meta.filename, 'utf8');
  const shows = sections.filter((heading) => shownIn(heading).length > 0);
  expect(shows.filter((heading) => !walked.includes(`'${heading}'`))).toEqual([]);
  expect(sections.filter((heading) => !shows.includes(heading))).toEqual([
    'Hooks answer errors',
    'After a restore of etcd',
  ]);
});
