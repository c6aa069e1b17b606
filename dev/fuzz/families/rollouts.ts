/** One sync of a Rollout in any state, seen through a cache that may be older than the cluster. */
import fc from 'fast-check';
import type { RolloutStatus } from '../../../api/types.ts';
import { objections, type Stage } from '../naive/rollout.ts';
import { type AnyObject, ROUTES, serve } from '../world/apiServer.ts';
import { ask } from '../world/call.ts';
import { expectThat } from '../world/finding.ts';
import { rfc3339 } from './gateModel.ts';

const NOW = Date.parse('2026-03-27T10:00:00Z');
const KUBERIK = 'kuberik.com/v1alpha1';
const TAGS = ['1.0.0', '1.1.0', '1.2.0', '1.3.0', '1.4.0'];

interface State {
  wantedVersion: string | undefined;
  forceDeploy: string | undefined;
  bypassGates: string | undefined;
  unblock: boolean;
  retry: boolean;
  /** Names of the Gates required; each is open for all, for one version, closed, or missing. */
  gates: string[];
  /** Names of the Gates that select the Rollout, where they exist. */
  selecting: string[];
  gateStates: Record<string, GateState>;
  bound: string[];
  rolloutGates: { passing?: boolean; allowedVersions?: string[]; rejectedVersions?: string[] }[];
  /** What it comes after, and what is there: one that is named may be missing. */
  after: { name: string; hours: 0 | 1 }[];
  stages: Record<string, Stage>;
  latest: string;
  below: string | undefined;
  going: boolean;
}
type GateState = 'opened' | 'closed' | 'for 1.2.0' | 'missing';

export interface RolloutCase {
  live: State;
  /** What the cache has instead, where it is behind. */
  stale: Partial<State>;
  policy: boolean;
  available: { tag: string; firstSeen: FirstSeen }[];
  history: { tag: string; bakeStatus: string; rolledBackFrom: string | undefined; namesCheck: boolean }[];
  bakes: boolean;
  onFailure: 'Continue' | 'Hold' | 'Rollback';
  /** `spec.rollback.barrier`, and the releases that say so themselves. */
  barrier: string | undefined;
  barriers: string[];
  rolledBack: string[];
  minimumReleaseAge: string | undefined;
  gateFirst: boolean;
  health: { status: 'Healthy' | 'Unhealthy' | 'Pending'; changed: keyof typeof CHANGED } | undefined;
}

/** Since when a release is known here; undefined: a status from before such times were kept. */
type FirstSeen = 'long ago' | 'just now' | undefined;

const HOUR_MS = 3_600_000;
const MINIMUM_AGE = '1h';
const SEEN = { 'long ago': NOW - 2 * HOUR_MS, 'just now': NOW - HOUR_MS / 2 };
/** When the newest deployment was made, and each before it an hour earlier. */
const DEPLOYED = NOW - HOUR_MS;
const CHANGED = { 'before it': DEPLOYED - 1000, 'since then': DEPLOYED };

const tag = fc.constantFrom(undefined, undefined, undefined, ...TAGS, 'no/tag', '9.9.9');
const gateState = fc.constantFrom<GateState>('opened', 'opened', 'closed', 'for 1.2.0', 'missing');
const stageState: fc.Arbitrary<Stage> = fc.record({
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
  stages: fc.record({ s: stageState, t: stageState }),
  latest: fc.constantFrom(...TAGS),
  below: fc.constantFrom(undefined, undefined, '1.3.0'),
  going: fc.constantFrom(false, false, false, false, false, true),
});

/** What is read again before a deployment. A cache that is behind in something else has an older Rollout too, and nothing is deployed from it. */
const READ_LIVE: readonly (keyof State)[] = ['gateStates', 'rolloutGates', 'stages'];

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
  gateFirst: fc.boolean(),
  health: fc.option(
    fc.record({
      status: fc.constantFrom('Healthy' as const, 'Unhealthy' as const, 'Pending' as const),
      changed: fc.constantFrom('before it' as const, 'since then' as const),
    }),
    { nil: undefined },
  ),
});

