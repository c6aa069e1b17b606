import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { Budget, BudgetStatus, Rollout, RolloutStatus, Slot } from '../../api/types.ts';
import { slotLabel } from '../../core/budget/selectingBudgets.ts';
import { rolloutHook } from '../../hooks/rollout/rolloutHook.ts';
import { budgetHook, budgetSlotsHook } from '../../hooks/rolloutBudgetHook.ts';
import { isReported } from '../../server/events/fluxEvent.ts';
import { objectOf } from '../support/objects.ts';
import { fakeCall, imagePolicy, NOW, request, rollout } from './rollout/call.ts';
import { deployed, sync as syncRollout } from './rollout/sync.ts';

const AT = new Date(NOW).toISOString().replace('.000', '');
const slot = (fields: Partial<Slot> = {}): Slot => ({
  namespace: 'team-a',
  name: 'app',
  uid: 'uid-of-app',
  version: '1.1.0',
  rolloutRevision: 3,
  grantedTime: AT,
  state: 'Baking',
  ...fields,
});
const budget = (spec: object = {}, status?: BudgetStatus, metadata: object = {}): Budget =>
  objectOf('RolloutBudget', {
    metadata: { name: 'fleet', namespace: 'team-a', uid: 'uid-of-fleet', ...metadata },
    spec: { selector: {}, maxConcurrent: 1, ...spec },
    ...(status && { status }),
  });
const cluster = (spec: object): Budget =>
  objectOf('ClusterRolloutBudget', 'fleet', {
    metadata: { uid: 'uid-of-fleet' },
    spec: { selector: {}, namespaceSelector: {}, maxConcurrent: 1, ...spec },
  });

async function sync(of: Budget, related: Rollout[], live: Rollout[] = []) {
  const { call, reads, events } = fakeCall({ objects: live as KubeObject<any, any>[] });
  const sent = { ...request(of, related as KubeObject<any, any>[]), children: {} };
  const answer = await budgetHook.sync(sent, call);
  return { status: answer.status as BudgetStatus, reads, events, resyncAfterSeconds: answer.resyncAfterSeconds };
}
const rulesOf = async (of: Budget) => {
  const { call } = fakeCall();
  return (await budgetHook.customize!({ controller: {} as never, parent: of }, call)).relatedResources;
};

it('a budget whose selector its CRD should have refused fails its sync: nothing is granted', async () => {
  const unreadable = budget({ selector: { matchLabels: { 'a b': 'c' } } });
  await expect(sync(unreadable, [rollout()])).rejects.toMatchObject({ status: 400 });
  expect((await sync(budget({ maxConcurrent: 'many' }), [])).status.maxConcurrent).toBe(0);
});

describe('a budget relates the Rollouts it selects', () => {
  const ROLLOUTS = { apiVersion: 'kuberik.com/v1alpha1', resource: 'rollouts' };
  const matchLabels = { app: 'shop' };
  it.each<[string, Budget, object[]]>([
    [
      'in its namespace',
      budget({ selector: { matchLabels } }),
      [{ ...ROLLOUTS, namespace: 'team-a', labelSelector: { matchLabels } }],
    ],
    ['everywhere', cluster({ namespaceSelector: {} }), [{ ...ROLLOUTS, labelSelector: {} }]],
    [
      'in some namespaces',
      cluster({ namespaceSelector: { matchLabels } }),
      [{ ...ROLLOUTS, labelSelector: {}, namespaceSelector: { matchLabels } }],
    ],
  ])('%s', async (_, of, expected) => {
    expect(await rulesOf(of)).toEqual(expected);
  });
});

