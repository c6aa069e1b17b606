import { describe, expect, it } from 'vitest';
import type { HistoryEntry, RolloutSpec } from '../../../../api/types.ts';
import { LIMITS } from '../../../../core/limits.ts';
import { specProblems } from '../../../../core/rollout/evaluation/specProblems.ts';
import { planRollout } from '../../../../core/rollout/plan.ts';
import { upstreamRefs } from '../../../../core/rollout/upstream/dependencies.ts';
import { evaluateUpstream } from '../../../../core/rollout/upstream/upstreamVerdict.ts';
import { objectOf } from '../../../support/objects.ts';
import { NOW, observed } from '../observedFixture.ts';

type After = NonNullable<RolloutSpec['after']>;

const rollout = (after: After) => objectOf('Rollout', 'team-a/app', { spec: { releasesImagePolicy: {}, after } });
const upstream = (name: string, history: HistoryEntry[]) =>
  objectOf('Rollout', `team-a/${name}`, { spec: { releasesImagePolicy: {} }, status: { history } });
const succeeded = (tag: string) => ({ version: { tag }, timestamp: '2026-03-01T11:00:00Z', bakeStatus: 'Succeeded' });
const many = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `s${i}` }));

describe('the upstream Rollouts of a Rollout', () => {
  it('are at most as many as the limit; with more nothing is deployed, with the cause', () => {
    expect(specProblems({ after: many(LIMITS.after) })).toEqual([]);
    expect(specProblems({ after: many(200) })).toEqual([
      `spec.after has 200 Rollouts, more than ${LIMITS.after} (limit after): chain some of them`,
    ]);
    expect(upstreamRefs(rollout(many(200)))).toHaveLength(LIMITS.after);
  });

  it.each<[string, Partial<HistoryEntry>, string]>([
    ['no bake status', { bakeStatus: undefined as never }, 'has not reported that it succeeded'],
    ['times that cannot be read', { timestamp: 'yesterday' }, 'has not reported when it succeeded'],
    [
      'a far time',
      { bakeEndTime: '9999-12-31T23:59:59Z' },
      'succeeded at 9999-12-31T23:59:59Z; spec.after[].bakedFor requires 1h0m0s since then, until 9999-12-31T23:59:59Z',
    ],
    [
      'a retry',
      { bakeStatus: 'Deploying', lastRetryTimestamp: '2026-03-01T11:30:00Z' },
      'rolling out since 2026-03-01T11:30:00Z',
    ],
  ])('are closed for an entry with %s', (_title, fields, why) => {
    const found = [upstream('staging', [{ ...succeeded('1.0.0'), ...fields }])];
    const [result] = evaluateUpstream(
      rollout([{ name: 'staging', bakedFor: '1h' }]),
      { found },
      [{ tag: '1.0.0' }],
      NOW,
    );
    expect(result).toMatchObject({ allowed: [], wait: { text: `Rollout 'staging' (${why})` } });
  });

  it('with match digest accept the same manifest under any tag, and ignore the manifest’s own metadata', () => {
    const staged = { ...succeeded('5.0.0'), version: { tag: '5.0.0', digest: 'sha256:a', revision: 'abc123' } };
    const candidates = [
      { tag: '6.6.6', digest: 'sha256:b', revision: 'abc123' },
      { tag: '6.0.0', revision: 'abc123' },
      { tag: '5.0.0-prod', digest: 'sha256:a' },
    ];
    const evaluated = (match: 'digest' | 'revision') =>
      evaluateUpstream(
        rollout([{ name: 'staging', match }]),
        { found: [upstream('staging', [staged])] },
        candidates,
        NOW,
      )[0]!;
    expect(evaluated('digest')).toMatchObject({
      allowed: ['5.0.0-prod'],
      wait: { text: "Rollout 'staging' (its history has no deployment of this digest)" },
    });
    expect(evaluated('revision').allowed).toEqual(['6.6.6', '6.0.0', '5.0.0-prod']);
    const unknown = evaluateUpstream(
      rollout([{ name: 'staging', match: 'digest' }]),
      { found: [upstream('staging', [staged])] },
      [{ tag: '6.0.0' }],
      NOW,
    );
    expect(unknown[0]!.wait?.text).toBe("Rollout 'staging' (the digest of 6.0.0 is not known here)");
  });

  it('list at most fifty versions in the status, and evaluate all', () => {
    const releases = Array.from({ length: 120 }, (_, i) => ({ tag: `1.${i}.0` }));
    const found = [
      upstream(
        'staging',
        releases.map(({ tag }) => succeeded(tag)),
      ),
    ];
    const given = observed(
      { after: [{ name: 'staging' }] },
      { availableReleases: releases },
      { upstream: { found }, problems: ['nothing is deployed'] },
    );
    const { gates, gatedReleaseCandidates } = planRollout(given, NOW).status;
    const newestFirst = releases.map(({ tag }) => tag).reverse();
    expect(gates?.[0]?.allowedVersions).toEqual(newestFirst.slice(0, 50));
    expect(gatedReleaseCandidates).toHaveLength(120);
  });
});