/** A version has just failed, another one had succeeded, and nobody asks for anything: by chance alone that is rare. */
function withFailure(input: RolloutCase): RolloutCase {
  const [head, ...older] = input.history;
  const failed = { tag: '1.2.0', namesCheck: false, ...head, bakeStatus: 'Failed' };
  const good = { tag: '1.1.0', bakeStatus: 'Succeeded', rolledBackFrom: undefined, namesCheck: false };
  const { wantedVersion: _, forceDeploy: __, ...stale } = input.stale;
  return {
    ...input,
    live: { ...input.live, wantedVersion: undefined, forceDeploy: undefined, retry: false },
    stale,
    history: [{ ...failed, rolledBackFrom: undefined }, ...older, good],
  };
}

/** Nothing but its stages is in the way of a newer version: by chance alone that is rare, too. */
function withStages(input: RolloutCase): RolloutCase {
  const free = { wantedVersion: undefined, forceDeploy: undefined, bypassGates: undefined, retry: false, going: false };
  const open = { gates: [], bound: [], rolloutGates: [], below: undefined, latest: '1.4.0' };
  const { stages } = input.stale;
  return {
    ...input,
    live: { ...input.live, ...free, ...open, after: [{ name: 's', hours: input.gateFirst ? 1 : 0 }] },
    stale: stages ? { stages } : {},
    policy: true,
    history: [{ tag: '1.0.0', bakeStatus: 'Succeeded', rolledBackFrom: undefined, namesCheck: false }],
    rolledBack: [],
    minimumReleaseAge: undefined,
    health: undefined,
  };
}

export const rolloutCase: fc.Arbitrary<RolloutCase> = fc.oneof(
  { weight: 2, arbitrary: anyCase },
  { weight: 1, arbitrary: anyCase.map(withFailure) },
  { weight: 1, arbitrary: anyCase.map(withStages) },
);

const named = (apiVersion: string, kind: string, name: string, fields: object, metadata: object = {}): AnyObject => ({
  apiVersion,
  kind,
  metadata: { namespace: 'shop', name, uid: `uid-${name}`, generation: 1, ...metadata },
  ...fields,
});

