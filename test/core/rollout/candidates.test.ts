import { describe, expect, it } from 'vitest';
import type { ImagePolicy } from '../../../api/flux.ts';
import { releaseCandidates } from '../../../core/rollout/candidates.ts';

type Spec = NonNullable<ImagePolicy['spec']>;

const semver: Spec = { policy: { semver: { range: '>=1.0.0' } } };
const numerical: Spec = { policy: { numerical: {} } };

function candidates(
  available: string[],
  deployed: string | undefined,
  spec: Spec | undefined,
  rejected: string[] = [],
): string[] {
  const policy =
    spec && ({ apiVersion: 'image.toolkit.fluxcd.io/v1', kind: 'ImagePolicy', metadata: {}, spec } as ImagePolicy);
  const releases = available.map((tag) => ({ tag }));
  return releaseCandidates(releases, deployed, policy, new Set(rejected)).map(({ tag }) => tag);
}

describe('releaseCandidates', () => {
  it.each<[string, string[], string | undefined, Spec | undefined, string[]]>([
    ['all, newest first, when nothing is deployed', ['1.0.0', '1.1.0'], undefined, semver, ['1.1.0', '1.0.0']],
    ['those newer than the deployed one', ['1.0.0', '1.1.0', '1.2.0'], '1.1.0', semver, ['1.2.0']],
    ['by version, not by discovery', ['1.10.0', '1.9.0', '1.11.0'], '1.9.0', semver, ['1.11.0', '1.10.0']],
    ['newer than a deployed version that is not in the list', ['1.0.0', '1.2.0'], '1.1.0', semver, ['1.2.0']],
    ['none when the deployed tag has no place', ['1.0.0'], 'hotfix', semver, []],
    // The policy chose them once, perhaps with other rules.
    ['by discovery after a deployed tag without a version', ['1.0.0', 'hotfix', '1.1.0'], 'hotfix', semver, ['1.1.0']],
    ['tags without a version last', ['main', '1.0.0', 'edge'], undefined, semver, ['1.0.0', 'edge', 'main']],
    ['the later discovered of two equal versions', ['1.2', '1.2.0'], '1.2', semver, ['1.2.0']],
    ['by number', ['9', '10', '11'], '9', numerical, ['11', '10']],
    ['the smallest number with desc', ['9', '10', '8'], '9', { policy: { numerical: { order: 'desc' } } }, ['8']],
    ['by letter', ['b', 'a', 'c'], 'b', { policy: { alphabetical: {} } }, ['c']],
    ['by discovery without a policy', ['2.0.0', '1.0.0'], '2.0.0', undefined, ['1.0.0']],
    ['each tag once', ['1.0.0', '1.1.0', '1.1.0'], '1.0.0', semver, ['1.1.0']],
    ['never an illegal tag', ['1.0.0', '1.1.0 ', '../2.0.0'], '1.0.0', semver, []],
    [
      'by what filterTags extracts',
      ['pr-cc-99', 'main-aa-20', 'main-bb-3'],
      'main-bb-3',
      { ...numerical, filterTags: { pattern: '^main-[a-f]+-(?P<run>[0-9]+)$', extract: '$run' } },
      ['main-aa-20'],
    ],
  ])('%s', (_title, available, deployed, spec, expected) => {
    expect(candidates(available, deployed, spec)).toEqual(expected);
  });

  it('leaves rejected releases out', () => {
    expect(candidates(['1.0.0', '1.1.0', '1.2.0'], '1.0.0', semver, ['1.2.0'])).toEqual(['1.1.0']);
  });

  it('orders 10,000 releases in a moment', () => {
    const many = Array.from({ length: 10_000 }, (_, i) => `1.${i % 100}.${i}`);
    const [newest] = candidates(many, undefined, semver);
    expect(newest).toBe('1.99.9999');
  });
});
