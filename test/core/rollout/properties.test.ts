/** What holds for a Rollout whatever happens to it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FORCE_DEPLOY, RETRY, UNBLOCK_FAILED } from '../../../api/annotations.ts';
import type { HealthCheck, RolloutGate, RolloutStatus } from '../../../api/types.ts';
import type { Observed } from '../../../core/evaluation/observed.ts';
import { usedAnnotations } from '../../../core/evaluation/requests.ts';
import { sameJson } from '../../../core/kube/json.ts';
import { formatTime, parseTime } from '../../../core/kube/time.ts';
import { type Plan, planRollout } from '../../../core/rollout/plan.ts';
import { checkStatus } from '../../scenario/rollout/crd.ts';
import { objectOf } from '../../support/objects.ts';
import { NOW, observed } from './observedFixture.ts';

const BAKE_MS = 300_000;

type Action =
  | { do: 'publish' }
  | { do: 'advance'; seconds: number }
  | { do: 'jump'; hours: 1 | -1 }
  | { do: 'health'; status: 'Healthy' | 'Unhealthy' | 'Pending'; error: boolean }
  | { do: 'gate'; passing: boolean; allows: boolean }
  | { do: 'hand'; what: 'pin' | 'unpin' | 'retry' | 'unblock' | 'force' };

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ do: 'publish' as const }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('advance' as const), seconds: fc.integer({ min: 0, max: 400 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('jump' as const), hours: fc.constantFrom(1 as const, -1 as const) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('health' as const),
      status: fc.constantFrom('Healthy' as const, 'Healthy' as const, 'Unhealthy' as const, 'Pending' as const),
      error: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('gate' as const), passing: fc.boolean(), allows: fc.boolean() }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('hand' as const),
      what: fc.constantFrom('pin' as const, 'unpin' as const, 'retry' as const, 'unblock' as const, 'force' as const),
    }),
  },
);

type OnFailure = 'Hold' | 'Continue' | 'Rollback';

const life = fc.record({
  onFailure: fc.constantFrom('Hold' as const, 'Continue' as const, 'Rollback' as const),
  deployTimeout: fc.constantFrom(undefined, '4m'),
  limit: fc.integer({ min: 1, max: 4 }),
  actions: fc.array(action, { maxLength: 60 }),
});

/** One Rollout, planned after each action, its status stored as the API server would. */
class Life {
  now = NOW + 123;
  releases = 0;
  requests = 0;
  state: Observed;

  constructor({
    onFailure,
    deployTimeout,
    limit,
  }: { onFailure: OnFailure; deployTimeout: string | undefined; limit: number }) {
    const spec = {
      onFailure,
      bakeTime: '5m',
      versionHistoryLimit: limit,
      healthCheckSelector: { matchLabels: { app: 'app' } },
    };
    this.state = observed({ ...spec, ...(deployTimeout && { deployTimeout }) });
  }

  get status(): RolloutStatus {
    return this.state.rollout.status ?? {};
  }

  act(step: Action): void {
    const { rollout } = this.state;
    const stamp = formatTime(this.now);
    if (step.do === 'publish') this.publish(`1.${++this.releases}.0`);
    if (step.do === 'advance') this.now += step.seconds * 1000 + 7;
    if (step.do === 'jump') this.now += step.hours * 3_600_000;
    if (step.do === 'health') {
      const times = { lastChangeTime: stamp, ...(step.error && { lastErrorTime: stamp }) };
      this.state = { ...this.state, healthChecks: [check(step.status, times)] };
    }
    if (step.do === 'gate')
      this.state = { ...this.state, rolloutGates: [gate('g', step.passing, step.allows ? undefined : [])] };
    if (step.do === 'hand') {
      if (step.what === 'pin') rollout.spec!.wantedVersion = `1.${1 + (this.releases >> 1)}.0`;
      if (step.what === 'unpin') delete rollout.spec!.wantedVersion;
      if (step.what === 'retry') this.annotate(RETRY, '');
      if (step.what === 'unblock') this.annotate(UNBLOCK_FAILED, 'true');
      if (step.what === 'force') this.annotate(FORCE_DEPLOY, `1.${Math.max(1, this.releases)}.0`);
    }
  }

  plan(): Plan {
    return planRollout(structuredClone(this.state), this.now);
  }

  store({ status }: Plan): void {
    if (sameJson(status, this.status)) return;
    checkStatus(status, this.state.rollout.status, this.state.rollout.spec?.versionHistoryLimit);
    this.state.rollout.status = status;
  }

  /** As the decorator does. */
  clean(): void {
    for (const key of usedAnnotations(this.state.rollout)) delete this.state.rollout.metadata.annotations![key];
  }

  private publish(tag: string): void {
    this.state = { ...this.state, imagePolicy: { ...this.state.imagePolicy!, status: { latestRef: { tag } } } };
  }

  private annotate(key: string, value: string): void {
    const { metadata } = this.state.rollout;
    const short = key.slice(key.indexOf('/') + 1);
    const stamps = (metadata.annotations?.['rollout.kuberik.com/request'] ?? '')
      .split(',')
      .filter((s) => s && !s.startsWith(`${short}=`));
    stamps.push(`${short}=r${++this.requests}`);
    metadata.annotations = { ...metadata.annotations, [key]: value, 'rollout.kuberik.com/request': stamps.join(',') };
  }
}

function live(
  input: { onFailure: OnFailure; deployTimeout: string | undefined; limit: number; actions: Action[] },
  look: (life: Life, plan: Plan) => void,
): void {
  const life = new Life(input);
  for (const step of input.actions) {
    life.act(step);
    for (let pass = 0; pass < 3; pass++) {
      const plan = life.plan();
      look(life, plan);
      life.store(plan);
      life.clean();
    }
  }
}

