import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ImagePolicy } from '../../../../api/flux.ts';
import { policyRules } from '../../../../core/policy/rules.ts';
import { releaseOrder, releasesAfter } from '../../../../core/rollout/release/candidates.ts';
import { objectOf } from '../../../support/objects.ts';

type Spec = NonNullable<ImagePolicy['spec']>;

const NOTHING_EXCLUDED = { rejected: new Set<string>(), rolledBack: new Set<string>(), minimumAge: undefined, now: 0 };
const semver: Spec = { policy: { semver: { range: '>=1.0.0' } } };
const numerical: Spec = { policy: { numerical: {} } };

function candidates(available: string[], deployed: string | undefined, spec: Spec | undefined): string[] {
  const policy = spec && (objectOf('ImagePolicy', { metadata: {}, spec }) as ImagePolicy);
  const releases = available.map((tag) => ({ tag }));
  return releasesAfter(releases, deployed, policy, NOTHING_EXCLUDED).candidates.map(({ tag }) => tag);
}

describe('releasesAfter', () => {
  it.each<[string, string[], string | undefined, Spec | undefined, string[]]>([
    ['all, newest first, when nothing is deployed', ['1.0.0', '1.1.0'], undefined, semver, ['1.1.0', '1.0.0']],
    ['those newer than the deployed one', ['1.0.0', '1.1.0', '1.2.0'], '1.1.0', semver, ['1.2.0']],
    ['by version, not by discovery', ['1.10.0', '1.9.0', '1.11.0'], '1.9.0', semver, ['1.11.0', '1.10.0']],
    ['newer than a deployed version that is not in the list', ['1.0.0', '1.2.0'], '1.1.0', semver, ['1.2.0']],
    ['none when the deployed tag has no place', ['1.0.0'], 'hotfix', semver, []],
    // The policy selected them earlier, perhaps with other rules.
    ['by discovery after a deployed tag without a version', ['1.0.0', 'hotfix', '1.1.0'], 'hotfix', semver, ['1.1.0']],
    ['none that a version before the deployed tag exceeds', ['2.0.0', 'hotfix', '1.1.0'], 'hotfix', semver, []],
    ['no tag without a version', ['main', '1.0.0', 'edge'], undefined, semver, ['1.0.0']],
    ['the later discovered of two equal versions', ['1.2', '1.2.0'], '1.2', semver, ['1.2.0']],
    ['by discovery after a number that is no version', ['20260301', '1.0.0'], '20260301', semver, ['1.0.0']],
    ['by version after half of one that was never discovered', ['1.0.0', '1.2.0'], '1.1', semver, ['1.2.0']],
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

  describe('a version that Flux selects by the current policy is a candidate, whatever our own evaluation', () => {
    const ready = (status: string) => [
      { type: 'Ready', status, reason: '', message: '', lastTransitionTime: '2026-03-10T10:00:00Z' },
    ];
    it.each<[string, object, string[]]>([
      ['selected now', { observedGeneration: 2, conditions: ready('True') }, ['2.0.0-rc.1']],
      ['selected by an older spec', { observedGeneration: 1, conditions: ready('True') }, []],
      ['left over where nothing is selected', { observedGeneration: 2, conditions: ready('False') }, []],
      ['of unknown generation', { conditions: ready('True') }, []],
    ])('%s', (_, status, expected) => {
      const spec = { policy: { semver: { range: '>=1.0.0', prereleases: { enabled: true } } } } as Spec;
      const latestRef = { tag: '2.0.0-rc.1' };
      const policy = { metadata: { generation: 2 }, spec, status: { latestRef, ...status } };
      const found = releasesAfter(
        [{ tag: '2.0.0-rc.1' }],
        '1.0.0',
        objectOf('ImagePolicy', policy) as ImagePolicy,
        NOTHING_EXCLUDED,
      );
      expect(found.candidates.map(({ tag }) => tag)).toEqual(expected);
    });
  });

  describe('a version newer than the one that Flux selects now has been deleted from the registry', () => {
    const found = (status: string, spec: Spec = semver) => {
      const conditions = [
        { type: 'Ready', status, reason: '', message: '', lastTransitionTime: '2026-03-10T10:00:00Z' },
      ];
      const selected = { observedGeneration: 2, conditions, latestRef: { tag: '1.1.0' } };
      const policy = objectOf('ImagePolicy', { metadata: { generation: 2 }, spec, status: selected } as never);
      const releases = ['1.0.0', '1.1.0', '1.2.0'].map((tag) => ({ tag }));
      return releasesAfter(releases, '1.0.0', policy as ImagePolicy, NOTHING_EXCLUDED);
    };
    const tagsOf = (releases: { tag: string }[]) => releases.map(({ tag }) => tag);

    it('and is withdrawn', () => {
      const { candidates, withdrawn } = found('True');
      expect(tagsOf(candidates)).toEqual(['1.1.0']);
      expect(withdrawn).toEqual([
        { tag: '1.2.0', reason: "the policy selects the older 1.1.0: 1.2.0 is no longer among the image's tags" },
      ]);
    });

    it.each<[string, string, Spec | undefined]>([
      ['while the ImagePolicy is not Ready', 'False', semver],
      ['where only the order of discovery ranks it', 'True', { policy: {} }],
    ])('but not %s', (_, ready, spec) => {
      expect(tagsOf(found(ready, spec).candidates)).toEqual(['1.2.0', '1.1.0']);
    });
  });

  it.each<[string, Spec, string[], { tag: string; reason: string }[]]>([
    [
      'a prerelease that the range does not ask for',
      semver,
      ['2.0.0-rc.1'],
      [{ tag: '2.0.0-rc.1', reason: "2.0.0-rc.1 is not in the policy's range '>=1.0.0'" }],
    ],
    [
      'not matched by filterTags',
      { ...semver, filterTags: { pattern: '^v' } },
      ['v1.0.0', '1.1.0'],
      [{ tag: '1.1.0', reason: "the policy's filterTags.pattern '^v' does not match it" }],
    ],
    [
      'a pattern that cannot be read selects nothing',
      { ...semver, filterTags: { pattern: '(' } },
      ['1.0.0'],
      [
        {
          tag: '1.0.0',
          reason: "the policy's filterTags.pattern '(' cannot be used: error parsing regexp: missing closing ): `(`",
        },
      ],
    ],
  ])('withdraws what the policy could not select: %s', (_title, spec, available, withdrawn) => {
    const policy = objectOf('ImagePolicy', { metadata: {}, spec }) as ImagePolicy;
    const releases = available.map((tag) => ({ tag }));
    const found = releasesAfter(releases, undefined, policy, NOTHING_EXCLUDED);
    expect(found.withdrawn).toEqual(withdrawn);
    expect(found.candidates.map(({ tag }) => tag).sort()).toEqual(
      available.filter((tag) => !withdrawn.some((each) => each.tag === tag)).sort(),
    );
  });

  it('lists the 20 latest of many withdrawn releases', () => {
    const many = Array.from({ length: 1000 }, (_, i) => ({ tag: `0.0.${i}` }));
    const policy = { apiVersion: 'v1', kind: 'ImagePolicy', metadata: {}, spec: semver } as ImagePolicy;
    const { withdrawn } = releasesAfter(many, undefined, policy, NOTHING_EXCLUDED);
    expect(withdrawn.map(({ tag }) => tag)).toEqual(
      many
        .slice(-20)
        .reverse()
        .map(({ tag }) => tag),
    );
  });

  it('orders 10,000 releases in a moment', () => {
    const many = Array.from({ length: 10_000 }, (_, i) => `1.${i % 100}.${i}`);
    const [newest] = candidates(many, undefined, semver);
    expect(newest).toBe('1.99.9999');
  });
});

it('orders any tags without a cycle, by rank and by discovery', () => {
  const policy = objectOf('ImagePolicy', { metadata: {}, spec: semver }) as ImagePolicy;
  const rules = policyRules(policy);
  const tag = fc.constantFrom('1.0.0', 'v1.0.0', '1.1.0', '2.0.0', 'main', 'edge', '20260301');
  fc.assert(
    fc.property(fc.uniqueArray(tag, { minLength: 3 }), (tags) => {
      const { compare, isNewer } = releaseOrder(
        tags.map((each) => ({ tag: each })),
        rules,
      );
      const sorted = tags.toSorted(compare);
      for (const [i, a] of sorted.entries()) {
        for (const b of sorted.slice(i + 1)) {
          expect([a, b, compare(a, b) < 0, compare(b, a) > 0, isNewer(b, a)]).toEqual([a, b, true, true, true]);
          const rank = rules.rank(a, b);
          if (rank !== undefined) expect(rank).toBeLessThanOrEqual(0);
          const areUnranked = [a, b].every((each) => rules.rank(each, each) === undefined);
          if (areUnranked || rank === 0) expect(tags.indexOf(a)).toBeLessThan(tags.indexOf(b));
        }
      }
    }),
  );
});
