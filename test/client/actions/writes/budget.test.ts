import { expect, it } from 'vitest';
import { continueVersion } from '../../../../client/actions/writes/budgetWrites.ts';
import { objectOf } from '../../../support/objects.ts';

const version = (name: string, blocked: boolean, failed = 1) => ({
  image: 'registry.example/app',
  version: name,
  blocked,
  failed,
});
const budget = objectOf('RolloutBudget', {
  metadata: { namespace: 'shop', name: 'fleet' },
  spec: { selector: {}, maxConcurrent: 1 },
  status: { versions: [version('1.2.0', true), version('1.1.0', false)] },
});

it('a version that it holds may go on, with a reason', () => {
  const annotations = {
    'rollout.kuberik.com/continue': '1.2.0',
    'kubernetes.io/change-cause': 'continue 1.2.0: the database was down',
  };
  expect(continueVersion(budget, '1.2.0', 'the database was down')).toMatchObject({
    body: { metadata: { annotations } },
    concerns: [expect.stringMatching(/^1\.2\.0 has failed in 1 Rollout/)],
  });
});

it.each([
  ['9.9.9', true],
  ['1.1.0', false],
  ['no tag', true],
])('for %s there is nothing to ask, which is a mistake: %s', (wanted, isWrong) => {
  const { none, isWrong: found = false } = continueVersion(budget, wanted, undefined) as {
    none: string;
    isWrong?: boolean;
  };
  expect([found, none]).toEqual([isWrong, expect.stringContaining(wanted)]);
});
