/** `why` reads what the explanation of a Rollout needs beside its own objects. */
import { describe, expect, it } from 'vitest';
import { objectOf } from '../support/objects.ts';
import { typed } from './objectServer.ts';

it('of a version that waits for a slot has the Rollouts with slots, and what the earlier wave lacks', async () => {
  const metadata = { namespace: 'shop', name: 'app' };
  const object = { kind: 'RolloutBudget', namespace: 'shop', name: 'fleet' };
  const blocker = { type: 'Budget', effect: 'Waits', reason: 'NoSlot', version: '1.2.0', object };
  const app = objectOf('Rollout', {
    metadata,
    spec: { releasesImagePolicy: { name: 'app' } },
    status: {
      image: 'example/app',
      pendingVersion: '1.2.0',
      gates: [{ kind: 'RolloutBudget', name: 'RolloutBudget/fleet', passing: true, allowedVersions: [] }],
      blockers: [blocker],
    },
  } as never);
  const waves = [
    { value: 'canary', total: 2, done: 1, underWay: 0, waiting: 0, failed: 1 },
    { value: 'eu', total: 4, done: 0, underWay: 0, waiting: 4, failed: 0 },
  ];
  const version = (image: string) => ({ image, version: '1.2.0', failed: 1, waves });
  const budget = objectOf('RolloutBudget', {
    metadata: { ...metadata, name: 'fleet' },
    spec: { selector: {}, maxConcurrent: 1 },
    status: {
      versions: [version('example/other'), version('example/app')],
      slots: [{ namespace: 'shop', name: 'eu-1', version: '1.2.0', state: 'Deploying' }],
    },
  } as never);
  const { out } = await typed(['why', 'app', '-n', 'shop'], [app, budget]);
  expect(out).toContain('RolloutBudget shop/fleet: shop/eu-1 1.2.0 is rolling out.');
  expect(out).toContain('RolloutBudget shop/fleet: 1.2.0 by waves: canary 1/2 done (1 failed), eu 0/4 done.');
});

it('of a Gate with approvals has the versions that wait for it, and the commands that approve them', async () => {
  const prod = objectOf('Gate', {
    metadata: { namespace: 'flux-system', name: 'prod' },
    spec: { default: 'closed', approvals: { required: 2 } },
  });
  const app = (name: string, gate: string) =>
    objectOf('Rollout', {
      metadata: { namespace: 'shop', name, uid: name },
      spec: { releasesImagePolicy: { name } },
      status: { pendingVersion: '1.2.0', gates: [{ kind: 'Gate', name: gate, passing: false }] },
    } as never);
  const objects = [prod, app('web', 'flux-system/prod'), app('api', 'flux-system/other')];
  const { out } = await typed(['why', 'gate/prod', '-n', 'flux-system'], objects);
  expect(out).toContain('1.2.0 of Rollout shop/web has 0 of 2 approvals.');
  expect(out).toContain('kubectl rollouts approve gate/prod shop/web:1.2.0 -n flux-system');
  expect(out).not.toContain('shop/api');
});

it('of a Rollout has the tag that its ImagePolicy has selected and no hook has read', async () => {
  const metadata = { namespace: 'shop', name: 'app' };
  const app = objectOf('Rollout', {
    metadata,
    spec: { releasesImagePolicy: { name: 'app' } },
    status: { availableReleases: [{ tag: '1.0.0' }] },
  });
  const status = { latestRef: { name: 'example/app', tag: '1.1.0' } };
  const { out } = await typed(
    ['why', 'app', '-n', 'shop'],
    [app, objectOf('ImagePolicy', { metadata, status } as never)],
  );
  expect(out).toContain('ImagePolicy shop/app selects 1.1.0, which is not yet among the releases of the Rollout');
});

it('of a Kustomization has the closed Gate that selects it, before a hook has recorded it', async () => {
  const select = (name: string, kinds: ['HelmRelease' | 'Kustomization']) =>
    objectOf('Gate', { metadata: { namespace: 'shop', name }, spec: { default: 'closed', selects: { kinds } } });
  const web = objectOf('Kustomization', { metadata: { namespace: 'shop', name: 'web' } } as never);
  const gates = [select('freeze', ['Kustomization']), select('releases', ['HelmRelease'])];
  const { out } = await typed(['why', 'kustomization/web', '-n', 'shop'], [web, ...gates]);
  expect(out).toContain("Kustomization shop/web is not suspended yet although Gate 'shop/freeze' is closed");
  expect(out).not.toContain('releases');
});

describe('of a Rollout whose ImagePolicy does not exist', () => {
  const ready = {
    type: 'Ready',
    status: 'False',
    reason: 'RolloutFailed',
    message: 'no policy',
    lastTransitionTime: '',
  };
  const rollout = objectOf('Rollout', {
    metadata: { namespace: 'shop', name: 'app' },
    spec: { releasesImagePolicy: { name: 'app' } },
    status: {
      conditions: [ready],
      blockers: [
        {
          type: 'Problem',
          effect: 'Blocks',
          reason: 'ImagePolicyNotFound',
          object: { kind: 'ImagePolicy', namespace: 'shop', name: 'app' },
        },
      ],
    },
  } as never);
  const policy = (name: string) => objectOf('ImagePolicy', { metadata: { namespace: 'shop', name } } as never);

  it.each([
    ['other ones', [policy('api'), policy('web')], 'Namespace shop has the ImagePolicies api, web: correct'],
    ['none', [], 'Namespace shop has no ImagePolicy: create app.'],
  ])('lists those of its namespace: %s', async (_, policies, text) => {
    const { out } = await typed(['why', 'app', '-n', 'shop'], [rollout, ...policies]);
    expect(out).toContain(text);
  });

  it('and says nothing about them if it exists', async () => {
    const { out } = await typed(['why', 'app', '-n', 'shop'], [rollout, policy('app')]);
    expect(out).not.toContain('Namespace shop has');
  });
});
