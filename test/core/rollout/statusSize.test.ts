/** A Rollout's status can always be stored, whatever tenants write on related objects. */
import { describe, expect, it } from 'vitest';
import type { HealthCheck, HistoryEntry, RolloutGate, RolloutStatus, VersionInfo } from '../../../api/types.ts';
import { knownHealth } from '../../../core/health/knownHealth.ts';
import { goJsonBytes } from '../../../core/kube/json.ts';
import { formatTime } from '../../../core/kube/time.ts';
import { LIMITS } from '../../../core/limits.ts';
import { planRollout } from '../../../core/rollout/plan.ts';
import { fitStatus, withBoundedHead } from '../../../core/rollout/statusSize.ts';
import { objectOf } from '../../support/objects.ts';
import { NOW, observed } from './observedFixture.ts';

const MIB = 1_048_576;
const NOW_TEXT = formatTime(NOW);
const TIMES = { lastChangeTime: NOW_TEXT, lastErrorTime: NOW_TEXT };
const padded = (text: string, length: number) => text.padEnd(length, '0');
const gate = (name: string, spec: object = {}): RolloutGate =>
  objectOf('RolloutGate', {
    metadata: { name, namespace: 'team-a' },
    spec: { rolloutRef: { name: 'app' }, ...spec },
  } as never);
const tags = (count: number) => Array.from({ length: count }, (_, i) => padded(`1.${i}.0-x`, 128));
const conditionOf = ({ conditions }: RolloutStatus, type: string) => conditions?.find((each) => each.type === type);

/** Plans all of them in rounds, until nothing changes. */
function settled(status: RolloutStatus, rolloutGates: RolloutGate[], spec: object = {}): RolloutStatus {
  const first = planRollout(observed(spec, status, { rolloutGates }), NOW).status;
  const stored = observed(spec, first, { rolloutGates });
  expect(planRollout(stored, NOW).status).toBe(stored.rollout.status);
  return first;
}

describe('many RolloutGates', () => {
  const available = [{ tag: '1.0.0' }, { tag: '1.1.0' }];
  const history = [{ id: 1, version: { tag: '1.0.0' }, timestamp: '2026-02-01T00:00:00Z', bakeStatus: 'Succeeded' }];
  const status: RolloutStatus = { history, availableReleases: available };

  it('are shown up to the limit of status.gates, blocking ones first, and a condition has their number', () => {
    const open = Array.from({ length: 300 }, (_, i) => gate(`a${i}`));
    const next = settled(status, [
      ...open,
      gate('z-closed', { passing: false }),
      gate('z-list', { allowedVersions: ['9'] }),
    ]);
    expect(next.gates).toHaveLength(LIMITS.listedGates);
    expect(next.gates?.map(({ name }) => name)).toEqual(expect.arrayContaining(['z-closed', 'z-list']));
    expect(conditionOf(next, 'StatusShortened')).toMatchObject({
      status: 'True',
      reason: 'TooMany',
      message: expect.stringContaining('status.gates has 50 of 302 RolloutGates, of which 2 block'),
    });
    expect(next.currentVersion).toBe('1.0.0');
  });

  it('are all shown if they are few, and the condition is removed', () => {
    const many = settled(
      status,
      Array.from({ length: 51 }, (_, i) => gate(`a${i}`, { passing: false })),
    );
    expect(conditionOf(many, 'StatusShortened')).toBeDefined();
    const few = settled(many, [gate('a1', { passing: false })]);
    expect(few.gates).toHaveLength(1);
    expect(conditionOf(few, 'StatusShortened')).toBeUndefined();
  });

  it('show of a long list deployable versions and the last ones added', () => {
    const allowedVersions = ['1.1.0', ...tags(80)];
    const [shown] = settled(status, [gate('qa', { allowedVersions }), gate('z', { passing: false })]).gates!;
    expect(shown!.allowedVersions).toHaveLength(LIMITS.listedVersions);
    expect(shown!.allowedVersions![0]).toBe('1.1.0');
    expect(shown!.allowedVersions).toContain(allowedVersions.at(-1));
  });
});

