/** Gates that select a Rollout block it like those that it names. */
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../../core/limits.ts';
import { imagePolicy, rollout } from './call.ts';
import { deployed, selecting, sync } from './sync.ts';

const production = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a', labels: { env: 'production' } } };
const everywhere = { namespaceSelector: { matchLabels: { env: 'production' } } };
const central = (state: 'opened' | 'closed') => selecting('weekend', state, everywhere, 'ops');
const blocked = ({ conditions = [] }: { conditions?: { type: string; message: string; reason: string }[] }) =>
  conditions.find(({ type }) => type === 'DeploymentBlocked');

describe('a closed Gate that selects the Rollout', () => {
  it.each([
    ['of its own namespace', selecting('weekend', 'closed'), 'team-a/weekend'],
    ['of another one, by the labels of the Namespace', central('closed'), 'ops/weekend'],
  ])('%s holds it, and no live read is needed to see that', async (_, gate, path) => {
    const { tags, status, reads } = await sync(rollout({}, deployed), [imagePolicy('1.1.0'), gate, production]);
    expect(tags).toEqual(['1.0.0']);
    expect(reads).toEqual([]);
    expect(blocked(status)).toMatchObject({
      reason: 'GateClosed',
      message: `Version 1.1.0 waits: Gate '${path}' is closed (Gate closed by default)`,
    });
  });

  it.each([
    ['that its cache does not know yet', []],
    ['that is open in its cache', [central('opened'), production]],
    ['that is open in its cache, and the Namespace not there yet', [central('opened')]],
  ])('%s holds the first deployment and every other', async (_, related) => {
    const objects = [central('closed'), production];
    for (const parent of [rollout({}), rollout({}, deployed)]) {
      const { status, resyncAfterSeconds } = await sync(parent, [imagePolicy('1.1.0'), ...related], { objects });
      expect(status.history?.[0]?.version.tag).toBe(parent.status?.history?.[0]?.version.tag);
      expect(blocked(status)?.message).toContain("Gate 'ops/weekend' is closed");
      expect(resyncAfterSeconds).toBe(15);
    }
  });
});

it.each([
  [LIMITS.selectingGates, ['1.1.0', '1.0.0']],
  [LIMITS.selectingGates + 1, ['1.0.0']],
])('%i open Gates that may select Rollouts: the limit is in what one list may bring', async (count, expected) => {
  const others = { labelSelector: { matchLabels: { app: 'other' } } };
  const objects = Array.from({ length: count }, (_, i) => selecting(`g-${i}`, 'opened', others));
  const { tags, status } = await sync(rollout({}, deployed), [imagePolicy('1.1.0')], { objects });
  expect(tags).toEqual(expected);
  if (count > LIMITS.selectingGates) expect(blocked(status)?.message).toMatch(/the object requires too many Gates/);
});

it('more open Gates than one object may require count as one closed Gate', async () => {
  const objects = Array.from({ length: LIMITS.requiredGates + 1 }, (_, i) => selecting(`g-${i}`, 'opened'));
  const { tags, status } = await sync(rollout({}, deployed), [imagePolicy('1.1.0'), ...objects]);
  expect(tags).toEqual(['1.0.0']);
  expect(blocked(status)?.message).toMatch(/the object requires too many Gates/);
});
