/** Invariants of a Rollout. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FluxBinding, HealthCheck, RolloutGate } from '../../../api/types.ts';
import { bindingWithoutProof } from '../../../core/binding/boundObjects.ts';
import { formatTime } from '../../../core/kube/time.ts';
import { planRollout } from '../../../core/rollout/plan.ts';
import { objectOf } from '../../support/objects.ts';
import { NOW, observed } from './observedFixture.ts';

const BAKE_MS = 300_000;

function gate(name: string, passing: boolean, allowedVersions?: string[]): RolloutGate {
  const spec = { rolloutRef: { name: 'app' }, passing, ...(allowedVersions && { allowedVersions }) };
  return objectOf('RolloutGate', `team-a/${name}`, { spec });
}

function check(status: string, name = 'check'): HealthCheck {
  return objectOf('HealthCheck', `team-a/${name}`, { status: { status } });
}

describe('a Rollout, whatever happens', () => {
  it('bakes for bakeTime to the millisecond, though stored times have whole seconds', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999 }), fc.integer({ min: -1500, max: 500 }), (fraction, late) => {
        const begun = NOW + fraction;
        const head = { id: 1, version: { tag: '1.0.0' }, timestamp: formatTime(NOW), bakeStatus: 'Deploying' };
        const before = observed({ bakeTime: '5m' }, { history: [head], availableReleases: [{ tag: '1.0.0' }] });
        const { status } = planRollout(before, begun);
        const end = planRollout({ ...before, rollout: { ...before.rollout, status } }, begun + BAKE_MS + late);
        if (end.status.history![0]!.bakeStatus === 'Succeeded') expect(late).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it('comes to rest from any status that a client writes', () => {
    const text = fc.oneof(
      fc.constantFrom('Deploying', 'InProgress', 'Failed', '', 'None', '1.0.0', 'a/b'),
      fc.string({ maxLength: 8 }),
    );
    const time = fc.oneof(
      fc.constantFrom('0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z', '2026-03-01T12:00:00+02:00', 'yesterday', ''),
      fc
        .date({ min: new Date(NOW - 1e8), max: new Date(NOW + 1e8), noInvalidDate: true })
        .map((d) => formatTime(d.getTime())),
    );
    const entry = fc.record(
      {
        version: fc.record({ tag: text }, { requiredKeys: ['tag'] }),
        timestamp: time,
        id: fc.integer({ min: -2, max: 9 }),
        bakeStatus: text,
        bakeStartTime: time,
        lastRetryTimestamp: time,
        appliedTime: time,
        waitingSince: time,
        waitedSeconds: fc.integer(),
      },
      { requiredKeys: ['version', 'timestamp'] },
    );
    const seeded = fc.record(
      {
        history: fc.array(entry, { maxLength: 3 }),
        availableReleases: fc.array(fc.record({ tag: text }), { maxLength: 4 }),
      },
      { requiredKeys: [] },
    );
    const health = fc.record({ status: text, lastChangeTime: time, lastErrorTime: time }, { requiredKeys: [] });
    fc.assert(
      fc.property(
        seeded,
        health,
        fc.constantFrom('Hold' as const, 'Continue' as const),
        (status, reported, onFailure) => {
          const checks = [{ ...check(''), status: reported }];
          const spec = { bakeTime: '5m', deployTimeout: '1h' };
          let state = observed(spec, status, {
            healthChecks: checks,
            settings: { noCrossNamespaceRefs: false, onFailure },
          });
          for (let pass = 0; pass < 6; pass++) {
            const plan = planRollout(state, NOW);
            if (plan.status === state.rollout.status) return;
            state = { ...state, rollout: { ...state.rollout, status: plan.status } };
          }
          throw new Error('does not come to rest');
        },
      ),
      { numRuns: 300 },
    );
  });

  it('decides the same from the same input, in any order', () => {
    const gates = [gate('a', true, ['1.1.0', '1.2.0']), gate('b', true), gate('c', false), gate('d', true, ['1.2.0'])];
    const checks = [check('Healthy', 'x'), check('Unhealthy', 'y'), check('Unhealthy', 'z')];
    const seeded = { availableReleases: [{ tag: '1.2.0' }, { tag: '1.1.0' }] };
    fc.assert(
      fc.property(fc.shuffledSubarray(gates), fc.shuffledSubarray(checks), (some, sick) => {
        const plan = (g: RolloutGate[], h: HealthCheck[]) =>
          planRollout(observed({}, seeded, { rolloutGates: g, healthChecks: h }), NOW);
        const byName = (a: { metadata: { name?: string } }, b: { metadata: { name?: string } }) =>
          a.metadata.name! < b.metadata.name! ? -1 : 1;
        expect(plan(some, sick)).toEqual(plan([...some].sort(byName), [...sick].sort(byName)));
      }),
    );
  });

  it('ignores FluxBindings of other Rollouts, and those that are being deleted', () => {
    const head = { id: 1, version: { tag: '1.0.0' }, timestamp: formatTime(NOW - 60_000), bakeStatus: 'Deploying' };
    const { rollout, ...rest } = observed(
      { bakeTime: '5m' },
      { history: [head], availableReleases: [{ tag: '1.0.0' }] },
    );
    const own = bindingWithoutProof(rollout, 'Kustomization', 'app');
    const applied = { ...own, status: { applied: [{ rollout: 'app', uid: 'uid-1', id: 1, version: '1.0.0' }] } };
    const deleted = { ...own, metadata: { ...own.metadata, deletionTimestamp: formatTime(NOW) } };
    const other = bindingWithoutProof(
      { ...rollout, metadata: { ...rollout.metadata, name: 'other' } },
      'Kustomization',
      'b',
    );
    const plan = (bindings: FluxBinding[]) => planRollout({ ...rest, rollout, bindings }, NOW);
    expect(plan([applied, deleted, other])).toEqual(plan([applied]));
    expect(plan([applied, own])).not.toEqual(plan([applied]));
  });

  it('is never sped up by one gate more', () => {
    const any = fc.record({
      name: fc.constantFrom('a', 'b', 'c'),
      passing: fc.boolean(),
      allowed: fc.option(fc.subarray(['1.1.0', '1.2.0', '1.3.0']), { nil: undefined }),
    });
    const deployed = { version: { tag: '1.0.0' }, timestamp: formatTime(NOW - 1000), id: 1 };
    const seeded = { history: [deployed], availableReleases: ['1.0.0', '1.1.0', '1.2.0'].map((tag) => ({ tag })) };
    fc.assert(
      fc.property(fc.array(any, { maxLength: 3 }), any, (some, more) => {
        const gates = some.map(({ name, passing, allowed }) => gate(name, passing, allowed));
        const commits = (rolloutGates: RolloutGate[]) =>
          planRollout(observed({}, seeded, { rolloutGates }), NOW).needs.has('blockers');
        if (commits([...gates, gate(`${more.name}2`, more.passing, more.allowed)])) expect(commits(gates)).toBe(true);
      }),
    );
  });
});