describe('the condition StatusShortened', () => {
  const large: RolloutStatus = { releaseCandidates: Array(9000).fill({ tag: '1.0.0', digest: 'd'.repeat(128) }) };

  it.each<[string, RolloutStatus, string[], string | undefined]>([
    ['is absent from a status that is complete', {}, [], undefined],
    ['has the reason TooMany if lists are cut to their limits', {}, ['gates', 'blockers'], 'TooMany'],
    ['has the reason TooLarge if one field is shortened for the size', large, [], 'TooLarge'],
    ['has the reason TooLarge for both', large, ['gates'], 'TooLarge'],
  ])('%s', (_, status, leftOut, reason) => {
    expect(conditionOf(fitStatus(status, leftOut, NOW), 'StatusShortened')?.reason).toBe(reason);
  });
});

describe('a status at all limits', () => {
  const evil = '<'.repeat(300);
  const entry = (id: number): HistoryEntry =>
    ({
      id,
      version: { tag: padded(`1.${id}.0-x`, 128), digest: `sha256:${'a'.repeat(64)}`, version: evil.repeat(13) },
      timestamp: '2026-02-01T00:00:00Z',
      bakeStatus: 'Failed',
      message: evil.repeat(6),
      reason: evil.repeat(6),
      requestedBy: 'system:serviceaccount:team-a:deployer',
      bakeStatusMessage: evil.repeat(13),
      failedHealthChecks: Array.from({ length: 10 }, (_, i) => ({ name: `c${i}`, namespace: 'team-a', message: evil })),
      approvals: Array.from({ length: 20 }, (_, i) => ({
        gate: `team-a/${i}`,
        by: 'alice',
        at: '2026-02-01T00:00:00Z',
        reason: evil,
      })),
    }) as HistoryEntry;
  const bytes = (value: unknown) => goJsonBytes(value);
  const reports = (count: number) =>
    Array.from({ length: count }, (_, i) => ({
      ...{ name: `health-check-of-the-shop-${i}`, namespace: 'team-a', status: 'Healthy' },
      ...TIMES,
    }));

  it.each([10, 200])('has a history of %i deployments within its bytes, cut as each begins', (limit) => {
    let history: HistoryEntry[] = [];
    for (let id = 1; id <= limit; id++) history = withBoundedHead([entry(id), ...history], history[0], limit);
    expect(history).toHaveLength(limit);
    expect(bytes(history)).toBeLessThan(LIMITS.historyBytes * 1.1);
    expect(history[0]).toMatchObject({ id: limit, bakeStatus: 'Failed' });
    expect(history[0]!.approvals!.slice(0, 2)).toMatchObject([{ by: 'alice' }, { by: 'alice' }]);
  });

  it('keeps approvers and bypassed Gates, however long the requester’s message is', () => {
    const gates = Array.from({ length: 8 }, (_, i) => `team-a/gate-${i}`);
    const approvals = gates
      .slice(0, 5)
      .map((gate) => ({ gate, by: 'alice', at: '2026-02-01T00:00:00Z', reason: 'ok' }));
    const bypass = { by: 'sre', at: '2026-02-01T00:00:00Z', reason: 'INC-7', gates };
    const head = { ...entry(7), failedHealthChecks: [], approvals, bypass } as HistoryEntry;
    const [cut] = withBoundedHead([head], undefined, 200);
    expect(cut).toMatchObject({ approvals, bypass });
    expect(bytes(cut)).toBeLessThan(LIMITS.historyBytes / 200);
  });

  it.each([
    [50, 100],
    [100, 30],
    [200, 15],
  ])('of %i deployments keeps texts and approvals, even if %i HealthChecks are watched', (limit, checks) => {
    const head = {
      ...entry(7),
      version: { tag: '1.0.0', digest: `sha256:${'a'.repeat(64)}`, revision: 'main@sha1:5f3c' },
      ...{ message: 'hotfix for INC-7: the login fails', reason: 'INC-7', bakeStatusMessage: 'Bake started.' },
      failedHealthChecks: [],
      approvals: ['a', 'b', 'c', 'd'].map((by) => ({ gate: 'qa', by, at: NOW_TEXT, reason: 'CHG-7: tested' })),
      bypass: { by: 'sre', at: NOW_TEXT, reason: 'INC-7: the login fails for all users', gates: ['team-a/freeze'] },
      knownHealth: reports(checks),
    } as HistoryEntry;
    expect(withBoundedHead([head], undefined, limit)).toEqual([head]);
  });

  it('keeps the failure of a deployment that watches many HealthChecks', () => {
    const knownHealth = reports(30);
    const head: HistoryEntry = { id: 7, version: { tag: '1.0.0' }, timestamp: NOW_TEXT, bakeStatus: 'InProgress' };
    const history = [{ ...head, appliedTime: NOW_TEXT, bakeStartTime: NOW_TEXT, knownHealth }];
    const status = { status: 'Unhealthy', message: 'Deployment web: 1 of 3 Pods ready', lastErrorTime: NOW_TEXT };
    const healthChecks = knownHealth.map(({ namespace, name }) =>
      objectOf('HealthCheck', `${namespace}/${name}`, { status }),
    ) as HealthCheck[];
    const spec = { bakeTime: '1h', versionHistoryLimit: 100, healthCheckSelector: { selector: {} } };
    const [failed] = planRollout(observed(spec, { history }, { healthChecks }), NOW).status.history!;
    expect(failed!.bakeStatusMessage).toBe('A HealthCheck reported an error after bake started.');
    expect(failed!.failedHealthChecks).toHaveLength(30);
  });

  it('records only reports of bounded size', () => {
    const check = (name: string, status: string) =>
      objectOf('HealthCheck', { metadata: { name, namespace: padded('n', 63) }, status: { status, ...TIMES } });
    const checks = [check(padded('a', 253), 'Unhealthy'), check('b', evil.slice(0, 256))] as HealthCheck[];
    expect(knownHealth(checks).map(({ name }) => name)).toEqual([padded('a', 253)]);
  });

  it('never changes fields of a stored deployment that only its start may write', () => {
    const [stored] = withBoundedHead([entry(7)], undefined, 200);
    const [again] = withBoundedHead([{ ...stored!, bakeStatusMessage: evil.repeat(13) }], stored, 200);
    const { bakeStatusMessage: _, failedHealthChecks: __, ...fixed } = stored!;
    expect(again).toMatchObject(fixed);
    expect(bytes(again)).toBeLessThan(4096);
  });

  it('stays below the size limit, and reports omissions', () => {
    const whole = { timestamp: NOW_TEXT, bakeStatus: 'Failed', bakeStatusMessage: 'm'.repeat(1700) };
    const history = Array.from({ length: 200 }, (_, i) => ({ id: 200 - i, version: { tag: `1.${i}.0` }, ...whole }));
    expect(withBoundedHead(history, undefined, 200)).toEqual(history);
    const report = { namespace: padded('n', 63), status: padded('Healthy', 79), ...TIMES };
    // Those that were watched at the start and have gone, and those that are watched at the apply.
    const known = Array.from({ length: 2 * LIMITS.knownHealth }, (_, i) => ({
      name: padded(`c${i}`, 253),
      ...report,
    }));
    expect(bytes(known[0])).toBe(LIMITS.knownHealthBytes);
    const availableReleases: VersionInfo[] = Array.from({ length: 1000 }, (_, i) => ({
      tag: `1.${i}.0`,
      digest: `sha256:${'b'.repeat(64)}`,
      revision: 'r'.repeat(120),
    }));
    const approvals = { required: 2, notBy: ['author'] };
    const gates = Array.from({ length: 300 }, (_, i) =>
      gate(padded(`g${i}-`, 253), { allowedVersions: tags(61), ...(i % 9 === 0 && { approvals }) }),
    );
    const rejectedVersions = availableReleases.slice(-40).map(({ tag }) => tag);
    const rolloutGates = [...gates, gate('reject', { passing: false, rejectedVersions })];
    const plan = (status: RolloutStatus, now: number) =>
      planRollout(observed({ versionHistoryLimit: 200 }, status, { rolloutGates }), now);
    const { status: next, events } = plan(
      { history: [{ ...history[0]!, knownHealth: known }, ...history.slice(1)], availableReleases },
      NOW,
    );
    expect(next.rejectedReleases).toHaveLength(20);
    const rejections = (all: typeof events) => all.filter(({ reason }) => reason === 'ReleaseRejected');
    expect(rejections(events)).toHaveLength(20);
    const again = plan({ ...next, lastReleaseUpdate: NOW_TEXT }, NOW + 60_000);
    expect(rejections(again.events)).toEqual([]);
    expect(plan(again.status, NOW + 60_000).status).toBe(again.status);
    expect(bytes(next)).toBeLessThan(MIB);
    expect(next.history).toHaveLength(200);
    expect(next.availableReleases!.length).toBeGreaterThan(500);
    expect(next.gates!.map(({ name }) => name)).toContain('reject');
    expect(conditionOf(next, 'StatusShortened')).toMatchObject({ reason: 'TooLarge' });
  });
});
