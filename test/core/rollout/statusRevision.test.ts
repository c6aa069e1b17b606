import { describe, expect, it } from 'vitest';
import type { RolloutStatus } from '../../../api/types.ts';
import { withRevision } from '../../../core/kube/statusRevision.ts';
import { isStale } from '../../../core/rollout/evaluation/observed.ts';
import { observed } from './observedFixture.ts';

function rollout(status: RolloutStatus | undefined, generation = 1) {
  const { rollout: base } = observed({}, status);
  return { ...base, metadata: { ...base.metadata, generation } };
}

describe('withRevision', () => {
  it('starts with revision 1', () => {
    expect(withRevision(rollout(undefined), { title: 'a' })).toEqual({
      title: 'a',
      observedGeneration: 1,
      revision: 1,
    });
  });

  it('returns the stored status if nothing changes', () => {
    const stored = { title: 'a', observedGeneration: 1, revision: 7 };
    expect(withRevision(rollout(stored), { title: 'a' })).toBe(stored);
  });

  it('returns the stored status if a text is cut within an emoji: Go stores U+FFFD for the half', () => {
    const half = '\u{1f600}'.slice(0, 1);
    const said = (message: string) => ({ conditions: [{ type: 'Ready', status: 'True', message }] }) as RolloutStatus;
    const stored = { ...said('a\ufffd'), observedGeneration: 1, revision: 7 };
    expect(withRevision(rollout(stored), said(`a${half}`))).toBe(stored);
    expect(withRevision(rollout(undefined), said(`a${half}`))).toMatchObject(said('a\ufffd'));
  });

  it.each([
    ['a field changes', { title: 'b' }, 1],
    ['only the generation has moved', { title: 'a' }, 2],
    ['a field goes', {}, 1],
  ])('counts on when %s', (_title, next, generation) => {
    const stored = { title: 'a', observedGeneration: 1, revision: 7 };
    expect(withRevision(rollout(stored, generation), next)).toEqual({
      ...next,
      observedGeneration: generation,
      revision: 8,
    });
  });

  it('does not take a revision from the plan', () => {
    expect(withRevision(rollout({ title: 'a', revision: 7 }), { title: 'b', revision: 99 }).revision).toBe(8);
  });
});

describe('a cached Rollout is stale', () => {
  const cached = rollout({ revision: 7 });
  const live = (metadata: object, status: RolloutStatus = { revision: 7 }) => ({
    ...cached,
    metadata: { ...cached.metadata, ...metadata },
    status,
  });
  it.each<[string, ReturnType<typeof live> | undefined, boolean]>([
    ['once it is gone', undefined, true],
    ['after a change of the spec', live({ generation: 2 }), true],
    ['after a change of the status', live({}, { revision: 8 }), true],
    ['after an annotation', live({ annotations: { a: 'b' } }), true],
    ['after a label: a Gate may select it by that', live({ labels: { a: 'b' } }), true],
    ['not for its field owners', live({ managedFields: [] }), false],
    ['not for a new resourceVersion', live({ resourceVersion: '9' }), false],
  ])('%s', (_, stored, expected) => expect(isStale(cached, stored)).toBe(expected));
});
