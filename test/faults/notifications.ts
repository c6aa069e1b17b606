/** Notifications by Flux's Alerts. At the end the notification-controller hangs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { GOVERNED_KINDS } from '../../api/kinds.ts';
import { NOTIFICATION_CONTROLLER, provideCrds } from '../../dev/local/binaries/crdModules.ts';
import { installKinds } from '../../dev/local/install/kinds.ts';
import { REPOSITORY } from '../../dev/repository.ts';
import { gate, waitFor } from '../cluster/support/cluster.ts';
import { createStrictly, exampleObjects } from '../cluster/support/examples.ts';
import { gated, isHeld, requestGate } from '../cluster/support/gates.ts';
import { nextSecond, type RolloutScenario, SELECTS_HEALTH, scenarioOf } from '../cluster/support/rolloutScenario.ts';
import { controller, view } from './cluster.ts';

const bindings = (ns: string, count: number) =>
  waitFor(
    async () => (await view.admin.list('kuberik.com/v1alpha1', 'FluxBinding', ns)).length === count,
    `${count} bindings`,
  );

/** An OCIRepository and the Kustomization that applies it, bound to a later Rollout `app`. */
async function bound(): Promise<RolloutScenario> {
  const scenario = scenarioOf(view, await view.newNamespace());
  await scenario.bind();
  await bindings(scenario.ns, 2);
  return scenario;
}

export function notifications(): void {
  it('a failed release is reported by the Kustomization that applies it, once, and by the Rollout for Alerts that can select it', async () => {
    const scenario = await bound();
    await scenario.watch();
    await scenario.publish('1.0.0');
    await scenario.create({ bakeTime: '10m', onFailure: 'Hold', ...SELECTS_HEALTH });
    await scenario.arrive('1.0.0');
    // A report from before the apply is about the old version, and is reset.
    await scenario.headIs('1.0.0', { bakeStatus: 'Deploying', appliedTime: expect.any(String) });
    await scenario.healthReset();
    await nextSecond();
    await scenario.report('Unhealthy', 'out of memory');
    await scenario.headIs('1.0.0', 'Failed');
    const messages = [
      'info DeploymentSucceeded: Successfully deployed version 1.0.0',
      /^error BakeTimeFailed: /,
    ] as const;
    await controller.untilNotified('Rollout', scenario.ns, 'app', ...messages);
    await controller.untilNotified(
      ...(['Kustomization', scenario.ns, 'app'] as const),
      `info Rollout ${scenario.ns}/app DeploymentSucceeded: Successfully deployed version 1.0.0`,
      new RegExp(`^error Rollout ${scenario.ns}/app BakeTimeFailed: `),
    );
    expect(controller.notificationsOf('OCIRepository', scenario.ns, 'app')).toEqual([]);
    const notifications = controller.notificationsOf('Kustomization', scenario.ns, 'app');
    expect(notifications).toEqual([...new Set(notifications)]);
    const failure = controller.events.find(
      ({ reason, involvedObject: o }) => reason === 'BakeTimeFailed' && o.kind === 'Kustomization',
    );
    expect(failure?.metadata).toMatchObject({
      'kustomize.toolkit.fluxcd.io/rollout': 'app',
      'kustomize.toolkit.fluxcd.io/version': '1.0.0',
    });
  });

  describe('Flux itself', () => {
    const CRD = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'alerts.notification.toolkit.fluxcd.io' },
    };
    const alert = exampleObjects('notifications.yaml').find(({ kind }) => kind === 'Alert')!;
    beforeAll(async () => {
      await installKinds(view.admin.access, [], await provideCrds(() => {}, [NOTIFICATION_CONTROLLER]));
    });

    it('takes the Providers and Alerts of the examples', async () => {
      for (const object of exampleObjects('notifications.yaml')) {
        expect(await createStrictly(view.admin, object)).toMatchObject({ warnings: [] });
      }
    });

    const selecting = (kind: string) => ({
      ...alert,
      metadata: { namespace: 'flux-system', name: `on-${kind.toLowerCase()}` },
      spec: { ...alert.spec, eventSources: [{ kind, name: '*' }] },
    });

    it.each(GOVERNED_KINDS)('an Alert can select a $kind, which reports for our objects', async ({ kind }) => {
      await createStrictly(view.admin, selecting(kind));
    });

    it('an Alert can select our kinds with the patch of docs/notifications.md, and not without', async () => {
      const page = readFileSync(join(REPOSITORY, 'docs/notifications.md'), 'utf8');
      const patch = [...page.matchAll(/- \{ op: add, path: (\S+), value: (\w+) \}/g)].map(([, path, value]) => ({
        ...{ op: 'add', path, value },
      }));
      expect(patch.map(({ value }) => value)).toEqual(['Rollout', 'RolloutGate', 'RolloutBudget', 'Gate']);
      for (const { value } of patch) {
        await expect(createStrictly(view.admin, selecting(value!))).rejects.toThrow('Unsupported value');
      }
      await view.admin.jsonPatch(CRD, patch);
      for (const { value } of patch) {
        await waitFor(() => createStrictly(view.admin, selecting(value!)).then(() => true), `an Alert on ${value}`);
      }
    });
  });

  it('a notification-controller that hangs holds up nothing: versions are deployed, writes admitted and denied', async () => {
    const scenario = await bound();
    await view.sre.create(gate(scenario.ns, 'freeze', { spec: { default: 'opened' } }));
    const held = gated('GitRepository', scenario.ns, 'git', 'freeze');
    await view.developer.create(held);
    controller.hang();
    await scenario.publish('2.0.0');
    await scenario.create();
    await waitFor(async () => controller.hanging() > 0, 'a message that is not answered');
    await scenario.arrive('2.0.0');
    await scenario.headIs('2.0.0', 'Succeeded');
    await requestGate(view.sre, scenario.ns, 'freeze', 'close');
    await isHeld(view.admin, held);
    const change = { spec: { url: 'https://git.example.com/other' } };
    await expect(view.developer.mergePatch(held, change)).rejects.toThrow(/freeze/);
    await requestGate(view.sre, scenario.ns, 'freeze', 'open');
    await scenario.publish('2.1.0');
    await scenario.arrive('2.1.0');
    await scenario.headIs('2.1.0', 'Succeeded');
  });
}
