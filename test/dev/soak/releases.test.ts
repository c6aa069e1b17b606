/** What became of a release, as a soak judges it. */
import { describe, expect, it } from 'vitest';
import type { App, Release } from '../../../dev/soak/fleet.ts';
import { judgeReleases, unsettled } from '../../../dev/soak/releases.ts';

const release = (tag: string, fields: Partial<Release> = {}): Release => ({
  app: 'team-0/app',
  tag,
  bad: false,
  free: false,
  publishedMs: 0,
  ...fields,
});
const deployed = (tag: string, outcome?: string, bad = false) =>
  release(tag, { deployedMs: 1, bad, ...(outcome && { outcome }) });
const byTag = (releases: Release[]) => new Map(releases.map((one) => [one.tag, one]));

describe('a release', () => {
  it.each<[string, Release[], string[]]>([
    ['that succeeded is where it should be', [deployed('1.0.0', 'Succeeded')], []],
    ['that was bad and failed, too', [deployed('1.0.0', 'Failed', true)], []],
    ['in whose place a newer one was deployed, too', [release('1.0.0'), deployed('1.1.0', 'Succeeded')], []],
    ['that nobody deployed is lost', [deployed('1.0.0', 'Succeeded'), release('1.1.0')], ['1.1.0 never arrived']],
    [
      'is lost beside a newer one that did not arrive either',
      [release('1.0.0'), release('1.1.0')],
      ['1.0.0 never arrived', '1.1.0 never arrived'],
    ],
    ['that never ended is told', [deployed('1.0.0')], ['1.0.0 was deployed and never ended']],
    ['that worked and failed is told', [deployed('1.0.0', 'Failed')], ['1.0.0 failed, though it was good']],
    [
      'that did not work and succeeded is told',
      [deployed('1.0.0', 'Succeeded', true)],
      ['1.0.0 succeeded, though it was bad'],
    ],
    [
      'that somebody cancelled is told',
      [deployed('1.0.0', 'Cancelled')],
      ['1.0.0 ended Cancelled, which nobody had asked for'],
    ],
  ])('%s', (_, releases, violations) => {
    const judged = judgeReleases([{ key: 'team-0/app', releases: byTag(releases) }]);
    expect(judged.violations).toEqual(violations.map((text) => `Rollout team-0/app: ${text}`));
    expect(judged.counts.published).toBe(releases.length);
  });

  it('is counted by what became of it', () => {
    const releases = [release('1.0.0'), deployed('1.1.0', 'Failed', true), deployed('1.2.0', 'Succeeded')];
    const { counts } = judgeReleases([{ key: 'team-0/app', releases: byTag(releases) }]);
    expect(counts).toEqual({ published: 3, succeeded: 1, failed: 1, superseded: 1 });
  });
});

describe('an application is at rest', () => {
  const app = (kind: App['kind'], releases: Release[], tag: string, bakeStatus: string, kustomization = {}): App => ({
    key: 'team-0/app',
    namespace: 'team-0',
    name: 'app',
    kind,
    newest: 0,
    releases: byTag(releases),
    ids: new Map(),
    spans: [],
    notReady: [],
    verify: () => [],
    rollout: { metadata: {}, status: { history: [{ version: { tag }, bakeStatus }] } } as never,
    kustomization: {
      metadata: { annotations: {} },
      spec: { postBuild: { substitute: { APP_VERSION: tag } } },
      ...kustomization,
    } as never,
  });
  const good = [deployed('1.0.0', 'Succeeded')];
  const bad = [...good, deployed('1.1.0', 'Failed', true)];
  const carries = (tag: string) => ({ spec: { postBuild: { substitute: { APP_VERSION: tag } } } });

  it.each<[string, App, string[]]>([
    ['with its newest version', app('bake', good, '1.0.0', 'Succeeded'), []],
    ['with one that failed and has no way back', app('bake', bad, '1.1.0', 'Failed'), []],
    ['when it is rolled back', app('health', bad, '1.0.0', 'Succeeded'), []],
    [
      'not while it bakes',
      app('bake', good, '1.0.0', 'InProgress'),
      ['Rollout team-0/app has 1.0.0 InProgress, not 1.0.0'],
    ],
    [
      'not with an older version',
      app('bake', [...good, release('1.1.0')], '1.0.0', 'Succeeded'),
      ['Rollout team-0/app has 1.0.0 Succeeded, not 1.1.0'],
    ],
    [
      'not before its Kustomization carries it',
      app('bake', good, '1.0.0', 'Succeeded', carries('0.9.0')),
      ['Kustomization team-0/app carries 0.9.0, not 1.0.0'],
    ],
    [
      'not while it is suspended',
      app('bake', good, '1.0.0', 'Succeeded', { spec: { suspend: true, ...carries('1.0.0').spec } }),
      ['Kustomization team-0/app is suspended'],
    ],
    [
      'not while it remembers that it was',
      app('bake', good, '1.0.0', 'Succeeded', { metadata: { annotations: { 'gate.fluxcd.io/suspended': 'unset' } } }),
      ['Kustomization team-0/app remembers a suspension'],
    ],
  ])('%s', (_, one, left) => {
    expect(unsettled(one)).toEqual(left);
  });
});
