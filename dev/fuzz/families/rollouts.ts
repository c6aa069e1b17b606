/**
 * A sync of a Rollout in any state, from a cache that may be older than the cluster, against dev/reference/rollout.ts.
 */
import fc from 'fast-check';
import type { RolloutStatus } from '../../../api/types.ts';
import { composing } from '../../fakes/requests.ts';
import { initialBakeStatus, objections, type UpstreamRollout, versionsOf } from '../../reference/rollout.ts';
import {
  type FirstSeen,
  type GateState,
  IMAGE,
  MINIMUM_AGE,
  NOW,
  objectsOf,
  REQUESTER,
  type RolloutCase,
  type State,
  TAGS,
} from './rolloutObjects.ts';
import { type AnyObject, callRoute, expectThat, ROUTES, serve } from './routes.ts';

const tag = fc.constantFrom(undefined, undefined, undefined, ...TAGS, 'no/tag', '9.9.9');
const gateState = fc.constantFrom<GateState>(
  'opened',
  'opened',
  'closed',
  'for 1.2.0',
  'approved 1.2.0',
  'approvals',
  'missing',
);
const approval = fc.record({
  by: fc.constantFrom(REQUESTER, 'bob', 'cat', 'system:serviceaccount:ci:bot'),
  tag: fc.constantFrom(...TAGS),
  hours: fc.constantFrom(0, 0, 0, 1),
});
const upstreamRollout: fc.Arbitrary<UpstreamRollout> = fc.record({
  history: fc.array(
    fc.record({
      tag: fc.constantFrom(...TAGS),
      bakeStatus: fc.constantFrom('Succeeded', 'Succeeded', 'Succeeded', 'Failed', 'InProgress', 'Cancelled'),
      hours: fc.constantFrom(0, 1, 2),
      retried: fc.boolean(),
    }),
    { maxLength: 6 },
  ),
  rolledBack: fc.subarray(TAGS, { maxLength: 1 }),
});
const state: fc.Arbitrary<State> = fc.record({
  wantedVersion: tag,
  forceDeploy: tag,
  bypassGates: tag,
  unblock: fc.boolean(),
  retry: fc.boolean(),
  gates: fc.oneof({ weight: 2, arbitrary: fc.constant<string[]>([]) }, fc.subarray(['a', 'b'])),
  selecting: fc.oneof({ weight: 2, arbitrary: fc.constant<string[]>([]) }, fc.subarray(['a', 'd'])),
  gateStates: fc.record({ a: gateState, b: gateState, c: gateState, d: gateState }),
  bound: fc.oneof({ weight: 2, arbitrary: fc.constant<string[]>([]) }, fc.subarray(['a', 'c'])),
  rolloutGates: fc.array(
    fc.record(
      {
        passing: fc.boolean(),
        allowedVersions: fc.subarray(TAGS),
        rejectedVersions: fc.subarray(TAGS, { maxLength: 2 }),
        approvals: fc.record({
          required: fc.constantFrom(1, 2),
          notByRequester: fc.boolean(),
          expire: fc.boolean(),
        }),
        given: fc.array(approval, { maxLength: 8 }),
      },
      { requiredKeys: [] },
    ),
    { maxLength: 2 },
  ),
  after: fc.oneof(
    { weight: 2, arbitrary: fc.constant<State['after']>([]) },
    fc.uniqueArray(
      fc.record({ name: fc.constantFrom('s', 's', 't', 'gone'), hours: fc.constantFrom(0 as const, 1 as const) }),
      { maxLength: 2, selector: ({ name }) => name },
    ),
  ),
  upstream: fc.record({ s: upstreamRollout, t: upstreamRollout }),
  latest: fc.constantFrom(...TAGS),
  below: fc.constantFrom(undefined, undefined, '1.3.0'),
  isDeleted: fc.constantFrom(false, false, false, false, false, true),
});

/**
 * Fields that a hook reads again before a deployment. A cache that is stale in another field has an older Rollout too,
 * which deploys nothing.
 */
const READ_LIVE: readonly (keyof State)[] = ['gateStates', 'rolloutGates', 'upstream', 'below'];

