/** The oracle's findings about outcomes, each with a correct history for comparison. */
import { describe, expect, it } from 'vitest';
import { BakeChecker } from '../../../dev/oracle/bakes.ts';

/** A cache is never older than that. */
const STALE_S = 15;
const HEALTH = '/registry/kuberik.com/healthchecks/apps/';
const KUSTOMIZATION = '/registry/kustomize.toolkit.fluxcd.io/kustomizations/apps/app';

const timeOf = (seconds: number) => new Date(seconds * 1000).toISOString();

/** A stored version of the HealthCheck `app` or `of`, with its error time in seconds. */
type Report = [at: number, status: string | undefined, more?: { of?: string; error?: number; label?: string }];
/** A stored version of the Kustomization: the version that it has applied, and its uid. */
type Apply = [at: number, tag: string | undefined, uid?: string];

interface RolloutScenario {
  reports?: Report[];
  applies?: Apply[];
  entry?: object;
  conditions?: object[];
  /** The Rollout's spec; without a selector it selects no HealthCheck. */
  spec?: object;
}

const RESET: Report = [101, 'Pending'];
const BEFORE: Report[] = [[0, 'Healthy'], RESET];
const ARRIVAL: Apply[] = [
  [0, '1.0.0'],
  [139, '1.1.0'],
];
const KNOWN = { namespace: 'apps', name: 'app', status: 'Pending', lastChangeTime: timeOf(101) };
const BAKES = {
  bakeTime: '50s',
  deployTimeout: '60s',
  healthCheckSelector: { selector: { matchLabels: { app: 'app' } } },
};

/** Committed at 100, applied at 140, Healthy at 145, baking from 150; ended at 200. */
function oracle({ reports, applies = ARRIVAL, entry = {}, conditions = [], spec = BAKES }: RolloutScenario) {
  const found = new BakeChecker((ms) => ms - STALE_S * 1000);
  for (const [at, status, { of = 'app', error, label = 'app' } = {}] of reports ?? [...BEFORE, [145, 'Healthy']]) {
    const lastErrorTime = error === undefined ? {} : { lastErrorTime: timeOf(error) };
    const metadata = { namespace: 'apps', name: of, labels: { app: label } };
    const check = status && { metadata, status: { status, lastChangeTime: timeOf(at), ...lastErrorTime } };
    found.takeHealth(HEALTH + of, check as any, at * 1000);
  }
  for (const [at, tag, uid = 'uid-k'] of applies)
    found.takeFlux(KUSTOMIZATION, tag && kustomization(tag, uid), at * 1000);
  const head = {
    id: 2,
    version: { tag: '1.1.0' },
    timestamp: timeOf(100),
    bakeStatus: 'InProgress',
    knownHealth: [KNOWN],
  };
  const applied = { ...head, appliedTime: timeOf(140), bakeStartTime: timeOf(150) };
  const ended = { ...applied, bakeStatus: 'Succeeded', bakeEndTime: timeOf(200), ...entry };
  const before = rollout([head], spec, conditions);
  return { problems: found.takeRollout(before, rollout([ended], spec, conditions)), outcomes: found.outcomes };
}

function kustomization(tag: string, uid: string): any {
  const id = tag === '1.1.0' ? 2 : 1;
  return {
    kind: 'Kustomization',
    metadata: {
      namespace: 'apps',
      name: 'app',
      uid,
      generation: id,
      annotations: {
        'rollout.kuberik.com/substitute.APP.from': 'app',
        'rollout.kuberik.com/deployed': `app=${id}/${tag}/uid-r`,
      },
    },
    spec: { postBuild: { substitute: { APP: tag } } },
    status: {
      observedGeneration: id,
      lastAppliedRevision: `${tag}@sha256:0`,
      conditions: [{ type: 'Ready', status: 'True', observedGeneration: id }],
    },
  };
}

function rollout(history: object[], spec: object, conditions: object[]): any {
  return { metadata: { namespace: 'apps', name: 'app', uid: 'uid-r' }, spec, status: { history, conditions } };
}

const health =
  'succeeded, but HealthCheck apps/app reported no new health that was current after 1970-01-01T00:03:20.000Z';

