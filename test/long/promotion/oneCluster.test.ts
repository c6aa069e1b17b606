/** manifests/examples/promotion/one-cluster.yaml with shorter times, and a fake Flux. */
import { expect, it } from 'vitest';
import { fakeFlux } from '../../../dev/actors/fakeFlux.ts';
import { type AnyObject, ref, waitFor } from '../../cluster/support/cluster.ts';
import { applyExample } from '../../cluster/support/examples.ts';
import { ownCluster } from '../../cluster/support/ownCluster.ts';
import { promotionIn } from './support.ts';

const { view } = await ownCluster();
const { admin, sre, newNamespace, publish } = view;
const { head, headIs, hasNot, hasCondition, spec, approve, isBefore } = promotionIn(view);

const EU = ['eu-1', 'eu-2'];
const US = ['us-1', 'us-2'];

it('a version is promoted through dev, an hour of staging, two approvals and three waves; one that fails in the first stops, until a user continues', async () => {
  const prefix = await newNamespace();
  await applyExample(admin, 'promotion/one-cluster.yaml', { 'store-': `${prefix}-` });
  const [dev, staging, production] = ['dev', 'staging', 'production'].map((name) => `${prefix}-${name}`) as [
    string,
    string,
    string,
  ];
  const budget: AnyObject = {
    apiVersion: 'kuberik.com/v1alpha1',
    kind: 'RolloutBudget',
    metadata: { namespace: production, name: 'store' },
  };
  const approves = (person: string, version: string) => approve(production, `${prefix}-approvers`, person, version);
  const fake = fakeFlux(view);
  const flux = [dev, staging, production].map((ns) => fake.follow(ns));
  try {
    await publish(dev, 'store', '1.0.0');
    await headIs(dev, 'store', '1.0.0', 'Succeeded');
    await headIs(staging, 'store', '1.0.0', 'InProgress');
    await hasCondition(production, 'canary', 'WaitingForRollouts', `Rollout '${staging}/store' (baking since`);
    await spec(staging, 'store', { bakeTime: '1s' });

    await hasCondition(production, 'canary', 'DeploymentBlocked', '0 of 2 approvals');
    await approves('alice', '1.0.0');
    await approves('alice', '1.0.0');
    await hasCondition(production, 'canary', 'DeploymentBlocked', '1 of 2 approvals (alice; ');
    await approves('bob', '1.0.0');

    await headIs(production, 'canary', '1.0.0', 'InProgress');
    expect((await head(production, 'canary')).approvals.map(({ by }: AnyObject) => by)).toEqual(['alice', 'bob']);
    await hasNot(production, 'eu-1', '1.0.0');
    await admin.mergePatch(budget as never, { spec: { cooldown: '1s' } });
    for (const name of ['canary', ...EU, ...US]) await spec(production, name, { bakeTime: '1s' });
    for (const name of US) await headIs(production, name, '1.0.0', 'Succeeded');
    await isBefore(production, ['canary'], EU);
    await isBefore(production, EU, US);

    await flux[2]!.stop();
    await spec(production, 'canary', { deployTimeout: '2s' });
    await publish(dev, 'store', '1.1.0');
    await hasCondition(production, 'canary', 'DeploymentBlocked', '0 of 2 approvals');
    for (const person of ['alice', 'bob']) await approves(person, '1.1.0');
    await waitFor(async () => (await head(production, 'canary')).rolledBackFrom === '1.1.0', 'canary to go back');
    await waitFor(async () => {
      const { status } = await admin.get(budget as never);
      return status.versions.some(({ version, blocked }: AnyObject) => version === '1.1.0' && blocked);
    }, 'the budget to hold what has failed in canary');
    for (const name of EU) await hasNot(production, name, '1.1.0');

    flux.push(fake.follow(production));
    await spec(production, 'canary', { deployTimeout: '15m' });
    const ask = (annotations: Record<string, string>) => ({ metadata: { annotations } });
    await sre.mergePatch(budget as never, ask({ 'rollout.kuberik.com/continue': '1.1.0' }));
    await sre.mergePatch(ref('rollout', production, 'canary'), ask({ 'rollout.kuberik.com/force-deploy': '1.1.0' }));
    for (const name of US) await headIs(production, name, '1.1.0', 'Succeeded');
  } finally {
    await Promise.all(flux.map((each) => each.stop()));
  }
}, 180_000);