const anyCase: fc.Arbitrary<RolloutCase> = fc.record({
  live: state,
  stale: fc.oneof(
    { weight: 2, arbitrary: fc.constant({}) },
    state.chain((other) =>
      fc
        .oneof(fc.subarray(Object.keys(other) as (keyof State)[]), fc.subarray([...READ_LIVE]))
        .map((keys) => Object.fromEntries(keys.map((key) => [key, other[key]]))),
    ),
  ),
  policy: fc.constantFrom(true, true, true, false),
  available: fc.subarray(TAGS).chain((tags) =>
    fc.tuple(
      ...tags.map((each) =>
        fc.record({
          tag: fc.constant(each),
          firstSeen: fc.constantFrom<FirstSeen>('long ago', 'just now', undefined),
        }),
      ),
    ),
  ),
  history: fc.array(
    fc.record({
      tag: fc.constantFrom(...TAGS),
      bakeStatus: fc.constantFrom('Succeeded', 'Succeeded', 'Failed', 'Failed', 'Deploying', 'InProgress', 'Cancelled'),
      rolledBackFrom: fc.constantFrom(undefined, undefined, undefined, undefined, ...TAGS),
      image: fc.constantFrom(undefined, undefined, IMAGE, IMAGE, 'registry.example/old'),
      namesCheck: fc.boolean(),
    }),
    { maxLength: 4 },
  ),
  bakes: fc.boolean(),
  onFailure: fc.constantFrom('Continue', 'Hold', 'Rollback', 'Rollback'),
  barrier: fc.constantFrom(undefined, undefined, undefined, ...TAGS),
  barriers: fc.oneof({ weight: 2, arbitrary: fc.constant<string[]>([]) }, fc.subarray(TAGS)),
  rolledBack: fc.oneof({ weight: 2, arbitrary: fc.constant<string[]>([]) }, fc.subarray(TAGS)),
  minimumReleaseAge: fc.constantFrom(undefined, undefined, '0s', MINIMUM_AGE),
  gateFirst: fc.constantFrom(undefined, true, false),
  copies: fc.oneof(
    { weight: 3, arbitrary: fc.constant(undefined) },
    fc.record({ done: fc.constantFrom(undefined, ...TAGS) }),
  ),
  health: fc.option(
    fc.record({
      status: fc.constantFrom('Healthy' as const, 'Unhealthy' as const, 'Pending' as const),
      changed: fc.constantFrom('before it' as const, 'since then' as const),
    }),
    { nil: undefined },
  ),
});

/**
 * The case with a version that has just failed after another succeeded, and without requests, which is rare at random.
 */
function withFailure(input: RolloutCase): RolloutCase {
  const [head, ...older] = input.history;
  const failed = { tag: '1.2.0', namesCheck: false, image: undefined, ...head, bakeStatus: 'Failed' };
  const good = {
    tag: '1.1.0',
    bakeStatus: 'Succeeded',
    rolledBackFrom: undefined,
    image: undefined,
    namesCheck: false,
  };
  const { wantedVersion: _, forceDeploy: __, ...stale } = input.stale;
  return {
    ...input,
    live: { ...input.live, wantedVersion: undefined, forceDeploy: undefined, retry: false },
    stale,
    history: [{ ...failed, rolledBackFrom: undefined }, ...older, good],
  };
}

const UNBLOCKED = {
  wantedVersion: undefined,
  forceDeploy: undefined,
  bypassGates: undefined,
  retry: false,
  gates: [],
  selecting: [],
  bound: [],
  rolloutGates: [],
  after: [],
  latest: '1.4.0',
  below: undefined,
  isDeleted: false,
} satisfies Partial<State>;

/** The case with nothing but `live` that can block a newer version, which is rare at random. */
function blockedBy(live: Partial<State>, stale: keyof State, input: RolloutCase): RolloutCase {
  return {
    ...input,
    live: { ...input.live, ...UNBLOCKED, ...live },
    stale: stale in input.stale ? { [stale]: input.stale[stale] } : {},
    policy: true,
    history: [
      { tag: '1.0.0', bakeStatus: 'Succeeded', rolledBackFrom: undefined, image: undefined, namesCheck: false },
    ],
    rolledBack: [],
    minimumReleaseAge: undefined,
    health: undefined,
    copies: undefined,
  };
}