describe('a success', () => {
  it.each<[string, RolloutScenario, string[]]>([
    ['of a version that was Healthy', {}, []],
    ['after a change to Pending', { reports: [...BEFORE, [145, 'Healthy'], [199, 'Pending']] }, [health]],
    ['after a change to Unhealthy', { reports: [...BEFORE, [145, 'Healthy'], [170, 'Unhealthy']] }, [health]],
    [
      'before a change to Pending in the same second',
      { reports: [...BEFORE, [145, 'Healthy'], [200.5, 'Pending']] },
      [],
    ],
    ['after the deletion of its HealthCheck', { reports: [...BEFORE, [145, 'Healthy'], [170, undefined]] }, [health]],
    ['with health from before the commit', { reports: [[101, 'Pending']], entry: { knownHealth: [KNOWN] } }, [health]],
    [
      'with the health that was known at the commit',
      {
        reports: [[150, 'Healthy']],
        entry: { knownHealth: [{ ...KNOWN, status: 'Healthy', lastChangeTime: timeOf(150) }] },
      },
      [health],
    ],
    ['with health from before the version was applied', { reports: [...BEFORE, [110, 'Healthy']] }, [health]],
    [
      'without a HealthCheck that existed before',
      { entry: { knownHealth: [] } },
      ['succeeded without HealthCheck apps/app, which is older than the deployment'],
    ],
    [
      'with a newer HealthCheck that was never Healthy',
      { reports: [[120, 'Pending']], entry: { knownHealth: [] } },
      [health],
    ],
    ['without any HealthCheck', { reports: [], entry: { knownHealth: [] } }, []],
    [
      'with one of two HealthChecks Healthy',
      { reports: [...BEFORE, [145, 'Healthy'], [120, 'Pending', { of: 'smoke' }]] },
      [health.replace('apps/app', 'apps/smoke')],
    ],
    [
      'before the end of the bake',
      { entry: { bakeStartTime: timeOf(170) } },
      ['succeeded 30 s after the start of its bake of 50s'],
    ],
    ['without a bake', { entry: { bakeStartTime: undefined } }, ['succeeded without a bake']],
  ])('%s', (_, scenario, expected) => {
    const found = oracle(scenario);
    expect(found.problems).toEqual(expected.map((problem) => `deployment 2 (1.1.0) ${problem}`));
    expect(found.outcomes).toEqual({ Succeeded: 1, Failed: 0 });
  });
});

describe('an applied version', () => {
  const missing = 'deployment 2 (1.1.0) counts as applied, but Kustomization app never applied it';

  it.each<[string, RolloutScenario, string[]]>([
    ['of an object that was later recreated', { applies: [...ARRIVAL, [150, undefined], [151, '1.0.0', 'uid-2']] }, []],
    ['that no object applied', { applies: [[0, '1.0.0']] }, [missing]],
    [
      'that a deleted object of the same name applied',
      {
        applies: [
          [0, '1.0.0'],
          [102, '1.1.0'],
          [120, '1.0.0', 'uid-2'],
        ],
      },
      [missing],
    ],
    ['that a just created object has not applied', { applies: [[130, '1.0.0']] }, []],
    ['without any object', { applies: [] }, []],
    ['without appliedTime', { applies: [[0, '1.0.0']], entry: { appliedTime: undefined } }, [missing]],
    ['of a Rollout that does not bake', { applies: [[0, '1.0.0']], spec: {} }, [missing]],
  ])('%s', (_, scenario, expected) => {
    expect(oracle(scenario).problems).toEqual(expected);
  });

  it.each<[string, (object: any) => void]>([
    ['that was suspended', ({ spec }) => Object.assign(spec, { suspend: true })],
    [
      'that has the annotation without the version',
      ({ spec }) => Object.assign(spec.postBuild.substitute, { APP: '1.0.0' }),
    ],
    ['that was not Ready', ({ status }) => Object.assign(status.conditions[0], { status: 'False' })],
    [
      'that was Ready for an earlier generation',
      ({ status }) => Object.assign(status.conditions[0], { observedGeneration: 1 }),
    ],
    [
      'that had applied another version',
      ({ status }) => Object.assign(status, { lastAppliedRevision: '1.1.0-rc@sha256:0' }),
    ],
  ])('is not shown by an object %s', (_, change) => {
    const oracle = new BakeChecker((ms) => ms);
    const object = kustomization('1.1.0', 'uid-k');
    change(object);
    oracle.takeFlux(KUSTOMIZATION, object, 0);
    const entry = { id: 2, version: { tag: '1.1.0' }, timestamp: timeOf(100), appliedTime: timeOf(140) };
    expect(oracle.takeRollout(undefined, rollout([entry], {}, []))).toEqual([missing]);
  });
});

