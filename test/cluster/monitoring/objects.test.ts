/** Series that kube-state-metrics exports during a scenario, with our configuration. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type KubeStateMetrics, startKubeStateMetrics } from '../../../dev/local/monitoring/kubeStateMetrics.ts';
import { objectOf } from '../../support/objects.ts';
import { type AnyObject, gate, ref, sharedCluster, waitFor } from '../support/cluster.ts';
import { requestGate } from '../support/gates.ts';
import { SELECTS_HEALTH, scenarioOf, secondsOf } from '../support/rolloutScenario.ts';

const view = sharedCluster();
const { admin, sre, newNamespace } = view;

let exporter: KubeStateMetrics;
beforeAll(async () => {
  exporter = await startKubeStateMetrics(admin, await newNamespace());
});
afterAll(() => exporter?.stop());

/** Waits until a namespace's series have these values; undefined: the series doesn't exist. */
const exports = (ns: string, expected: Record<string, unknown>) =>
  waitFor(async () => {
    const series = await exporter.series(ns);
    const wrong = Object.entries(expected).filter(([key, value]) => series[key] !== value);
    const text = wrong.map(([key, value]) => `${key} is ${series[key]}, not ${value}`);
    if (text.length > 0) throw new Error(text.join('; '));
    return series;
  }, `series of ${ns}`);

const bakeStatus = (status: string) =>
  `kuberik_rollout_bake_status{kuberik_rollout_bake_status="${status}",name="app"}`;
const rollout = (name: string, labels = '') => `kuberik_rollout_${name}{name="app"${labels}}`;

describe('a release', () => {
  it('is exported from the wait to the end, without leftovers of the version before', async () => {
    const scenario = scenarioOf(view, await newNamespace());
    await scenario.bind();
    await scenario.create({ bakeTime: '1h' });
    await scenario.publish('1.0.0');
    await scenario.headIs('1.0.0', 'Deploying');
    await exports(scenario.ns, { [bakeStatus('Deploying')]: 1, [bakeStatus('InProgress')]: 0 });
    await scenario.arrive('1.0.0');
    const baking = await scenario.headIs('1.0.0', 'InProgress');
    await exports(scenario.ns, {
      [bakeStatus('Deploying')]: 0,
      [bakeStatus('InProgress')]: 1,
      [rollout('latest_deployment_timestamp')]: secondsOf(baking.timestamp),
      [rollout('bake_start_timestamp')]: secondsOf(baking.bakeStartTime),
      [rollout('bake_end_timestamp')]: undefined,
      [rollout('available_releases_total')]: 1,
      [rollout('pending_info', ',tag="1.1.0"')]: undefined,
    });
    await scenario.publish('1.1.0');
    await exports(scenario.ns, { [rollout('pending_info', ',tag="1.1.0"')]: 1 });
    await scenario.spec({ bakeTime: '0s' });
    await scenario.headIs('1.1.0', 'Deploying');
    const series = await exports(scenario.ns, {
      [rollout('pending_info', ',tag="1.1.0"')]: undefined,
      'kuberik_rollout_latest_deployment_info{bake_status="Deploying",name="app",tag="1.1.0"}': 1,
    });
    expect(Object.keys(series).filter((key) => key.includes('tag="1.0.0"'))).toEqual([]);
    // docs/metrics.md has the number of series of an object.
    expect(Object.keys(series).length).toBeLessThanOrEqual(40);
  });
});

describe('an automatic rollback', () => {
  it('is exported with the version that failed, until the next deployment', async () => {
    const scenario = scenarioOf(view, await newNamespace());
    await scenario.create({});
    const deployment = { id: 2, timestamp: new Date(0).toISOString(), bakeStatus: 'Succeeded' };
    const history = [{ ...deployment, version: { tag: '1.0.0' }, rolledBackFrom: '1.1.0' }];
    await admin.mergePatch(ref('rollout', scenario.ns, 'app'), { status: { history } }, { subresource: 'status' });
    const rolledBack = 'kuberik_rollout_rolled_back_info{from="1.1.0",name="app"}';
    await exports(scenario.ns, { [rolledBack]: 1 });
    await scenario.publish('1.2.0');
    await scenario.headIs('1.2.0', 'Succeeded');
    const series = await exports(scenario.ns, { [rolledBack]: undefined });
    expect(Object.keys(series).filter((key) => key.includes('rolled_back'))).toEqual([]);
  });
});

describe('a freeze', () => {
  it('is shown in the Gate, the Rollout and the held objects', async () => {
    const ns = await newNamespace();
    const scenario = scenarioOf(view, ns);
    await admin.create(gate(ns, 'freeze', { spec: { default: 'opened', window: '2h' } }));
    await scenario.create({ gates: [{ name: 'freeze' }] });
    await scenario.publish('1.0.0');
    await scenario.headIs('1.0.0', 'Succeeded');
    const freeze = (name: string) => `kuberik_gate_${name}{default="opened",name="freeze"}`;
    await exports(ns, {
      [freeze('open')]: 1,
      [freeze('required_by_objects')]: 1,
      [rollout('gates_passing')]: undefined,
    });
    await requestGate(sre, ns, 'freeze', 'close');
    await scenario.publish('1.1.0');
    const { nextTransition } = await waitFor(async () => {
      const { status } = await admin.get(ref('gate', ns, 'freeze'));
      return status?.nextTransition ? status : undefined;
    }, 'the next transition');
    await exports(ns, {
      [freeze('open')]: 0,
      [freeze('next_transition_timestamp_seconds')]: secondsOf(nextTransition),
      [`kuberik_rollout_gate_passing{gate="${ns}/freeze",gate_kind="Gate",name="app"}`]: 0,
      [rollout('condition', ',reason="GateClosed",type="DeploymentBlocked"')]: 1,
      [rollout('pending_info', ',tag="1.1.0"')]: 1,
    });
  });
});

describe('other series', () => {
  it('budgets with their slots, health and calendars are exported; nothing for objects without a status', async () => {
    const ns = await newNamespace();
    const scenario = scenarioOf(view, ns);
    const inNamespace = (kind: Parameters<typeof objectOf>[0], name: string, spec: object) =>
      admin.create(objectOf(kind, { metadata: { namespace: ns, name }, spec }) as AnyObject);
    await inNamespace('RolloutBudget', 'few', { selector: {}, maxConcurrent: 1 });
    await inNamespace('RolloutSchedule', 'days', { rolloutSelector: {}, rules: [{}], action: 'Allow' });
    await scenario.watch();
    await scenario.create({ ...SELECTS_HEALTH, bakeTime: '1h' });
    await exports(ns, { 'kuberik_healthcheck_status{name="app",status="Healthy"}': undefined });
    await scenario.publish('1.0.0');
    await scenario.headIs('1.0.0', 'Deploying');
    await scenario.healthReset();
    await exports(ns, {
      'kuberik_rolloutbudget_slots{name="few"}': 1,
      'kuberik_rolloutbudget_slots_taken{name="few"}': 1,
      'kuberik_rolloutbudget_waiting{name="few"}': 0,
      'kuberik_healthcheck_status{name="app",status="Pending"}': 1,
      'kuberik_rolloutschedule_active{name="days"}': 1,
    });
    const labels = `name="few",rollout="app",rollout_namespace="${ns}",state="Deploying",version="1.0.0"`;
    const slot = `kuberik_rolloutbudget_slot_granted_timestamp_seconds{${labels}}`;
    await waitFor(async () => (await exporter.series(ns))[slot], 'the slot to be used');
    expect(exporter.errors()).toEqual([]);
  });
});
