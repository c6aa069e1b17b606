/** `why` reads what the explanation of a Rollout needs beside its own objects. */
import { expect, it } from 'vitest';
import { objectOf } from '../support/objects.ts';
import { typed } from './objectServer.ts';

it('of a version behind a wave has what the earlier wave lacks', async () => {
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
    status: { versions: [version('example/other'), version('example/app')] },
  } as never);
  const { out } = await typed(['why', 'app', '-n', 'shop'], [app, budget]);
  expect(out).toContain('RolloutBudget shop/fleet: 1.2.0 by waves: canary 1/2 done (1 failed), eu 0/4 done.');
});
