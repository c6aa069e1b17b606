import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { RolloutGate } from '../../api/types.ts';
import type { ScheduleStatus } from '../../core/calendar/schedulePlan.ts';
import { LIMITS } from '../../core/limits.ts';
import { type FakeCluster, fakeHookCall } from '../../dev/fakes/ports.ts';
import { composing, mapOf } from '../../dev/fakes/requests.ts';
import { scheduleHook } from '../../hooks/rolloutScheduleHook.ts';
import { namespaceOf, objectOf } from '../support/objects.ts';

const PRETTY = 'gate.kuberik.com/pretty-name';
const UNTIL = 'gate.kuberik.com/until';
const office = {
  rolloutSelector: { matchLabels: { app: 'foo' } },
  action: 'Allow',
  rules: [{ name: 'office', timeRange: { start: '09:00', end: '17:00' } }],
};

function schedule(spec: object, metadata: KubeObject['metadata'] = {}): KubeObject {
  const named = { name: 'office', namespace: 'prod', uid: 'u-1', generation: 3, ...metadata };
  return objectOf('RolloutSchedule', { metadata: named, spec: spec as never });
}

function rollout(name: string, namespace = 'prod', labels: Record<string, string> = { app: 'foo' }): KubeObject {
  return objectOf('Rollout', `${namespace}/${name}`, { metadata: { labels } });
}

async function sync(
  parent: KubeObject,
  at: string,
  rollouts: KubeObject[] = [rollout('web')],
  gates: RolloutGate[] = [],
  namespaces: KubeObject[] = [],
) {
  const { call } = fakeHookCall({ now: Date.parse(at), objects: [...rollouts, ...namespaces] });
  const request = composing(parent, {
    children: { 'RolloutGate.kuberik.com/v1alpha1': {}, ...mapOf(...(gates as KubeObject[])) },
  });
  const { status, children, resyncAfterSeconds } = await scheduleHook.sync(request, call);
  return { status: status as ScheduleStatus, gates: children as unknown as RolloutGate[], resyncAfterSeconds };
}

describe('the gates of a RolloutSchedule', () => {
  it('are one for each Rollout, with the labels and annotations that clients use', async () => {
    const parent = schedule(office, { annotations: { [PRETTY]: 'Office hours', other: 'x' } });
    const { gates } = await sync(parent, '2025-01-01T10:00:00Z', [rollout('web'), rollout('api')]);
    expect(gates).toHaveLength(2);
    expect(gates.find(({ spec }) => spec?.rolloutRef.name === 'web')).toEqual(
      objectOf('RolloutGate', {
        metadata: {
          name: expect.stringMatching(/^schedule-gate-[0-9a-f]{16}$/),
          namespace: 'prod',
          labels: {
            'gate.kuberik.com/schedule-name': 'office',
            'gate.kuberik.com/schedule-kind': 'RolloutSchedule',
            'gate.kuberik.com/schedule-namespace': 'prod',
            'gate.kuberik.com/rollout-name': 'web',
            'rollout.kuberik.com/rollout-name': 'web',
          },
          annotations: { [PRETTY]: 'Office hours', [UNTIL]: '2025-01-01T17:00:00Z' },
        },
        spec: { rolloutRef: { name: 'web' }, passing: true },
      }),
    );
  });

  it.each([
    ['Allow', '10:00', true],
    ['Allow', '18:00', false],
    ['Deny', '10:00', false],
    ['Deny', '18:00', true],
    [undefined, '10:00', false],
  ])('%s at %s: passing %s', async (action, time, passing) => {
    const { gates } = await sync(schedule({ ...office, action }), `2025-01-01T${time}:00Z`);
    expect(gates[0]?.spec?.passing).toBe(passing);
  });

  it('have the same names at every sync, and other names when the schedule is created again', async () => {
    const name = async (uid: string, time: string) =>
      (await sync(schedule(office, { uid }), time)).gates[0]?.metadata.name;
    const first = await name('u-1', '2025-01-01T10:00:00Z');
    expect(await name('u-1', '2025-01-01T18:00:00Z')).toBe(first);
    expect(await name('u-2', '2025-01-01T10:00:00Z')).not.toBe(first);
  });

  it('lose an annotation that the schedule has lost', async () => {
    const { gates } = await sync(schedule(office), '2025-01-01T10:00:00Z');
    expect(gates[0]?.metadata.annotations).not.toHaveProperty(PRETTY);
  });

  it('have an end if the calendar ever changes', async () => {
    const ends = async (spec: object) => (await sync(schedule(spec), '2025-01-01T18:00:00Z')).gates[0]?.metadata;
    expect((await ends(office))?.annotations).toEqual({ [UNTIL]: '2025-01-02T09:00:00Z' });
    const past = { dateRange: { start: '2001-01-01', end: '2001-01-02' } };
    expect(await ends({ ...office, rules: [past] })).not.toHaveProperty('annotations');
  });

  it('fit into labels, however long the names', async () => {
    const parent = schedule(office, { name: 's'.repeat(253) });
    const { gates } = await sync(parent, '2025-01-01T10:00:00Z', [rollout('r'.repeat(253))]);
    for (const value of Object.values(gates[0]?.metadata.labels ?? {})) expect(value.length).toBeLessThanOrEqual(63);
    expect(gates[0]?.spec?.rolloutRef.name).toHaveLength(253);
  });

  it('are created for no Rollout without the labels, or of another namespace; others are left out, which deletes them', async () => {
    const others = [rollout('web', 'prod', {}), rollout('web', 'dev')];
    const { gates } = await sync(schedule(office), '2025-01-01T10:00:00Z');
    expect(gates).toHaveLength(1);
    expect((await sync(schedule(office), '2025-01-01T10:00:00Z', others, gates)).gates).toEqual([]);
  });
});