describe('a holder that the cache does not have', () => {
  const baking = { ...deployed, revision: 4, history: [{ ...deployed.history![0]!, bakeStatus: 'InProgress' }] };

  it('is read live: one that exists keeps its slot, and is requeued', async () => {
    const { status, reads, resyncAfterSeconds } = await sync(
      budget({}, { slots: [slot()] }),
      [],
      [rollout({}, baking)],
    );
    expect(reads).toEqual(['get rollouts team-a app']);
    expect(status.slots).toHaveLength(1);
    expect(resyncAfterSeconds).toBeLessThanOrEqual(60);
  });

  it.each<[string, Rollout[]]>([
    ['is not there', []],
    ['is another one of its name', [{ ...rollout({}, baking), metadata: { ...rollout().metadata, uid: 'uid-2' } }]],
  ])('loses its slot where it %s', async (_, live) => {
    expect((await sync(budget({}, { slots: [slot()] }), [], live)).status.slots).toBeUndefined();
  });

  it('is not read while the cache has it, selected or not', async () => {
    const relabelled = rollout({}, baking);
    const { reads, status } = await sync(budget({ selector: { matchLabels: { app: 'shop' } } }, { slots: [slot()] }), [
      relabelled,
    ]);
    expect(reads).toEqual([]);
    expect(status.slots).toHaveLength(1);
  });
});

describe('changes of a budget', () => {
  const failed = (name: string, namespace: string) => {
    const version = { tag: '1.1.0' };
    const history = [{ version, id: 2, timestamp: AT, bakeStatus: 'Failed' as const }];
    const of = rollout({}, { ...deployed, image: 'registry.example/app', history }, name);
    return { ...of, metadata: { ...of.metadata, namespace, uid: `${namespace}-${name}` } };
  };
  it.each([
    { of: budget({ maxFailures: 1 }), fleet: [failed('b', 'team-a'), failed('a', 'team-a')], tell: ['team-a/a'] },
    {
      of: cluster({ maxFailures: 1, namespaceSelector: {} }),
      fleet: [failed('b', 'team-b'), failed('a', 'team-b'), failed('z', 'team-a')],
      tell: ['team-a/z', 'team-b/a'],
    },
  ])('one Rollout in each namespace reports it: $tell', async ({ of, fleet, tell }) => {
    const { events } = await sync(of, fleet);
    const held = events.find(({ reason }) => reason === 'VersionBlocked');
    expect(held?.involvedObjects?.map(({ namespace, name }) => `${namespace}/${name}`)).toEqual(tell);
  });

  it('only the budget reports it, once, if its Rollouts wait for a slot', async () => {
    for (const status of [
      undefined,
      { versions: [{ image: 'registry.example/app', version: '1.1.0', failed: 1, blocked: true }] },
    ]) {
      const { call, events } = fakeCall({
        objects: [rollout({}, deployed), imagePolicy('1.1.0'), budget({}, status)] as KubeObject<any, any>[],
      });
      await rolloutHook.sync(request(rollout({}, deployed), [imagePolicy('1.1.0')]), call);
      expect(events.find(({ reason }) => reason === 'WaitingForBudget')).toMatchObject({ quiet: true });
      expect(events.filter(isReported)).toEqual([]);
    }
  });
});

describe('the labels of a budget', () => {
  const mine = slotLabel({ namespace: 'team-a', name: 'app' });
  const labels = async (of: Budget) => {
    const { call } = fakeCall();
    return budgetSlotsHook.sync({ object: of, attachments: {}, related: {} } as never, call);
  };

  it('are one for each slot that is granted and not used', async () => {
    const granted = { slots: [slot({ state: 'Granted' }), slot({ name: 'b', state: 'Baking' })] };
    expect(await labels(budget({}, granted))).toMatchObject({ labels: { [mine]: '' }, resyncAfterSeconds: 1 });
    expect(await labels(budget({}, granted, { labels: { [mine]: '', team: 'a' } }))).toEqual({ attachments: [] });
  });

  it('go with it, and others stay', async () => {
    const after = budget({}, { slots: [slot()] }, { labels: { [mine]: '', team: 'a' } });
    expect(await labels(after)).toMatchObject({ labels: { [mine]: null } });
  });

  it('and the request to continue, once it was acted on', async () => {
    const annotations = {
      'rollout.kuberik.com/continue': '1.1.0',
      'rollout.kuberik.com/continue-request': JSON.stringify({ id: 'uid-1', by: 'alice', at: AT }),
    };
    expect(await labels(budget({}, {}, { annotations }))).toEqual({ attachments: [] });
    expect(await labels(budget({}, { handledRequest: 'uid-1' }, { annotations }))).toMatchObject({
      annotations: { 'rollout.kuberik.com/continue': null },
    });
  });
});

