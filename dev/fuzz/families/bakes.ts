/** Deployments of one Rollout that bake: HealthChecks whose reporters' clocks are wrong, objects that Flux applies or not, and retries. */
import fc from 'fast-check';
import type { HealthCheck, HistoryEntry, Rollout, RolloutStatus } from '../../../api/types.ts';
import { jobTemplateOf, runName } from '../../../core/health/job/checkJob.ts';
import { NaiveBake, type NaiveCheck } from '../../reference/bake.ts';
import { beginning } from '../../reference/rollout.ts';
import { type AnyObject, ROUTES, serve } from '../world/apiServer.ts';
import { ask } from '../world/call.ts';
import { expectThat } from '../world/finding.ts';
import { rfc3339 } from './gateModel.ts';

const START = Date.parse('2026-03-27T10:00:00Z') / 1000;
const KUBERIK = 'kuberik.com/v1alpha1';
/** Half a second more than what stored times can tell apart: no rule is asked about the very second. */
const BAKE_S = 120.5;
const TIMEOUT_S = 300.5;
const NAMES = ['a', 'b', 'c'];

type Status = NonNullable<NaiveCheck['status']>;
type Event = { wait: number; looks: boolean } & (
  | { do: 'report'; who: number; status: Status; error: boolean; ofThisJob: boolean }
  | { do: 'reset' | 'remove' | 'create' | 'unselect' | 'select'; who: number }
  | { do: 'apply'; which: number }
  | { do: 'release' | 'retry' | 'look' }
);

export interface BakeLife {
  settings: { bakes: boolean; bakeTime: boolean; deployTimeout: boolean };
  bound: number;
  checks: { class: NaiveCheck['class']; skewMinutes: number; remembers: boolean; exists: boolean }[];
  events: Event[];
}

const is = <T extends string>(...names: T[]) => fc.constantFrom(...names);
const who = fc.nat(NAMES.length - 1);
const wait = fc.constantFrom(1, 1, 1, 2, 7, 61, 121, 130, 301);
const common = { wait, looks: fc.constantFrom(true, true, true, false) };
const status = is<Status>('Healthy', 'Healthy', 'Healthy', 'Unhealthy', 'Pending');
const error = fc.constantFrom(false, false, false, true);
const ofThisJob = fc.constantFrom(true, true, true, false);
const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ ...common, do: is('report'), who, status, error, ofThisJob }) },
  { weight: 2, arbitrary: fc.record({ ...common, do: is('reset'), who }) },
  { weight: 1, arbitrary: fc.record({ ...common, do: is('remove', 'create', 'unselect', 'select'), who }) },
  { weight: 3, arbitrary: fc.record({ ...common, do: is('apply'), which: fc.nat(1) }) },
  { weight: 4, arbitrary: fc.record({ ...common, do: is('release', 'retry', 'look', 'look') }) },
);

const anyLife: fc.Arbitrary<BakeLife> = fc.record({
  settings: fc.record({
    bakes: fc.constantFrom(true, true, true, true, false),
    bakeTime: fc.boolean(),
    deployTimeout: fc.boolean(),
  }),
  bound: fc.constantFrom(0, 1, 1, 2),
  checks: fc.array(
    fc.record({
      class: fc.constantFrom(undefined, undefined, 'kustomization', 'job', 'prometheus'),
      skewMinutes: fc.oneof(fc.constantFrom(0, -60, 60), fc.integer({ min: -60, max: 60 })),
      remembers: fc.boolean(),
      exists: fc.constantFrom(true, true, true, false),
    }),
    { minLength: 0, maxLength: NAMES.length },
  ),
  events: fc.array(event, { minLength: 1, maxLength: 25 }),
});

/** The first HealthCheck is created after the deployment, as by a Git sync that creates the Rollout first: by chance alone that is rare. */
function withoutChecks(life: BakeLife): BakeLife {
  const create = { wait: 1, looks: true, do: 'create' as const, who: 0 };
  const events: Event[] = [{ wait: 1, looks: true, do: 'look' }, create, ...life.events];
  return { ...life, checks: life.checks.map((each) => ({ ...each, exists: false })), events };
}

