import { describe, expect, it } from 'vitest';
import type { ImagePolicy } from '../../../../api/flux.ts';
import type { Rollout } from '../../../../api/types.ts';
import { latestOf } from '../../../../core/policy/imagePolicy.ts';
import { movedHeadText } from '../../../../core/rollout/deployment/history.ts';
import { discoverReleases } from '../../../../core/rollout/release/discovery.ts';
import { NOW, observed } from '../observedFixture.ts';

const discover = (rollout: Rollout, imagePolicy: ImagePolicy) => {
  const inputs = { rollout, imagePolicy, metadata: {}, authorsOf: [], barriersOf: [], hasMinimumAge: false };
  return discoverReleases(inputs, NOW);
};
const policy = (status: ImagePolicy['status']): ImagePolicy => ({ ...observed().imagePolicy!, status });

describe('latestOf', () => {
  it.each<[ImagePolicy['status'], object | undefined]>([
    [{ latestRef: { name: 'r/app', tag: '1.0.0', digest: 'sha256:aa' } }, { tag: '1.0.0', digest: 'sha256:aa' }],
    [{ latestRef: { name: 'r/app', tag: '1.0.0', digest: '' } }, { tag: '1.0.0' }],
    [{ latestImage: 'r.example:5000/app:1.0.0' }, { tag: '1.0.0' }],
    [{ latestImage: 'r.example/app:1.0.0@sha256:aa' }, { tag: '1.0.0' }],
    [{ latestImage: 'r.example:5000/app' }, undefined],
    [{ latestRef: { tag: '' } }, undefined],
    [undefined, undefined],
  ])('of %j is %j', (status, expected) => {
    expect(latestOf(policy(status))).toEqual(expected);
  });
});

describe('discoverReleases', () => {
  it.each(['-a', 'a b', 'a/b', 'a:b', 'x'.repeat(129), '$(rm)'])('refuses the tag %j', (tag) => {
    const { available, problems } = discover(observed().rollout, policy({ latestRef: { tag } }));
    expect(available).toEqual([]);
    expect(problems).toEqual([expect.stringContaining('not a valid image tag')]);
  });

  it('ignores a last discovery in the future, which is from a clock that was set back', () => {
    const status = { lastReleaseUpdate: '2026-03-01T13:00:00Z' };
    const { rollout } = observed({ releaseUpdateInterval: '1h' }, status);
    expect(discover(rollout, policy({ latestRef: { tag: '1.0.0' } })).available).toHaveLength(1);
  });

  it('forgets the digests of another image: an ImagePolicy that returns to the first has not moved its tags', () => {
    const deployed = {
      version: { tag: '1.0.0', digest: 'sha256:aa' },
      timestamp: '2026-03-01T11:00:00Z',
      image: 'r/app',
    };
    const select = (status: Rollout['status'], latestRef: { name: string; tag: string; digest: string }) => {
      const { available, fields } = discover(observed({}, status).rollout, policy({ latestRef }));
      return { history: [deployed], availableReleases: available, ...fields };
    };
    const first = select({ history: [deployed] }, { name: 'r/app', tag: '1.0.0', digest: 'sha256:aa' });
    const other = select(first, { name: 'r/other', tag: '1.0.0', digest: 'sha256:bb' });
    const again = select(other, { name: 'r/app', tag: '1.1.0', digest: 'sha256:cc' });
    expect(movedHeadText(again)).toBeUndefined();
    expect(movedHeadText(select(again, { name: 'r/app', tag: '1.0.0', digest: 'sha256:dd' }))).toContain('1.0.0');
  });
});