describe('a Rollout that a budget selects', () => {
  const waiting = (status: RolloutStatus, objects: Budget[]) =>
    syncRollout(rollout({}, status), [imagePolicy('1.1.0')], { objects: objects as KubeObject<any, any>[] });
  const requested = {
    ...deployed,
    revision: 3,
    slotRequest: { id: 3, since: AT, versions: [{ tag: '1.1.0' }], budgets: ['RolloutBudget/fleet'] },
  };

  it('requests a slot instead of deploying, and reports it', async () => {
    const { status, tags, resyncAfterSeconds, reasons } = await waiting(deployed, [budget()]);
    expect(tags).toEqual(['1.0.0']);
    expect(status).toMatchObject({
      revision: 1,
      image: 'registry.example/app',
      slotRequest: { id: 1, since: AT, versions: [{ tag: '1.1.0' }], budgets: ['RolloutBudget/fleet'] },
      gates: [{ name: 'budget/fleet', allowedVersions: [] }],
    });
    expect(reasons).toContain('WaitingForBudget');
    expect(resyncAfterSeconds).toBe(5);
  });

  it('is woken by its grant if its rules include budgets', async () => {
    const related = [imagePolicy('1.1.0'), budget()] as KubeObject<any, any>[];
    const { resyncAfterSeconds } = await syncRollout(rollout({}, deployed), related, { objects: [budget()] as never });
    expect(resyncAfterSeconds).toBeGreaterThan(40);
  });

  it('deploys the version of its slot, not a newer one, and withdraws its request in the same status', async () => {
    const granted = budget({}, { slots: [slot({ request: 3, state: 'Granted' })] });
    const { status, tags } = await syncRollout(
      rollout({}, { ...requested, availableReleases: [{ tag: '1.0.0' }, { tag: '1.1.0' }] }),
      [imagePolicy('1.2.0')],
      { objects: [granted] as KubeObject<any, any>[] },
    );
    expect(tags).toEqual(['1.1.0', '1.0.0']);
    expect(status).not.toHaveProperty('slotRequest');
    expect(status.conditions?.some(({ type }) => type === 'WaitingForBudget')).toBe(false);
  });

  it.each<[string, object]>([
    ['pinned by hand', { wantedVersion: '1.1.0' }],
    ['pinned to what it has', { wantedVersion: '1.0.0' }],
  ])('takes its request back when it is %s', async (_, spec) => {
    const { status } = await syncRollout(rollout(spec, requested), [imagePolicy('1.1.0')], {
      objects: [budget()] as KubeObject<any, any>[],
    });
    expect(status).not.toHaveProperty('slotRequest');
  });

  it('waits for the cluster’s too, by the labels of its namespace', async () => {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a', labels: { team: 'a' } } };
    const of = (team: string) => [
      cluster({ namespaceSelector: { matchLabels: { team } } }),
      namespace as unknown as Budget,
    ];
    expect((await waiting(deployed, of('a'))).status.slotRequest?.budgets).toEqual(['ClusterRolloutBudget/fleet']);
    expect((await waiting(deployed, of('b'))).tags).toEqual(['1.1.0', '1.0.0']);
  });

  it('begins, and relates none, where the kinds are not there yet', async () => {
    const { tags } = await syncRollout(rollout({}, deployed), [imagePolicy('1.1.0')], {
      serves: (apiVersion) => apiVersion.startsWith('image.'),
    });
    expect(tags).toEqual(['1.1.0', '1.0.0']);
  });
});