/** The bake has begun: by chance alone that is rare, too. */
function inBake(life: BakeLife): BakeLife {
  const at = { wait: 1, looks: true };
  const healthy = { do: 'report' as const, status: 'Healthy' as const, error: false, ofThisJob: true };
  const events: Event[] = [
    { ...at, do: 'look' },
    { ...at, do: 'apply', which: 0 },
    { ...at, do: 'apply', which: 1 },
    ...life.checks.map((_, i) => ({ ...at, ...healthy, who: i })),
    ...life.events,
  ];
  const checks = life.checks.map((each) => ({ ...each, exists: true }));
  return { ...life, settings: { ...life.settings, bakes: true, bakeTime: true }, checks, events };
}

export const bakeLife: fc.Arbitrary<BakeLife> = fc.oneof(
  { weight: 3, arbitrary: anyLife },
  { weight: 1, arbitrary: anyLife.map(withoutChecks) },
  { weight: 2, arbitrary: anyLife.map(inBake) },
);

/** A HealthCheck and whoever reports it. */
interface Reported {
  name: string;
  kind: NaiveCheck['class'];
  /** Added to each time that it writes. */
  skewS: number;
  /** It writes `lastErrorTime` again where a reset has removed it. */
  remembers: boolean;
  createdAt: number | undefined;
  isSelected: boolean;
  report: { status?: Status; lastChangeTime?: string; lastErrorTime?: string };
  /** The name of the Job, and the deployment and retry that it was run for. */
  job: { name: string; run: string } | undefined;
  reports: number;
  errors: number;
  error: number | undefined;
  lastErrorTime: string | undefined;
}

class World {
  now = START;
  release = 1;
  retries = 0;
  asksRetry = false;
  status: RolloutStatus = {};
  readonly naive: NaiveBake;
  readonly checks: Reported[];
  /** The deployment that each bound object has applied. */
  readonly applied: number[];
  private readonly life: BakeLife;

  constructor(life: BakeLife) {
    const { settings } = life;
    this.life = life;
    this.naive = new NaiveBake({
      bakes: settings.bakes,
      bakeSeconds: settings.bakeTime ? BAKE_S : 0,
      timeoutSeconds: settings.deployTimeout ? TIMEOUT_S : undefined,
    });
    this.applied = Array.from({ length: life.bound }, () => 0);
    this.checks = life.checks.map(({ class: kind, skewMinutes, remembers, exists }, i) => ({
      name: NAMES[i]!,
      kind,
      skewS: skewMinutes * 60,
      remembers,
      createdAt: exists ? START - 3600 : undefined,
      isSelected: true,
      report: {},
      job: undefined,
      reports: 0,
      errors: 0,
      error: undefined,
      lastErrorTime: undefined,
    }));
  }

  get head(): HistoryEntry | undefined {
    return this.status.history?.[0];
  }

  /** A Job is run for a deployment, and once more for each retry of it. */
  get run(): string {
    return `${this.head?.id}/${this.retries}`;
  }

  get selected(): Reported[] {
    return this.life.settings.bakes
      ? this.checks.filter(({ createdAt, isSelected }) => createdAt !== undefined && isSelected)
      : [];
  }

  /** What the rules see. */
  get seen(): NaiveCheck[] {
    return this.selected.map(({ name, kind, report, job, reports, errors, error: shown }) => {
      const counts = kind !== 'job' || job?.run === this.run;
      const of = { name, class: kind, reports, errors };
      return counts ? { ...of, status: report.status, error: shown } : { ...of, status: 'Pending', error: undefined };
    });
  }