const withUpstream = (input: RolloutCase) =>
  blockedBy({ after: [{ name: 's', hours: input.gateFirst ? 1 : 0 }] }, 'upstream', input);

/** A case that only approvals can block; the deployment is manual in some of them. */
function withApprovals(input: RolloutCase): RolloutCase {
  const [{ given = [], approvals = { required: 2, notByRequester: true, expire: true } } = {}] =
    input.live.rolloutGates;
  const live = {
    latest: '1.2.0',
    forceDeploy: input.gateFirst ? '1.2.0' : undefined,
    bypassGates: input.bakes ? '1.2.0' : undefined,
    rolloutGates: [{ approvals, given: given.map((each) => ({ ...each, tag: '1.2.0' })) }],
  };
  return blockedBy(live, 'rolloutGates', input);
}

/** A first deployment that only RolloutGates can block. */
function withFirst(input: RolloutCase): RolloutCase {
  const { gateStates, rolloutGates, bound } = input.live;
  const opened: State['gateStates'] = Object.fromEntries(Object.keys(gateStates).map((name) => [name, 'opened']));
  const bypassGates = input.onFailure === 'Hold' ? '1.4.0' : undefined;
  return {
    ...blockedBy({ gateStates: opened, rolloutGates, bound, bypassGates }, 'upstream', input),
    stale: {},
    history: [],
  };
}

export const rolloutCase: fc.Arbitrary<RolloutCase> = fc.oneof(
  { weight: 2, arbitrary: anyCase },
  { weight: 1, arbitrary: anyCase.map(withFailure) },
  { weight: 1, arbitrary: anyCase.map(withUpstream) },
  { weight: 1, arbitrary: anyCase.map(withApprovals) },
  { weight: 1, arbitrary: anyCase.map(withFirst) },
);

export async function checkRollout(input: RolloutCase): Promise<void> {
  const { live, history } = input;
  // A policy's latest tag is one that it selects.
  if (live.below && live.latest >= live.below) live.latest = '1.0.0';
  const isStale = Object.keys(input.stale).some((key) => !(READ_LIVE as readonly string[]).includes(key));
  const cached = objectsOf({ ...live, ...input.stale }, input, isStale ? 1 : 2);
  const stored = objectsOf(live, input, 2);
  serve({ now: NOW, objects: [stored.rollout, ...stored.others] });
  const body = composing(cached.rollout, { related: cached.others, children: { 'Job.batch/v1': {} } });
  const answer = await callRoute(ROUTES.get('/hooks/rollout/sync')!, body);
  // A hook in doubt fails as a whole.
  if (!('body' in answer)) return;
  const status: RolloutStatus = answer.body.status;
  const after = status.history ?? [];
  const [head, ...past] = after;
  const rolledBack = status.rolledBackReleases ?? [];
  const details = {
    cached: cached.rollout,
    stored: stored.rollout,
    others: stored.others,
    related: body.related,
    after,
  };
  const id = head?.id ?? 0;
  const kept = after.slice(id > history.length ? 1 : 0);
  const same = kept.every((entry, i) => entry.id === history.length - i && entry.version.tag === history[i]?.tag);
  expectThat(same, 'the history is rewritten', details);
  const again = status.releaseCandidates?.find(({ tag: each }) => rolledBack.includes(each));
  expectThat(!again, 'what was rolled back is a candidate', details);
  const isBound = live.bound.length > 0;
  // With other bound objects in the cache, other versions count as applied.
  if (!('bound' in input.stale) && !('isDeleted' in input.stale) && !live.isDeleted) {
    const entries = after.map(({ version, bakeStatus }) => ({ tag: version.tag, bakeStatus }));
    const { current, rollingOut } = versionsOf(entries, isBound);
    expectThat(status.currentVersion === current, `${current} is current`, { ...details, status });
    expectThat(status.rollingOutVersion === rollingOut, `${rollingOut} is rolling out`, { ...details, status });
  }
  const copied = copiedBy(answer.body.children ?? []);
  if (copied !== undefined) {
    const found = objectionsTo(
      { deployed: copied, rolledBackFrom: undefined, past: after, inTarget: undefined },
      input,
    );
    expectThat(found.length === 0, `${copied} is copied though ${found.join('; ')}`, details);
  }
  if (!head || id <= history.length) return;

  expectThat(id === history.length + 1, 'an id is skipped', details);
  const from = head.rolledBackFrom;
  const expected = input.rolledBack.filter((each) => each !== head.version.tag && each !== from);
  const lost = expected.filter((each) => isKnownStill(each, status) && !rolledBack.includes(each));
  expectThat(lost.length === 0, `${lost} no longer counts as rolled back`, details);
  expectThat(!from || rolledBack.includes(from), `${from} doesn't count as rolled back`, details);
  expectThat(!rolledBack.includes(head.version.tag), 'what is deployed still counts as rolled back', details);
  const inTarget = input.copies ? input.copies.done === head.version.tag : undefined;
  const found = objectionsTo({ deployed: head.version.tag, rolledBackFrom: from, past, inTarget }, input);
  const initial = initialBakeStatus({ bakes: input.bakes, isBound });
  expectThat(head.bakeStatus === initial, `a deployment does not begin as ${initial}`, details);
  expectThat(found.length === 0, `${head.version.tag} is deployed though ${found.join('; ')}`, details);
}

