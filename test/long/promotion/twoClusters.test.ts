/**
 * manifests/examples/promotion/two-clusters, each half in a control plane of its own, between two real registries. The
 * second knows nothing of the first but what is in the target repository. Flux is played, image-reflector-controller
 * too.
 */
import { expect, it } from 'vitest';
import { fakeFlux } from '../../../dev/actors/fakeFlux.ts';
import type { RealRegistry } from '../../../dev/local/registry/realRegistry.ts';
import type { ClusterView } from '../../cluster/support/cluster.ts';
import { pullSecret, pushTo } from '../../cluster/support/copyScenario.ts';
import { createStrictly, exampleObjects } from '../../cluster/support/examples.ts';
import { scanning } from '../../cluster/support/imageReflector.ts';
import { ownCluster } from '../../cluster/support/ownCluster.ts';
import { twoRegistries } from '../../support/registries.ts';
import { promotionIn } from './support.ts';

const [{ view: first }, { view: second }] = [await ownCluster(), await ownCluster()];
const [source, target] = await twoRegistries();

it('production deploys exactly the bytes that staging has baked, in waves, and nothing before', async () => {
  const prefix = await first.newNamespace();
  const [dev, staging, production] = ['dev', 'staging', 'production'].map((name) => `${prefix}-${name}`) as [
    string,
    string,
    string,
  ];
  const repositories = { dev: `${prefix}/dev`, prod: `${prefix}/prod` };
  const names = {
    'registry.example/dev/web': `${source.host}/${repositories.dev}`,
    'registry.example/prod/web': `${target.host}/${repositories.prod}`,
    'web-': `${prefix}-`,
  };
  const apply = async ({ admin }: ClusterView, file: string) => {
    for (const object of exampleObjects(`promotion/two-clusters/${file}`, names)) {
      // The registries of this test have no TLS.
      if (object.kind === 'ImageRepository') object.spec.insecure = true;
      if (object.spec?.targetRepository) object.spec.targetRepository.insecure = true;
      await createStrictly(admin, object);
    }
  };
  const scans = (view: ClusterView, registry: RealRegistry, namespace: string, repository: string) =>
    scanning(view, registry, { namespace, policy: 'web', repository });

  await apply(first, 'staging.yaml');
  await apply(second, 'production.yaml');
  for (const namespace of [dev, staging]) await pullSecret(first, namespace, 'pull', source);
  await pullSecret(first, staging, 'push', target);
  await pullSecret(second, production, 'pull', target);
  const running = [
    ...[dev, staging].map((namespace) => fakeFlux(first).follow(namespace)),
    fakeFlux(second).follow(production),
    ...[dev, staging].map((namespace) => scans(first, source, namespace, repositories.dev)),
    scans(second, target, production, repositories.prod),
  ];
  const here = promotionIn(first);
  const there = promotionIn(second);
  try {
    const digest = await pushTo(source, repositories.dev, '1.0.0');
    await here.headIs(staging, 'web', '1.0.0', 'InProgress');
    await there.hasNot(production, 'canary', '1.0.0');
    expect(await target.tags(repositories.prod)).toEqual([]);
    await here.spec(staging, 'web', { bakeTime: '1s' });

    await there.hasCondition(production, 'canary', 'DeploymentBlocked', '0 of 2 approvals');
    for (const person of ['alice', 'bob']) await there.approve(production, `${prefix}-approvers`, person, '1.0.0');
    await there.headIs(production, 'canary', '1.0.0', 'InProgress');
    await there.hasNot(production, 'eu', '1.0.0');
    for (const name of ['canary', 'eu', 'us']) await there.spec(production, name, { bakeTime: '1s' });
    await second.admin.mergePatch(
      { apiVersion: 'kuberik.com/v1alpha1', kind: 'RolloutBudget', metadata: { namespace: production, name: 'web' } },
      { spec: { cooldown: '1s' } },
    );
    await there.headIs(production, 'us', '1.0.0', 'Succeeded');
    expect(await there.head(production, 'us')).toMatchObject({ version: { tag: '1.0.0', digest } });
    await there.isBefore(production, ['canary'], ['eu']);
    await there.isBefore(production, ['eu'], ['us']);
  } finally {
    await Promise.all(running.map((each) => each.stop()));
  }
}, 300_000);
