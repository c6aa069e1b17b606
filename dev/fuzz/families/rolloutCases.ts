/** Cases of dev/fuzz/families/rollouts.ts: a Rollout, what it depends on, and a cache that may be older. */
import fc from 'fast-check';
import type { UpstreamRollout } from '../../reference/rollout.ts';

export const NOW = Date.parse('2026-03-27T10:00:00Z');
const TAGS = ['1.0.0', '1.1.0', '1.2.0', '1.3.0', '1.4.0'];
export const MINIMUM_AGE = '1h';
/** The image from which the ImagePolicy selects. */
export const IMAGE = 'registry.example/app';
/** The user of every request. */
export const REQUESTER = 'ann';
/** `approved 1.2.0`: a Gate that requires approvals, with one approval; `approvals`: the same without one. */
const GATE_STATES = ['opened', 'opened', 'closed', 'for 1.2.0', 'approved 1.2.0', 'approvals', 'missing'] as const;
export type GateState = (typeof GATE_STATES)[number];

type Generated<A> = A extends fc.Arbitrary<infer T> ? T : never;
/** The fields that may differ between cluster and cache. */
export type State = Generated<typeof state>;
export type RolloutCase = Generated<typeof anyCase>;

const tag = fc.constantFrom(undefined, undefined, undefined, ...TAGS, 'no/tag', '9.9.9');
const gateState = fc.constantFrom(...GATE_STATES);
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
const state = fc.record({
  wantedVersion: tag,
  forceDeploy: tag,
  bypassGates: tag,
  unblock: fc.boolean(),
  retry: fc.boolean(),
  /** Names of the Gates that the Rollout names, and of those that select it, where they exist. */
  gates: fc.oneof({ weight: 2, arbitrary: fc.constant<string[]>([]) }, fc.subarray(['a', 'b'])),
  selecting: fc.oneof({ weight: 2, arbitrary: fc.constant<string[]>([]) }, fc.subarray(['a', 'd'])),
  gateStates: fc.record<Record<string, GateState>>({ a: gateState, b: gateState, c: gateState, d: gateState }),
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
  after: fc.uniqueArray(fc.record({ name: fc.constantFrom('s', 't', 'gone'), hours: fc.constantFrom(0, 1) }), {
    maxLength: 2,
    selector: ({ name }) => name,
  }),
  upstream: fc.record<Record<string, UpstreamRollout>>({ s: upstreamRollout, t: upstreamRollout }),
  latest: fc.constantFrom(...TAGS),
  below: fc.constantFrom(undefined, undefined, '1.3.0'),
  isDeleted: fc.constantFrom(false, false, false, false, false, true),
});

/**
 * Fields that a hook reads again before a deployment. A cache that is stale in another field has an older Rollout too,
 * which deploys nothing.
 */
export const READ_LIVE: readonly (keyof State)[] = ['gateStates', 'rolloutGates', 'upstream', 'below'];

const anyCase = fc.record({
  live: state,
  stale: fc.oneof(
    { weight: 2, arbitrary: fc.constant<Partial<State>>({}) },
    state.chain((other) =>
      fc
        .oneof(fc.subarray(Object.keys(other) as (keyof State)[]), fc.subarray([...READ_LIVE]))
        .map((keys): Partial<State> => Object.fromEntries(keys.map((key) => [key, other[key]]))),
    ),
  ),
  policy: fc.constantFrom(true, true, true, false),
  available: fc.subarray(TAGS).chain((tags) =>
    fc.tuple(
      ...tags.map((each) =>
        fc.record({
          tag: fc.constant(each),
          /** undefined in a status of the Go controller. */
          firstSeen: fc.constantFrom('long ago' as const, 'just now' as const, undefined),
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
  onFailure: fc.constantFrom('Continue' as const, 'Hold' as const, 'Rollback' as const, 'Rollback' as const),
  /** `spec.rollback.barrier`, and releases that are barriers by their metadata. */
  barrier: fc.constantFrom(undefined, undefined, undefined, ...TAGS),
  barriers: fc.oneof({ weight: 2, arbitrary: fc.constant<string[]>([]) }, fc.subarray(TAGS)),
  rolledBack: fc.oneof({ weight: 2, arbitrary: fc.constant<string[]>([]) }, fc.subarray(TAGS)),
  minimumReleaseAge: fc.constantFrom(undefined, undefined, '0s', MINIMUM_AGE),
  gateFirst: fc.constantFrom(undefined, true, false),
  /** `status.copy`, if releases are copied before they are deployed. */
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
  const deployed = { rolledBackFrom: undefined, image: undefined, namesCheck: false };
  const failed = { tag: '1.2.0', ...deployed, ...head, bakeStatus: 'Failed' as const };
  const good = { tag: '1.1.0', ...deployed, bakeStatus: 'Succeeded' as const };
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
  const [{ given = [], approvals = { required: 2 as const, notByRequester: true, expire: true } } = {}] =
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