describe('a Rollout, whatever happens', () => {
  it('has one version on its way at a time, and only the newest', () => {
    fc.assert(
      fc.property(life, (input) =>
        live(input, (_, { status }) => {
          const baking = (status.history ?? []).map(({ bakeStatus }) =>
            ['Deploying', 'InProgress'].includes(bakeStatus!),
          );
          expect(baking.slice(1)).not.toContain(true);
        }),
      ),
    );
  });

  it('gives ids that rise by one', () => {
    fc.assert(
      fc.property(life, (input) =>
        live(input, ({ status: before }, { status }) => {
          const ids = (status.history ?? []).map(({ id }) => id!);
          expect(ids).toEqual(ids.map((_, i) => ids[0]! - i));
          expect([0, 1]).toContain((ids[0] ?? 0) - (before.history?.[0]?.id ?? 0));
        }),
      ),
    );
  });

  it('lets nothing follow a failed version under Hold without a hand, and under Continue not past a check that it has not broken', () => {
    fc.assert(
      fc.property(life, (input) =>
        live(input, ({ state, status: before }, plan) => {
          if (!plan.commits || before.history?.[0]?.bakeStatus !== 'Failed') return;
          const [head] = plan.status.history!;
          const byHand = head!.message!.startsWith('Manual') || head!.message!.includes('unblock');
          const { failedHealthChecks = [], timestamp, lastRetryTimestamp = timestamp } = before.history[0];
          const older = state.healthChecks.some(
            ({ metadata, status }) =>
              status?.status === 'Unhealthy' &&
              !failedHealthChecks.some(({ name }) => name === metadata.name) &&
              parseTime(status.lastChangeTime)! < Math.max(parseTime(timestamp)!, parseTime(lastRetryTimestamp)!),
          );
          const way = state.rollout.spec!.onFailure;
          const holds = way === 'Hold' || (way === 'Rollback' && before.history[0].rolledBackFrom !== undefined);
          const isBack = head!.rolledBackFrom !== undefined;
          if (isBack) expect(way).toBe('Rollback');
          if (holds) expect(byHand).toBe(true);
          else expect(byHand || isBack || !older).toBe(true);
        }),
      ),
    );
  });

  it('is rolled back once for a failure, to a version that had succeeded, and does not take the failed one again by itself', () => {
    fc.assert(
      fc.property(life, (input) =>
        live(input, ({ state, status: before }, plan) => {
          if (!plan.commits) return;
          const [head] = plan.status.history!;
          const [last, ...older] = before.history ?? [];
          if (head!.rolledBackFrom !== undefined) {
            // It may have failed in this very step, and the limit may leave no room for it beside its successor.
            const failed = plan.status.history![1] ?? { ...last, bakeStatus: 'Failed' };
            expect(failed).toMatchObject({ bakeStatus: 'Failed', version: { tag: head!.rolledBackFrom } });
            expect(last!.rolledBackFrom).toBeUndefined();
            expect(older.some((e) => e.version.tag === head!.version.tag && e.bakeStatus === 'Succeeded')).toBe(true);
            expect(state.rollout.spec!.wantedVersion).toBeUndefined();
          } else if (!head!.message!.startsWith('Manual')) {
            expect(before.rolledBackReleases ?? []).not.toContain(head!.version.tag);
          }
        }),
      ),
    );
  });

  it('changes nothing when it is planned again, once a new deployment is on its way', () => {
    fc.assert(
      fc.property(life, (input) =>
        live(input, (life, plan) => {
          const again = { ...life.state, rollout: { ...life.state.rollout, status: plan.status } };
          const next = planRollout(again, life.now);
          if (plan.commits) return;
          expect(next.status).toEqual(plan.status);
          expect(next.events).toEqual([]);
        }),
      ),
    );
  });

  it('never bakes for less than bakeTime, however the clock jumps', () => {
    fc.assert(
      fc.property(life, (input) =>
        live(input, (_, { status }) => {
          for (const { bakeStatus, bakeStartTime, bakeEndTime } of status.history ?? []) {
            if (bakeStatus !== 'Succeeded' || !bakeStartTime) continue;
            expect(parseTime(bakeEndTime)! - parseTime(bakeStartTime)!).toBeGreaterThanOrEqual(BAKE_MS);
          }
        }),
      ),
    );
  });

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

  it('comes to rest with any status that somebody seeds', () => {
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
          const checks = [{ ...check('', {}), status: reported }];
          const spec = { bakeTime: '5m', deployTimeout: '1h' };
          let state = observed(spec, status, { healthChecks: checks, onFailure });
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

  it('decides the same from the same, in whatever order objects come', () => {
    const gates = [gate('a', true, ['1.1.0', '1.2.0']), gate('b', true), gate('c', false), gate('d', true, ['1.2.0'])];
    const checks = [check('Healthy', {}, 'x'), check('Unhealthy', {}, 'y'), check('Unhealthy', {}, 'z')];
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
          planRollout(observed({}, seeded, { rolloutGates }), NOW).commits;
        if (commits([...gates, gate(`${more.name}2`, more.passing, more.allowed)])) expect(commits(gates)).toBe(true);
      }),
    );
  });
});

function gate(name: string, passing: boolean, allowedVersions?: string[]): RolloutGate {
  const spec = { rolloutRef: { name: 'app' }, passing, ...(allowedVersions && { allowedVersions }) };
  return objectOf('RolloutGate', { metadata: { name, namespace: 'team-a' }, spec });
}

function check(
  status: string,
  times: { lastChangeTime?: string; lastErrorTime?: string },
  name = 'check',
): HealthCheck {
  const metadata = { name, namespace: 'team-a' };
  return objectOf('HealthCheck', { metadata, status: { status, ...times } });
}
