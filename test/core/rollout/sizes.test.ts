/** The size limit of a Rollout's status, which Metacontroller must write and etcd store. */
import { expect, it } from 'vitest';
import type { RolloutStatus, VersionInfo } from '../../../api/types.ts';
import { LIMITS } from '../../../core/limits.ts';
import { formatDeployments, parseDeployments } from '../../../core/managedField/deployment.ts';
import { adoptedEntry } from '../../../core/rollout/deployment/entry.ts';
import { readRolloutConfig } from '../../../core/rollout/evaluation/observed.ts';
import { planRollout } from '../../../core/rollout/plan.ts';
import { boundedReleases } from '../../../core/rollout/release/retention.ts';
import { objectOf } from '../../support/objects.ts';
import { NOW, observed } from './observedFixture.ts';

const release = (tag: string, more: Partial<VersionInfo> = {}): VersionInfo => ({ tag, ...more });
const history: RolloutStatus['history'] = [
  { id: 7, version: { tag: '1.0.0' }, timestamp: '2026-02-01T00:00:00Z', bakeStatus: 'Succeeded' },
];
/** 9.9.9 is the newest to the policy and was discovered before thousands of others. */
const many = ['1.0.0', '9.9.9', ...Array.from({ length: 4000 }, (_, i) => `2.0.${i}`)];
const closed = objectOf('RolloutGate', 'team-a/qa', { spec: { rolloutRef: { name: 'app' }, passing: false } });

it.each([
  ['small ones', {}],
  ['ones with long metadata', { version: 'v'.repeat(4096), revision: 'r'.repeat(4096) }],
])('thousands of releases, %s: the newest stay, with what is deployed and what comes next', (_, metadata) => {
  const status: RolloutStatus = { history, availableReleases: many.map((tag) => release(tag, metadata)) };
  const around = { rolloutGates: [closed as never] };
  const next = planRollout(observed({}, status, around), NOW).status;
  const tags = next.availableReleases!.map(({ tag }) => tag);
  expect(tags).toEqual(expect.arrayContaining(['1.0.0', '9.9.9', '2.0.3999']));
  expect(tags.length).toBeLessThanOrEqual(LIMITS.availableReleases);
  expect(next.availableReleasesCount).toBe(tags.length);
  expect(next.pendingVersion).toBe('9.9.9');
  expect(next.releaseCandidates?.[0]?.tag).toBe('9.9.9');
  expect(JSON.stringify(next).length).toBeLessThan(1_200_000);
  // The next evaluation removes nothing more.
  const stored = observed({}, next, around);
  expect(planRollout(stored, NOW).status).toBe(stored.rollout.status);
});

it('few releases are left as they are', () => {
  const few = many.slice(0, 100).map((tag) => release(tag));
  expect(boundedReleases(few, [])).toBe(few);
});

it('a version that a user requested stays known', () => {
  const status: RolloutStatus = { history, availableReleases: many.map((tag) => release(tag)) };
  const next = planRollout(observed({ wantedVersion: '2.0.5' }, status), NOW).status;
  expect(next.availableReleases!.map(({ tag }) => tag)).toContain('2.0.5');
});

it('a history is never longer than its limit, whatever the spec has', () => {
  expect(readRolloutConfig(observed({ versionHistoryLimit: 1_000_000 })).historyLimit).toBe(LIMITS.history);
});

it('the deployment after an adopted one can still be written on an object', () => {
  const deployment = { rollout: 'app', id: 999_999_999_999_999, version: '1.0.0', uid: 'u' };
  const head = adoptedEntry(
    [{ deployment, by: "Kustomization 'a'" }],
    [],
    { bakes: false, knownHealth: undefined },
    NOW,
  )!;
  expect(head.version.tag).toBe('1.0.0');
  const following = { ...deployment, id: head.id! + 1 };
  expect(parseDeployments(formatDeployments([following]))).toEqual([following]);
});
