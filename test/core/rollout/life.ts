/** The life of one Rollout, for properties: anything may happen to it, and it is planned and stored after each step. */
import fc from 'fast-check';
import { FORCE_DEPLOY, RETRY, UNBLOCK_FAILED } from '../../../api/annotations.ts';
import type { HealthCheck, RolloutGate, RolloutStatus } from '../../../api/types.ts';
import { sameJson } from '../../../core/kube/json.ts';
import { formatTime } from '../../../core/kube/time.ts';
import type { Observed } from '../../../core/rollout/evaluation/observedRollout.ts';
import { usedAnnotations } from '../../../core/rollout/evaluation/rolloutRequests.ts';
import { type Plan, planRollout } from '../../../core/rollout/plan.ts';
import { checkStatus } from '../../scenario/rollout/crd.ts';
import { objectOf } from '../../support/objects.ts';
import { NOW, observed } from './observedFixture.ts';

type Action =
  | { do: 'publish' }
  | { do: 'advance'; seconds: number }
  | { do: 'jump'; hours: 1 | -1 }
  | { do: 'health'; status: 'Healthy' | 'Unhealthy' | 'Pending'; error: boolean }
  | { do: 'gate'; passing: boolean; allows: boolean }
  | { do: 'freeze'; opened: boolean }
  | { do: 'barrier' | 'reject'; release: number | undefined }
  | { do: 'hand'; what: 'pin' | 'unpin' | 'retry' | 'unblock' | 'force' };

/** What goes wrong around a step: the first answer is never written, or no annotation is taken off. */
type Mishap = 'none' | 'lost' | 'unclean';

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
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('freeze' as const), opened: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('barrier' as const, 'reject' as const),
      release: fc.constantFrom(undefined, undefined, 1, 2, 3),
    }),
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

interface Course {
  onFailure: OnFailure;
  deployTimeout: string | undefined;
  limit: number;
  steps: { action: Action; mishap: Mishap }[];
}

const mishap = fc.constantFrom<Mishap>('none', 'none', 'none', 'lost', 'unclean');

export const course: fc.Arbitrary<Course> = fc.record({
  onFailure: fc.constantFrom('Hold' as const, 'Continue' as const, 'Rollback' as const, 'Rollback' as const),
  deployTimeout: fc.constantFrom(undefined, '4m'),
  limit: fc.integer({ min: 1, max: 5 }),
  steps: fc
    .tuple(fc.array(action, { maxLength: 60 }), fc.array(mishap, { minLength: 10, maxLength: 10 }))
    .map(([all, mishaps]) => all.map((each, i) => ({ action: each, mishap: mishaps[i % mishaps.length]! }))),
});

const FREEZE = { namespace: 'team-a', name: 'freeze' };

/** One Rollout, planned after each action, its status stored as the API server would. */
export class Life {
  now = NOW + 123;
  releases = 0;
  opened = true;
  passing = true;
  rejected: string | undefined;
  state: Observed;
  private requests = 0;

  constructor({ onFailure, deployTimeout, limit }: Course) {
    const spec = {
      onFailure,
      bakeTime: '5m',
      versionHistoryLimit: limit,
      healthCheckSelector: { matchLabels: { app: 'app' } },
      gates: [{ name: FREEZE.name }],
    };
    this.state = observed({ ...spec, ...(deployTimeout && { deployTimeout }) }, undefined, { gateRefs: [FREEZE] });
    this.act({ do: 'freeze', opened: true });
  }

  get status(): RolloutStatus {
    return this.state.rollout.status ?? {};
  }

  /** The tag that a person has pinned, or asks for in vain so far. */
  get asked(): string | undefined {
    const { spec, metadata } = this.state.rollout;
    return spec!.wantedVersion ?? metadata.annotations?.[FORCE_DEPLOY];
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
    if (step.do === 'gate') this.gate(step.passing, step.allows ? undefined : [], this.rejected);
    if (step.do === 'reject') this.gate(this.passing, undefined, tagOf(step.release));
    if (step.do === 'barrier') rollout.spec!.rollback = step.release ? { barrier: tagOf(step.release)! } : {};
    if (step.do === 'freeze') {
      const gate = objectOf('Gate', { metadata: FREEZE, spec: { default: step.opened ? 'opened' : 'closed' } });
      this.opened = step.opened;
      this.state = { ...this.state, gates: [gate] };
    }
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

  /** Nothing goes wrong, a moment passes, and everything that follows has happened. */
  rest(look: (life: Life, plan: Plan) => void): void {
    for (let pass = 0; pass < 12; pass++) {
      const plan = this.plan();
      look(this, plan);
      if (sameJson(plan.status, this.status) && (plan.resyncAfterSeconds ?? 60) > 2) return;
      this.store(plan);
      this.clean();
      this.now += 1000;
    }
    throw new Error('does not come to rest');
  }

  /** Whatever people have put in the way is gone. */
  lift(): void {
    const { spec, metadata } = this.state.rollout;
    delete spec!.wantedVersion;
    delete spec!.rollback;
    delete metadata.annotations;
    this.gate(true, undefined, undefined);
    this.act({ do: 'freeze', opened: true });
  }

  private gate(passing: boolean, allowed: string[] | undefined, rejected: string | undefined): void {
    this.passing = passing && !allowed;
    this.rejected = rejected;
    const g = gate('g', passing, allowed);
    const spec = { ...g.spec!, ...(rejected && { rejectedVersions: [rejected] }) };
    this.state = { ...this.state, rolloutGates: [{ ...g, spec }] };
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

function tagOf(release: number | undefined): string | undefined {
  return release === undefined ? undefined : `1.${release}.0`;
}

/** `look` sees each plan before it is stored, and whether it will be. */
export function live(input: Course, look: (life: Life, plan: Plan, isStored: boolean) => void): Life {
  const life = new Life(input);
  for (const { action: step, mishap } of input.steps) {
    life.act(step);
    for (let pass = 0; pass < 3; pass++) {
      const plan = life.plan();
      const isLost = mishap === 'lost' && pass === 0;
      look(life, plan, !isLost);
      if (isLost) continue;
      life.store(plan);
      if (mishap !== 'unclean') life.clean();
    }
  }
  return life;
}

export function gate(name: string, passing: boolean, allowedVersions?: string[]): RolloutGate {
  const spec = { rolloutRef: { name: 'app' }, passing, ...(allowedVersions && { allowedVersions }) };
  return objectOf('RolloutGate', { metadata: { name, namespace: 'team-a' }, spec });
}

export function check(
  status: string,
  times: { lastChangeTime?: string; lastErrorTime?: string },
  name = 'check',
): HealthCheck {
  const metadata = { name, namespace: 'team-a' };
  return objectOf('HealthCheck', { metadata, status: { status, ...times } });
}