  get rollout(): AnyObject {
    const { bakes, bakeTime, deployTimeout } = this.life.settings;
    return {
      apiVersion: KUBERIK,
      kind: 'Rollout',
      metadata: {
        namespace: 'shop',
        name: 'app',
        uid: 'uid-app',
        generation: 1,
        annotations: this.asksRetry
          ? { 'rollout.kuberik.com/retry': '', 'rollout.kuberik.com/request': `retry=r-${this.now}` }
          : {},
      },
      spec: {
        releasesImagePolicy: { name: 'app' },
        onFailure: 'Continue',
        ...(bakes && {
          healthCheckSelector: { selector: {} },
          ...(bakeTime && { bakeTime: `${BAKE_S}s` }),
          ...(deployTimeout && { deployTimeout: `${TIMEOUT_S}s` }),
        }),
      },
      status: this.status,
    };
  }

  objectOf({ name, kind, createdAt, report, job }: Reported): AnyObject {
    const pod = { restartPolicy: 'Never', containers: [{ name: 'smoke', image: 'curl' }] };
    const fields = {
      kustomization: {},
      job: { job: { template: { spec: { template: { spec: pod } } } } },
      prometheus: { prometheus: { provider: 'p', query: 'up', thresholdRange: { min: 1 } } },
    };
    return {
      apiVersion: KUBERIK,
      kind: 'HealthCheck',
      metadata: {
        namespace: 'shop',
        name,
        uid: `uid-${name}-${createdAt}`,
        creationTimestamp: timeOf(createdAt ?? 0),
        // What is at rest is looked at before a deployment; this one never rests.
        annotations: { 'healthcheck.kuberik.com/requeue-interval': '30s' },
      },
      spec: kind ? { class: kind, ...fields[kind] } : {},
      status: { ...report, ...(job && { job: { namespace: 'shop', name: job.name } }) },
    };
  }

  objects(): AnyObject[] {
    const bindings = this.applied.map((id, i) => ({
      apiVersion: KUBERIK,
      kind: 'FluxBinding',
      metadata: { namespace: 'shop', name: `kustomization-${i}`, labels: { 'app.rollout.kuberik.com/bound': '' } },
      spec: {
        target: { apiVersion: 'kustomize.toolkit.fluxcd.io/v1', kind: 'Kustomization', name: `k${i}`, uid: `k${i}` },
        pins: [{ rollout: 'app', variable: 'APP' }],
      },
      status: { applied: [{ rollout: 'app', uid: 'uid-app', id }] },
    }));
    const policy = {
      apiVersion: 'image.toolkit.fluxcd.io/v1',
      kind: 'ImagePolicy',
      metadata: { namespace: 'shop', name: 'app' },
      spec: { imageRepositoryRef: { name: 'app' }, policy: { semver: { range: '*' } } },
      status: { latestRef: { name: 'registry.example/app', tag: `1.${this.release}.0` } },
    };
    return [policy, ...bindings, ...this.selected.map((check) => this.objectOf(check))];
  }
}

const timeOf = (seconds: number) => rfc3339(seconds * 1000);

export async function checkBakes(life: BakeLife): Promise<void> {
  const world = new World(life);
  serve({
    get now() {
      return world.now * 1000;
    },
    objects: () => [world.rollout, ...world.objects()],
  });
  for (const each of life.events) {
    world.now += each.wait;
    happen(world, each);
    if (each.looks || each.do === 'look') await look(world, life);
  }
}

function happen(world: World, event: Event): void {
  if (event.do === 'release') world.release++;
  if (event.do === 'retry') world.asksRetry = true;
  if (event.do === 'apply' && event.which < world.applied.length) world.applied[event.which] = world.head?.id ?? 0;
  const check = 'who' in event ? world.checks[event.who] : undefined;
  if (!check) return;
  if (event.do === 'create' && check.createdAt === undefined) check.createdAt = world.now;
  if (event.do === 'unselect') check.isSelected = false;
  // One that is selected for the first time after the deployment is told by its times alone: no rule says what becomes of wrong ones.
  if (event.do === 'select' && world.naive.watches(check)) check.isSelected = true;
  if (event.do === 'remove') {
    Object.assign(check, { createdAt: undefined, report: {}, error: undefined, lastErrorTime: undefined });
  }
  if (check.createdAt === undefined) return;
  if (event.do === 'report') report(world, check, event);
  if (event.do === 'reset' && world.naive.isReset(check)) {
    check.report = { status: 'Pending', lastChangeTime: timeOf(world.now) };
    check.error = undefined;
    check.reports++;
  }
}

