import { describe, expect, it } from 'vitest';
import type { RolloutSpec, VersionInfo } from '../../../../api/types.ts';
import { bindingWithoutProof } from '../../../../core/binding/boundObjects.ts';
import { formatTime } from '../../../../core/kube/time.ts';
import { planRollout } from '../../../../core/rollout/plan.ts';
import { metadataRequeueAt } from '../../../../core/rollout/release/metadata.ts';
import { NOW, observed } from '../observedFixture.ts';

const seen = (secondsAgo: number): VersionInfo => ({ tag: '1.0.0', firstSeen: formatTime(NOW - secondsAgo * 1000) });

describe('metadataRequeueAt', () => {
  it.each<[string, VersionInfo[], string[], number | undefined]>([
    ['five seconds after a release was discovered', [seen(0)], [], 5],
    ['and a minute after that', [seen(5)], [], 60],
    ['of an older one, not until the resync', [seen(65)], [], undefined],
    ['nor of one whose age nobody knows', [{ tag: '1.0.0' }], [], undefined],
    ['nor of one that was seen by a clock that ran ahead', [seen(-3600)], [], undefined],
    ['each minute of one that is held until its authors are known', [seen(3600)], ['1.0.0'], 60],
    ['each minute of a tag that no policy has chosen', [], [], 60],
  ])('%s', (_title, available, awaited, expected) => {
    const at = metadataRequeueAt('1.0.0', available, awaited, NOW);
    expect(at === undefined ? undefined : (at - NOW) / 1000).toBe(expected);
  });
});

describe('a Rollout whose registry can’t be read', () => {
  it.each<[string, RolloutSpec['onFailure'], string, number | undefined]>([
    ['has nothing to look at again once it is settled', 'Rollback', 'Succeeded', undefined],
    ['nor while it deploys', 'Hold', 'Deploying', undefined],
    [
      'asks each minute while it may be rolled back: the release may say that it cannot be undone',
      'Rollback',
      'Deploying',
      60,
    ],
  ])('%s', (_title, onFailure, bakeStatus, expected) => {
    const version = seen(3600);
    const head = { id: 1, version: { tag: version.tag }, timestamp: formatTime(NOW - 3_600_000), bakeStatus };
    const status = { availableReleases: [version], history: [head] };
    const given = observed({ onFailure }, status);
    given.imagePolicy!.status = { latestRef: { tag: version.tag } };
    given.bindings = [bindingWithoutProof(given.rollout, 'Kustomization', 'app')];
    expect(planRollout(given, NOW).requeueAfterSeconds).toBe(expected);
  });
});