describe('a failure', () => {
  const none = 'failed before its deployTimeout, and no HealthCheck reported an error';
  const failed = (more: object = {}) => ({
    bakeStatus: 'Failed',
    bakeStartTime: undefined,
    bakeEndTime: timeOf(150),
    ...more,
  });
  const recovery = [{ type: 'BakeFailureDisabled', status: 'True' }];
  const withError: Report[] = [...BEFORE, [145, 'Unhealthy', { error: 145 }]];

  it.each<[string, RolloutScenario, string[]]>([
    ['after an error', { reports: withError, entry: failed() }, []],
    ['without a cause', { entry: failed() }, [none]],
    [
      'by an error that was known at the commit',
      { reports: withError, entry: failed({ knownHealth: [{ ...KNOWN, lastErrorTime: timeOf(145) }] }) },
      [none],
    ],
    [
      'by a HealthCheck that is not selected',
      { reports: [[145, 'Unhealthy', { error: 145, label: 'other' }]], entry: failed() },
      [none],
    ],
    [
      'by an Unhealthy HealthCheck in the bake',
      { reports: [...BEFORE, [145, 'Unhealthy']], entry: failed({ bakeStartTime: timeOf(144) }) },
      [],
    ],
    ['at its deployTimeout', { entry: failed({ bakeEndTime: timeOf(160) }) }, []],
    ['a second before its deployTimeout', { entry: failed({ bakeEndTime: timeOf(159) }) }, [none]],
    [
      'at its deployTimeout, part of which a Gate was closed',
      { entry: failed({ bakeEndTime: timeOf(160), waitedSeconds: 5 }) },
      [none],
    ],
    [
      'at the deployTimeout after the bake',
      { entry: failed({ bakeStartTime: timeOf(150), bakeEndTime: timeOf(260) }) },
      [],
    ],
    [
      'a second before the deployTimeout after the bake',
      { entry: failed({ bakeStartTime: timeOf(150), bakeEndTime: timeOf(259) }) },
      [none],
    ],
    ['in recovery mode', { reports: withError, entry: failed(), conditions: recovery }, ['failed in recovery mode']],
  ])('%s', (_, scenario, expected) => {
    const found = oracle(scenario);
    expect(found.problems).toEqual(expected.map((problem) => `deployment 2 (1.1.0) ${problem}`));
    expect(found.outcomes).toEqual({ Succeeded: 0, Failed: 1 });
  });
});

it('an outcome is checked even if its write starts the next deployment', () => {
  const oracle = new BakeChecker((ms) => ms);
  const metadata = { namespace: 'apps', name: 'app', labels: { app: 'app' } };
  oracle.takeHealth(`${HEALTH}app`, { metadata, status: { status: 'Pending', lastChangeTime: timeOf(101) } } as any, 0);
  const head = { id: 2, version: { tag: '1.1.0' }, timestamp: timeOf(100), bakeStatus: 'InProgress' };
  const baking = { ...head, appliedTime: timeOf(140), bakeStartTime: timeOf(150), knownHealth: [KNOWN] };
  const { knownHealth, ...ended } = { ...baking, bakeStatus: 'Succeeded', bakeEndTime: timeOf(200) };
  const next = { id: 3, version: { tag: '1.2.0' }, timestamp: timeOf(200), bakeStatus: 'Deploying', knownHealth };
  const problems = oracle.takeRollout(rollout([baking], BAKES, []), rollout([next, ended], BAKES, []));
  expect(problems).toEqual([expect.stringContaining('deployment 2 (1.1.0) succeeded, but HealthCheck apps/app')]);
});