/** `lastChangeTime` is when `status` changed; `lastErrorTime` is kept through a recovery. */
function report(
  world: World,
  check: Reported,
  { status: to, error: fails, ofThisJob }: Event & { do: 'report' },
): void {
  const at = timeOf(world.now + check.skewS);
  const { head, rollout } = world;
  const ranBefore = check.job?.name;
  const isJob = check.kind === 'job';
  const template = jobTemplateOf(world.objectOf(check) as HealthCheck);
  if (template && head) {
    const own = { check: world.objectOf(check) as HealthCheck, template, rollout: rollout as Rollout, head };
    check.job = ofThisJob ? { name: runName(own), run: world.run } : { name: 'of-another-deployment', run: '' };
  }
  if (fails) {
    check.errors++;
    check.lastErrorTime = at;
  }
  const { lastErrorTime: shown, status: from, lastChangeTime } = check.report;
  const keeps = fails || (!isJob && (check.remembers || shown !== undefined));
  const lastErrorTime = keeps ? check.lastErrorTime : undefined;
  const isSame = to === from && check.job?.name === ranBefore;
  if (isSame && lastErrorTime === shown) return;
  // An error that is left out is no report: a reset leaves it out too.
  if (!isSame || lastErrorTime !== undefined) check.reports++;
  check.error = lastErrorTime === undefined ? undefined : check.errors;
  check.report = {
    status: to,
    lastChangeTime: isSame ? lastChangeTime! : at,
    ...(lastErrorTime && { lastErrorTime }),
  };
}

async function look(world: World, { settings, bound }: BakeLife): Promise<void> {
  const { naive, head: before } = world;
  const related: Record<string, Record<string, AnyObject>> = {};
  for (const each of world.objects()) {
    const key = `${each.kind}.${each.apiVersion}`;
    related[key] = { ...related[key], [`shop/${each.metadata.name}`]: each };
  }
  const controller = { apiVersion: '', kind: '', metadata: {} };
  const body = { controller, parent: world.rollout, children: {}, related, finalizing: false };
  const answer = await ask(ROUTES.get('/hooks/rollout/sync')!, body);
  const now = timeOf(world.now);
  if (!('body' in answer)) return expectThat(false, 'a sync is refused', { answer, now });

  const applied = () => world.applied.map((id) => id === before?.id);
  if (world.asksRetry && naive.status === 'Failed') {
    world.retries++;
    naive.retry(world.now, world.seen);
  }
  world.asksRetry = false;
  naive.look(world.now, world.seen, applied());
  const { status: expected } = naive;
  world.status = answer.body.status;
  const { head } = world;
  const details = { now, before, head, checks: world.selected, related };
  if (!head) return;
  if (head.id === before?.id) {
    expectThat(head.bakeStatus === expected, `the bake is ${head.bakeStatus}, and should be ${expected}`, details);
    return;
  }
  const replaced = world.status.history?.[1]?.bakeStatus;
  const isReplaced = !settings.bakes && expected === 'Deploying' ? 'Cancelled' : expected;
  expectThat(replaced === isReplaced, `the bake was ${replaced}, and should have been ${isReplaced}`, details);
  const begins = beginning({ bakes: settings.bakes, isBound: bound > 0 });
  expectThat(head.bakeStatus === begins, `a deployment begins as ${head.bakeStatus}, and should as ${begins}`, details);
  world.retries = 0;
  naive.begin(world.now, world.seen);
  if (begins === 'Succeeded') naive.look(world.now, world.seen, []);
}