/** Everything of one moment. */
function objectsOf(of: State, input: RolloutCase, generation: number) {
  const { policy, available, history, bakes, onFailure, health } = input;
  const at = rfc3339(DEPLOYED);
  const annotations: Record<string, string> = {};
  const request: string[] = [];
  const asked = {
    'force-deploy': of.forceDeploy,
    'bypass-gates': of.bypassGates,
    'unblock-failed': of.unblock ? 'true' : undefined,
    retry: of.retry ? '' : undefined,
  };
  for (const [key, value] of Object.entries(asked)) {
    if (value === undefined) continue;
    annotations[`rollout.kuberik.com/${key}`] = value;
    request.push(`${key}=r-${value}`);
  }
  if (request.length > 0) annotations['rollout.kuberik.com/request'] = request.join(',');
  const entries = history.map(({ tag: version, bakeStatus, rolledBackFrom, namesCheck }, i) => ({
    id: history.length - i,
    version: { tag: version },
    timestamp: rfc3339(DEPLOYED - i * HOUR_MS),
    bakeStatus,
    ...(bakeStatus === 'InProgress' && { bakeStartTime: at }),
    ...(bakeStatus === 'Failed' && namesCheck && { failedHealthChecks: [{ namespace: 'shop', name: 'web' }] }),
    ...(rolledBackFrom && { rolledBackFrom }),
  }));
  const rollout = named(
    KUBERIK,
    'Rollout',
    'app',
    {
      spec: {
        releasesImagePolicy: { name: 'app' },
        onFailure,
        gateFirstDeployment: input.gateFirst,
        ...(input.barrier && { rollback: { barrier: input.barrier } }),
        ...(input.minimumReleaseAge && { minimumReleaseAge: input.minimumReleaseAge }),
        ...(of.wantedVersion && { wantedVersion: of.wantedVersion }),
        ...(of.gates.length > 0 && { gates: of.gates.map((name) => ({ name })) }),
        ...(of.after.length > 0 && {
          after: of.after.map(({ name, hours }) => ({ name, ...(hours > 0 && { bakedFor: `${hours}h` }) })),
        }),
        ...(bakes && { bakeTime: '5m', healthCheckSelector: { selector: {} } }),
      },
      status: {
        revision: 3,
        ...(entries.length > 0 && { history: entries }),
        availableReleases: available.map(({ tag: each, firstSeen }) => ({
          tag: each,
          ...(firstSeen && { firstSeen: rfc3339(SEEN[firstSeen]) }),
        })),
        ...(input.rolledBack.length > 0 && { rolledBackReleases: input.rolledBack }),
        ...(input.barriers.length > 0 && { rollbackBarriers: input.barriers }),
      },
    },
    { generation, annotations, ...(of.going && { deletionTimestamp: at, finalizers: ['x'] }) },
  );
  const gates = Object.entries(of.gateStates).flatMap(([name, gate]) => {
    if (gate === 'missing') return [];
    const open = { 'open.gate.fluxcd.io/requestedAt': at, 'open.gate.fluxcd.io/for': '1.2.0' };
    const selects = of.selecting.includes(name) && { selects: { kinds: ['Rollout'] } };
    const labels = selects ? { 'gate.fluxcd.io/selects-rollouts': 'own-namespace' } : {};
    const fields = { spec: { default: gate === 'opened' ? 'opened' : 'closed', ...selects } };
    return [
      named('gating.toolkit.fluxcd.io/v1alpha1', 'Gate', name, fields, {
        labels,
        ...(gate === 'for 1.2.0' && { annotations: open }),
      }),
    ];
  });
  const rolloutGates = of.rolloutGates.map((spec, i) =>
    named(
      KUBERIK,
      'RolloutGate',
      `qa${i}`,
      { spec: { rolloutRef: { name: 'app' }, ...spec } },
      { labels: { 'rollout.kuberik.com/rollout-name': 'app' } },
    ),
  );
  const stages = Object.entries(of.stages).map(([name, { history: had, rolledBack }]) =>
    named(KUBERIK, 'Rollout', name, {
      spec: { releasesImagePolicy: { name: 'app' } },
      status: {
        history: had.map(({ tag: version, bakeStatus, hours, retried }, i) => ({
          id: had.length - i,
          version: { tag: version },
          timestamp: rfc3339(NOW - 9 * 3_600_000),
          bakeStatus,
          bakeEndTime: rfc3339(NOW - hours * 3_600_000),
          ...(retried && { lastRetryTimestamp: at }),
        })),
        rolledBackReleases: rolledBack,
      },
    }),
  );
  const binding = named(
    KUBERIK,
    'FluxBinding',
    'kustomization-web',
    {
      spec: {
        target: { apiVersion: 'kustomize.toolkit.fluxcd.io/v1', kind: 'Kustomization', name: 'web', uid: 'uid-web' },
        pins: [{ rollout: 'app', variable: 'APP' }],
        ...(of.bound.length > 0 && { gates: of.bound.map((name) => ({ namespace: 'shop', name })) }),
      },
    },
    { labels: { 'app.rollout.kuberik.com/bound': '' } },
  );
  const range = of.below ? `<${of.below}` : '*';
  const imagePolicy = named('image.toolkit.fluxcd.io/v1', 'ImagePolicy', 'app', {
    spec: { imageRepositoryRef: { name: 'app' }, policy: { semver: { range } } },
    status: { latestRef: { name: 'registry.example/app', tag: of.latest } },
  });
  const reported = health && { status: health.status, lastChangeTime: rfc3339(CHANGED[health.changed]) };
  const check = named(KUBERIK, 'HealthCheck', 'web', { status: reported });
  return {
    rollout,
    others: [
      ...gates,
      ...rolloutGates,
      ...stages,
      ...(of.bound.length > 0 ? [binding] : []),
      ...(policy ? [imagePolicy] : []),
      ...(health ? [check] : []),
    ],
  };
}