describe('the status of a RolloutSchedule', () => {
  it('has the active window and the next', async () => {
    const { status, resyncAfterSeconds, gates } = await sync(schedule(office), '2025-01-01T16:59:48Z');
    expect(status).toEqual({
      observedGeneration: 3,
      active: true,
      activeRules: ['office'],
      nextTransition: '2025-01-01T17:00:00Z',
      managedGates: [gates[0]?.metadata.name],
      matchingRollouts: 1,
      conditions: [expect.objectContaining({ type: 'Ready', status: 'True' })],
    });
    expect(resyncAfterSeconds).toBe(10);
    expect((await sync(schedule(office), '2025-01-01T16:59:52Z')).resyncAfterSeconds).toBe(8);
  });

  it('leaves out false and empty fields', async () => {
    const { status } = await sync(
      schedule({ ...office, rules: [{ dateRange: { start: '2020-01-01', end: '2020-01-01' } }] }),
      '2025-01-01T10:00:00Z',
      [],
    );
    expect(Object.keys(status).sort()).toEqual(['conditions', 'observedGeneration']);
  });

  it('stays the same while nothing changes', async () => {
    const { status } = await sync(schedule(office), '2025-01-01T10:00:00Z');
    expect((await sync({ ...schedule(office), status }, '2025-01-01T16:59:59Z')).status).toEqual(status);
  });
});

describe('a schedule that does not compile', () => {
  it('keeps its gates unchanged with the cause', async () => {
    const spec = { ...office, timezone: 'Mars/Olympus' };
    const message = 'spec.timezone: Invalid value: "Mars/Olympus"';
    const before = await sync(schedule(office), '2025-01-01T10:00:00Z');
    const added = {
      ...before.gates[0]!,
      metadata: { ...before.gates[0]!.metadata, uid: 'g', resourceVersion: '7', generation: 1 },
    };
    const after = await sync(
      { ...schedule(spec), status: before.status as KubeObject['status'] },
      '2025-01-01T20:00:00Z',
      [],
      [added],
    );
    // With the next change too: from then on it doesn't count as passing.
    expect(after.gates).toEqual(before.gates);
    expect(after.status).toMatchObject({ active: true, managedGates: [before.gates[0]?.metadata.name] });
    expect(after.status).not.toHaveProperty('nextTransition');
    expect(after.status.conditions).toMatchObject([
      { type: 'Ready', status: 'False', reason: 'InvalidSchedule', message: expect.stringContaining(message) },
      { type: 'Stalled', status: 'True', reason: 'InvalidSchedule' },
    ]);
    const mended = await sync(
      { ...schedule(office), status: after.status as KubeObject['status'] },
      '2025-01-01T20:01:00Z',
      [rollout('web')],
      [added],
    );
    expect(mended.status.conditions?.map(({ type, status }) => [type, status])).toEqual([['Ready', 'True']]);
    expect(mended.gates[0]?.spec?.passing).toBe(false);
  });
});