/** The version that a Job is to copy. */
function copiedBy(children: AnyObject[]): string | undefined {
  const args: string[] = children.find(({ kind }) => kind === 'Job')?.spec.template.spec.containers[0].args ?? [];
  return args.find((arg) => arg.startsWith('--tag='))?.slice('--tag='.length);
}

interface Deployment {
  deployed: string;
  rolledBackFrom: string | undefined;
  past: NonNullable<RolloutStatus['history']>;
  inTarget: boolean | undefined;
}

function objectionsTo(deployment: Deployment, input: RolloutCase): string[] {
  const { live, available, health, barrier } = input;
  const { deployed, past } = deployment;
  const open = (name: string, version?: string) => {
    const gate = live.gateStates[name];
    return gate === 'opened' || ((gate === 'for 1.2.0' || gate === 'approved 1.2.0') && version === '1.2.0');
  };
  const known = [
    ...available.map(({ tag: each }) => each),
    live.latest,
    ...(input.stale.latest ? [input.stale.latest] : []),
  ];
  const isOld = (each: string) => available.some((of) => of.tag === each && of.firstSeen === 'long ago');
  return objections({
    ...deployment,
    past: past.map((entry) => ({ ...entry, tag: entry.version.tag })),
    wantedVersion: live.wantedVersion,
    forceDeploy: live.forceDeploy,
    bypassGates: live.bypassGates,
    unblocked: live.unblock,
    policy: input.policy ? { latest: live.latest, below: live.below } : undefined,
    image: input.policy ? IMAGE : undefined,
    known,
    oldEnough: input.minimumReleaseAge === MINIMUM_AGE ? known.filter(isOld) : known,
    rolledBack: input.rolledBack,
    barriers: [...input.barriers, ...(barrier ? [barrier] : [])],
    rolloutGates: live.rolloutGates,
    requester: REQUESTER,
    gateFirst: input.gateFirst,
    bakes: input.bakes,
    after: live.after.map(({ name, hours }) => ({ bakedHours: hours, upstream: live.upstream[name] })),
    gatesOpenFor: [...live.gates, ...live.selecting.filter((name) => live.gateStates[name] !== 'missing')].map((name) =>
      open(name, deployed),
    ),
    gatesOfBoundOpen: live.bound.map((name) => open(name)),
    unhealthy: input.bakes && health?.status === 'Unhealthy',
    brokenByFailed: health?.changed === 'since then' || (past[0]?.failedHealthChecks?.length ?? 0) > 0,
    onFailure: input.onFailure,
    isDeleted: live.isDeleted,
  });
}

function isKnownStill(tag: string, { availableReleases, history }: RolloutStatus): boolean {
  const kept = [...(availableReleases ?? []), ...(history ?? []).map(({ version }) => version)];
  return kept.some((version) => version.tag === tag);
}
