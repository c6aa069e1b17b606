/** Outcomes of deployments, against the truth about their versions. */
import { expect, it } from 'vitest';
import { wrongOutcomes } from '../../../dev/oracle/outcomes.ts';

const truth = {
  versionOf: (tag: string) => ({ isBroken: tag === 'bad', name: 'x' }),
  longestMs: 60_000,
};
const stored = (at: number, tag: string, bakeStatus: string) => ({
  at: at * 1000,
  object: {
    apiVersion: '',
    kind: 'Rollout',
    metadata: {},
    status: { history: [{ id: 1, version: { tag }, bakeStatus }] },
  },
});

it.each([
  ['a broken version that fails', 'bad', 'Failed', 30, []],
  [
    'a broken version that succeeds',
    'bad',
    'Succeeded',
    30,
    ['deployment 1 of bad (x), which is broken, has Succeeded'],
  ],
  ['a version that works and succeeds', 'good', 'Succeeded', 60, []],
  ['a version that works and fails', 'good', 'Failed', 60, ['deployment 1 of good (x), which works, has Failed']],
  ['a late outcome', 'good', 'Succeeded', 61, ['deployment 1 of good (x) is Succeeded for too long']],
])('%s', (_, tag, outcome, seconds, expected) => {
  const versions = [stored(0, tag, 'Deploying'), stored(seconds, tag, outcome)];
  expect(wrongOutcomes(versions, truth, seconds * 1000)).toEqual(expected);
});

it('a deployment that never ends', () => {
  expect(wrongOutcomes([stored(0, 'good', 'Deploying')], truth, 61_000)).toEqual(['deployment 1 never ends']);
});
