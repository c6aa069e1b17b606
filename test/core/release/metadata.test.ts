import { describe, expect, it } from 'vitest';
import type { VersionInfo } from '../../../api/types.ts';
import { formatTime } from '../../../core/kube/time.ts';
import { metadataLookAt } from '../../../core/release/metadata.ts';
import { planRollout } from '../../../core/rollout/plan.ts';
import { NOW, observed } from '../rollout/observedFixture.ts';

const seen = (secondsAgo: number): VersionInfo => ({ tag: '1.0.0', firstSeen: formatTime(NOW - secondsAgo * 1000) });

describe('metadataLookAt', () => {
  it.each<[string, VersionInfo[], string[], number | undefined]>([
    ['five seconds after a release was discovered', [seen(0)], [], 5],
    ['and a minute after that', [seen(5)], [], 60],
    ['of an older one, not until the resync', [seen(65)], [], undefined],
    ['nor of one whose age nobody knows', [{ tag: '1.0.0' }], [], undefined],
    ['nor of one that was seen by a clock that ran ahead', [seen(-3600)], [], undefined],
    ['each minute of one that is held until its authors are known', [seen(3600)], ['1.0.0'], 60],
    ['each minute of a tag that no policy has chosen', [], [], 60],
  ])('%s', (_title, available, awaited, expected) => {
    const at = metadataLookAt('1.0.0', available, awaited, NOW);
    expect(at === undefined ? undefined : (at - NOW) / 1000).toBe(expected);
  });
});

it('a settled Rollout whose registry cannot be read has nothing to look at again', () => {
  const settled = observed({}, { availableReleases: [seen(3600)] });
  settled.imagePolicy!.status = { latestRef: { tag: '1.0.0' } };
  const deployed = planRollout(settled, NOW).status;
  settled.rollout.status = deployed;
  expect(planRollout(settled, NOW + 60_000).resyncAfterSeconds).toBeUndefined();
});
