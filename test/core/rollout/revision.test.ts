import { describe, expect, it } from 'vitest';
import type { RolloutStatus } from '../../../api/types.ts';
import { revised } from '../../../core/rollout/revision.ts';
import { observed } from './observedFixture.ts';

function rollout(status: RolloutStatus | undefined, generation = 1) {
  const { rollout: base } = observed({}, status);
  return { ...base, metadata: { ...base.metadata, generation } };
}

describe('revised', () => {
  it('gives a first status revision 1', () => {
    expect(revised(rollout(undefined), { title: 'a' })).toEqual({ title: 'a', observedGeneration: 1, revision: 1 });
  });

  it('answers what is stored when nothing changes', () => {
    const stored = { title: 'a', observedGeneration: 1, revision: 7 };
    expect(revised(rollout(stored), { title: 'a' })).toBe(stored);
  });

  it.each([
    ['a field changes', { title: 'b' }, 1],
    ['only the generation has moved', { title: 'a' }, 2],
    ['a field goes', {}, 1],
  ])('counts on when %s', (_title, next, generation) => {
    const stored = { title: 'a', observedGeneration: 1, revision: 7 };
    expect(revised(rollout(stored, generation), next)).toEqual({
      ...next,
      observedGeneration: generation,
      revision: 8,
    });
  });

  it('does not take a revision from the plan', () => {
    expect(revised(rollout({ title: 'a', revision: 7 }), { title: 'b', revision: 99 }).revision).toBe(8);
  });
});