const cluster = (spec: object) => {
  const { namespace: _, ...metadata } = schedule(office).metadata;
  return { ...schedule({ ...office, ...spec }), kind: 'ClusterRolloutSchedule', metadata };
};

describe('the Rollouts of a schedule', () => {
  it.each([
    ['RolloutSchedule', schedule(office), { namespace: 'prod' }],
    ['ClusterRolloutSchedule', cluster({ namespaceSelector: { matchLabels: { env: 'prod' } } }), {}],
  ])('%s: their metadata is all that is read', async (_name, parent, where) => {
    const { call } = fakeHookCall({ now: Date.parse('2025-01-01T10:00:00Z'), objects: [rollout('web')] });
    await scheduleHook.sync(composing(parent), call);
    expect((call.cluster as FakeCluster).requests).toContainEqual({
      verb: 'pages',
      apiVersion: 'kuberik.com/v1alpha1',
      resource: 'rollouts',
      labelSelector: 'app=foo',
      metadataOnly: true,
      ...where,
    });
  });

  // S11: an absent namespaceSelector and an empty one mean all namespaces.
  it.each([
    ['by label', { namespaceSelector: { matchLabels: { env: 'prod' } } }, ['prod']],
    ['cluster kind, no selector: all namespaces (Q30)', {}, ['dev', 'prod']],
    ['an empty selector', { namespaceSelector: {} }, ['dev', 'prod']],
  ])(
    'a cluster freeze makes gates where they are, and looks for new ones each 10 s: %s',
    async (_name, spec, where) => {
      const freeze = cluster({
        action: 'Deny',
        rules: [{ dateRange: { start: '2025-01-01', end: '2025-01-02' } }],
        ...spec,
      });
      const namespaces = ['dev', 'prod'].map((env) => namespaceOf(env, { labels: { env } }));
      const rollouts = [rollout('app-dev', 'dev'), rollout('app-prod', 'prod')];
      const { gates, status, resyncAfterSeconds } = await sync(
        freeze,
        '2025-01-01T12:00:00Z',
        rollouts,
        [],
        namespaces,
      );
      expect(gates.map(({ metadata, spec }) => [metadata.namespace, spec?.passing])).toEqual(
        where.map((ns) => [ns, false]),
      );
      expect(status.managedGates).toEqual(gates.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`));
      expect(gates[0]?.metadata.labels).not.toHaveProperty(['gate.kuberik.com/schedule-namespace']);
      expect(resyncAfterSeconds).toBe(10);
    },
  );

  it('beyond the limit take turns by namespace, so that one with many takes no gate from another, as Ready reports', async () => {
    const many = Array.from({ length: LIMITS.scheduledRollouts + 20 }, (_, i) => rollout(`a-${i}`, 'crowd'));
    const { gates, status } = await sync(cluster({}), '2025-01-01T12:00:00Z', [...many, rollout('web', 'zoo')]);
    expect(gates).toHaveLength(LIMITS.scheduledRollouts);
    expect(gates.map(({ metadata }) => metadata.namespace)).toContain('zoo');
    expect(status.conditions).toMatchObject([
      {
        type: 'Ready',
        status: 'False',
        reason: 'TooManyRollouts',
        message: expect.stringContaining(
          'matches 1021 Rollouts, but at most 1000 get a RolloutGate (limit scheduledRollouts)',
        ),
      },
    ]);
  });

  it('that are too many to be listed keep the gates that they have', async () => {
    const before = await sync(cluster({}), '2025-01-01T18:00:00Z', [rollout('web', 'zoo')]);
    const many = Array.from({ length: LIMITS.listedRollouts + 1 }, (_, i) => rollout(`a-${i}`, 'crowd'));
    const at = '2025-01-02T10:00:00Z';
    const { gates, status } = await sync(cluster({}), at, [...many, rollout('web', 'zoo')], before.gates);
    const [kept] = gates.filter(({ metadata }) => metadata.namespace === 'zoo');
    expect([kept?.metadata.name, kept?.spec]).toEqual([
      before.gates[0]?.metadata.name,
      { rolloutRef: { name: 'web' }, passing: true },
    ]);
    expect(status.conditions).toMatchObject([{ message: expect.stringContaining('more than 10000 Rollouts') }]);
  });
});