export async function checkRollout(input: RolloutCase): Promise<void> {
  const { live, available, history, health, barrier } = input;
  // A policy's latest tag is one that it selects.
  if (live.below && live.latest >= live.below) live.latest = '1.0.0';
  const isStale = Object.keys(input.stale).some((key) => !(READ_LIVE as readonly string[]).includes(key));
  const cached = objectsOf({ ...live, ...input.stale }, input, isStale ? 1 : 2);
  const stored = objectsOf(live, input, 2);
  serve({ now: NOW, objects: () => [stored.rollout, ...stored.others] });
  const related: Record<string, Record<string, AnyObject>> = {};
  for (const each of cached.others) {
    const key = `${each.kind}.${each.apiVersion}`;
    related[key] = { ...related[key], [`shop/${each.metadata.name}`]: each };
  }
  const body = {
    controller: { apiVersion: '', kind: '', metadata: {} },
    parent: cached.rollout,
    children: {},
    related,
    finalizing: false,
  };
  const answer = await ask(ROUTES.get('/hooks/rollout/sync')!, body);
  // A hook in doubt fails as a whole.
  if (!('body' in answer)) return;
  const status: RolloutStatus = answer.body.status;
  const after = status.history ?? [];
  const [head, ...past] = after;
  const rolledBack = status.rolledBackReleases ?? [];
  const details = { cached: cached.rollout, stored: stored.rollout, others: stored.others, related, after };
  const id = head?.id ?? 0;
  const kept = after.slice(id > history.length ? 1 : 0);
  const same = kept.every((entry, i) => entry.id === history.length - i && entry.version.tag === history[i]?.tag);
  expectThat(same, 'the history is rewritten', details);
  const again = status.releaseCandidates?.find(({ tag: each }) => rolledBack.includes(each));
  expectThat(!again, 'what was rolled back is a candidate', details);
  if (!head || id <= history.length) return;

  expectThat(id === history.length + 1, 'an id is skipped', details);
  const from = head.rolledBackFrom;
  const expected = input.rolledBack.filter((each) => each !== head.version.tag && each !== from);
  const forgets = expected.filter((each) => isKnownStill(each, status) && !rolledBack.includes(each));
  expectThat(forgets.length === 0, `it is forgotten that ${forgets} was rolled back`, details);
  expectThat(!from || rolledBack.includes(from), `it is not remembered that ${from} was rolled back`, details);
  expectThat(!rolledBack.includes(head.version.tag), 'what is deployed still counts as rolled back', details);
  const open = (name: string, version?: string) => {
    const gate = live.gateStates[name];
    return gate === 'opened' || (gate === 'for 1.2.0' && version === '1.2.0');
  };
  const known = [
    ...available.map(({ tag: each }) => each),
    live.latest,
    ...(input.stale.latest ? [input.stale.latest] : []),
  ];
  const isOld = (each: string) => available.some((of) => of.tag === each && of.firstSeen === 'long ago');
  const found = objections({
    deployed: head.version.tag,
    rolledBackFrom: from,
    past: past.map((entry) => ({ ...entry, tag: entry.version.tag })),
    wantedVersion: live.wantedVersion,
    forceDeploy: live.forceDeploy,
    bypassGates: live.bypassGates,
    unblocked: live.unblock,
    policy: input.policy ? { latest: live.latest, below: live.below } : undefined,
    known,
    oldEnough: input.minimumReleaseAge === MINIMUM_AGE ? known.filter(isOld) : known,
    rolledBack: input.rolledBack,
    barriers: [...input.barriers, ...(barrier ? [barrier] : [])],
    rolloutGates: live.rolloutGates,
    gateFirst: input.gateFirst,
    after: live.after.map(({ name, hours }) => ({ bakedHours: hours, stage: live.stages[name] })),
    gatesOpenFor: [...live.gates, ...live.selecting.filter((name) => live.gateStates[name] !== 'missing')].map((name) =>
      open(name, head.version.tag),
    ),
    gatesOfBoundOpen: live.bound.map((name) => open(name)),
    unhealthy: input.bakes && health?.status === 'Unhealthy',
    brokenByFailed: health?.changed === 'since then' || (past[0]?.failedHealthChecks?.length ?? 0) > 0,
    onFailure: input.onFailure,
    going: live.going,
  });
  expectThat(found.length === 0, `${head.version.tag} is deployed though ${found.join('; ')}`, details);
}

function isKnownStill(tag: string, { availableReleases, history }: RolloutStatus): boolean {
  const kept = [...(availableReleases ?? []), ...(history ?? []).map(({ version }) => version)];
  return kept.some((version) => version.tag === tag);
}
