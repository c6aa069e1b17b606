/**
 * Which actions each kind of blocker comes with: the command lists them and the page has them as buttons.
 * Those of the plainest cases are in test/scenario/rollout: blockers.yaml, waits.yaml, approvals.yaml,
 * gateApprovals.yaml.
 */
import { describe, expect, it } from 'vitest';
import type { Rollout } from '../../../api/types.ts';
import type { Action } from '../../../client/actions/action.ts';
import { budgetActions, gateActions, rolloutGateActions } from '../../../client/actions/gateActions.ts';
import { commandViewsOf } from '../../../client/actions/lines.ts';
import { LIMIT_OF_GATES } from '../../../core/gate/closedGates.ts';
import { ABSENCE } from '../../../core/gate/evaluateGates.ts';
import { objectOf } from '../../support/objects.ts';
import {
  behind,
  beyondLimit,
  blockedBy,
  blocker,
  type Case,
  CLOSE_REQUEST,
  closedGate,
  condition,
  entry,
  gate,
  list,
  NOW,
  offered,
  rolloutGate,
  SCHEDULE,
  said,
  waits,
} from './offers.ts';

const atBudget = (reason: string, more: object = {}): Case => ({
  status: waits({
    gates: [{ kind: 'RolloutBudget', name: 'budget/fleet', passing: true, allowedVersions: [] }],
    blockers: [
      blocker(
        'Budget',
        reason,
        { kind: 'RolloutBudget', name: 'fleet' },
        reason === 'NoSlot' ? { effect: 'Waits' } : {},
      ),
    ],
    conditions: [condition('WaitingForBudget', reason, 'why')],
    ...more,
  }),
});

describe('a version that waits for', () => {
  it.each<[string, Case, string[]]>([
    [
      'two closed Gates, with one bypass of both',
      {
        spec: { gates: [{ name: 'freeze' }, { name: 'incident' }] },
        gates: [gate('freeze'), gate('incident')],
        status: waits(),
      },
      ['open gate/freeze', 'open gate/incident', 'bypass 1.1.0'],
    ],
    [
      'a Gate that requires approvals and that a user has closed',
      {
        spec: { gates: [{ name: 'prod' }] },
        gates: [gate('prod', { default: 'opened', approvals: { required: 2 } }, CLOSE_REQUEST)],
        status: waits(),
      },
      ['approve gate/prod 1.1.0', 'open gate/prod', 'bypass 1.1.0'],
    ],
    [
      'a Gate that has never existed',
      { spec: { gates: [{ name: 'typo' }] }, status: waits({ namedGates: [{ gate: 'shop/typo', seen: false }] }) },
      ['create gate/typo', 'unrequire'],
    ],
    [
      'the RolloutGate of a schedule, which nobody writes over',
      {
        status: waits({ gates: [{ name: 'nights', passing: false }], blockers: blockedBy('nights') }),
        rolloutGates: [rolloutGate('nights', { passing: false }, SCHEDULE)],
      },
      ['bypassRolloutGates 1.1.0', 'deploy 1.1.0'],
    ],
    [
      'a RolloutGate behind a closed Gate: a deployment by hand would wait there',
      {
        spec: { gates: [{ name: 'freeze' }] },
        gates: [gate('freeze')],
        status: waits({ gates: [list], blockers: blockedBy('list') }),
        rolloutGates: [rolloutGate('list', { allowedVersions: ['1.0.0'] })],
      },
      ['approve rolloutgate/list 1.1.0', 'open gate/freeze', 'reject rolloutgate/list 1.1.0', 'bypass 1.1.0'],
    ],
    [
      'a budget that stopped it after failures',
      atBudget('VersionBlocked'),
      ['continue rolloutbudget/fleet 1.1.0', 'deploy 1.1.0'],
    ],
    ['a budget that is closed', atBudget('BudgetClosed'), ['deploy 1.1.0']],
    ['a slot of a budget, which becomes free', atBudget('NoSlot'), []],
    [
      'its minimum age',
      {
        status: waits({
          youngReleases: [{ tag: '1.1.0', deployableAt: '2026-11-23T08:00:00Z' }],
          blockers: [blocker('MinimumAge', 'ReleaseTooYoung')],
        }),
      },
      ['deploy 1.1.0'],
    ],
    [
      'a closed Gate, and is pinned',
      { spec: { wantedVersion: '1.1.0', gates: [{ name: 'freeze' }] }, gates: [gate('freeze')], status: waits() },
      ['open gate/freeze', 'unpin', 'bypass 1.1.0'],
    ],
    [
      'a failure, which it may follow',
      {
        spec: { onFailure: 'Hold' },
        status: waits({
          history: [entry('1.0.0', 2, 'Failed'), entry('0.9.0', 1, 'Succeeded')],
          blockers: [blocker('Failure', 'PreviousDeploymentFailed')],
        }),
      },
      ['rollback 0.9.0', 'retry 1.0.0', 'unblock 1.0.0', 'deploy 1.1.0'],
    ],
    [
      'nothing that the Rollout knows, since a user mistyped it',
      {
        annotations: { 'rollout.kuberik.com/force-deploy': '9.9.9' },
        status: { pendingVersion: '9.9.9', gates: [list], blockers: blockedBy('list', { version: '9.9.9' }) },
        rolloutGates: [rolloutGate('list', { allowedVersions: ['1.0.0'] })],
      },
      ['approve rolloutgate/list 9.9.9', 'withdraw 9.9.9', 'reject rolloutgate/list 9.9.9'],
    ],
  ])('%s', (_, each, types) => {
    expect(offered(each).map(said)).toEqual(types);
  });
});

it.each<[string, Case, Record<string, string>]>([
  [
    'deployment',
    { status: { history: [entry('1.0.0', 2, 'Failed'), entry('0.9.0', 1, 'Succeeded')] }, spec: { onFailure: 'Hold' } },
    { retry: 'deployment 2 (1.0.0)', rollback: 'deployment 2 (1.0.0)', unblock: 'deployment 2 (1.0.0)' },
  ],
  [
    'request',
    { annotations: { 'rollout.kuberik.com/force-deploy': '1.1.0' }, status: waits() },
    { withdraw: 'the request for 1.1.0' },
  ],
  ['pin', { spec: { wantedVersion: '1.1.0' }, status: waits() }, { unpin: 'the pin to 1.1.0' }],
])('an action is offered for the %s that it depends on', (_, each, bases) => {
  const found = offered(each).flatMap(({ request: { type }, basis }) => (basis ? [[type, basis]] : []));
  expect(Object.fromEntries(found)).toEqual(bases);
});

describe('without a version that waits', () => {
  it.each<[string, Case, string[]]>([
    ['nothing holds it', {}, []],
    ['it is pinned', { spec: { wantedVersion: '1.0.0' } }, ['unpin']],
    [
      'the newest deployment failed',
      { status: { history: [entry('1.0.0', 2, 'Failed'), entry('0.9.0', 1, 'Succeeded')] } },
      ['rollback 0.9.0', 'retry 1.0.0'],
    ],
    ['a Gate is closed', { spec: { gates: [{ name: 'freeze' }] }, gates: [gate('freeze')] }, ['open gate/freeze']],
  ])('%s', (_, each, types) => {
    expect(offered(each).map(said)).toEqual(types);
  });
});

describe('a Flux object', () => {
  const ASKING = gate('freeze', { default: 'opened', approvals: { required: 2 } }, CLOSE_REQUEST);

  it.each<[string, ReturnType<typeof gate>, boolean, string[]]>([
    ['behind a closed Gate', gate('freeze'), true, ['open gate/freeze', 'bypass kustomization/web']],
    ['that runs behind a closed Gate', gate('freeze'), false, ['open gate/freeze']],
    [
      'behind a Gate that no request opens',
      gate('freeze', { approvals: { required: 2 } }),
      true,
      ['bypass kustomization/web'],
    ],
    ['behind one that a user has closed', ASKING, true, ['open gate/freeze', 'bypass kustomization/web']],
  ])('%s', (_, each, suspend, types) => {
    const commands = commandViewsOf(behind([closedGate('freeze')], [each], suspend), NOW);
    expect(commands.map(({ command }) => command.replace(/^kubectl rollouts | -n .*/g, ''))).toEqual(
      types.map((type) => type.replace('gate/', '')),
    );
  });
});

const OPENED = { 'open.gate.fluxcd.io/requestedAt': '2026-11-22T07:30:00Z' };

describe('a Gate', () => {
  const PLANNED = gate('freeze', { default: 'opened' }, { 'close.gate.fluxcd.io/requestedAt': '2026-11-22T09:00:00Z' });
  const waiting = [{ version: '1.1.0', rollout: 'shop/app', uid: 'u', users: { requesters: [] } }];

  it.each<[string, ReturnType<typeof gate>, string[]]>([
    ['that is open', gate('freeze', { default: 'opened' }), ['close gate/freeze']],
    ['that is open, and whose requests end at once', gate('freeze', { default: 'opened', window: '0s' }), []],
    ['that a request has opened', gate('freeze', { window: '1h' }, OPENED), ['close gate/freeze', 'open gate/freeze']],
    ['that is open until a planned closure', PLANNED, ['close gate/freeze', 'open gate/freeze']],
    ['that is closed', gate('freeze'), ['open gate/freeze']],
    ['that requires approvals', gate('prod', { approvals: { required: 2 } }), ['approve gate/prod 1.1.0']],
    [
      'that requires approvals and that a user has closed',
      gate('prod', { default: 'opened', approvals: { required: 2 } }, CLOSE_REQUEST),
      ['approve gate/prod 1.1.0', 'open gate/prod'],
    ],
  ])('%s', (_, each, types) => {
    expect(gateActions(each, waiting as never, NOW).map(said)).toEqual(types);
  });

  it('offers at most fifty approvals, the first of which is the default', () => {
    const many = Array.from({ length: 51 }, (_, i) => ({ ...waiting[0]!, version: `1.${i}.0` }));
    const actions = gateActions(gate('prod', { approvals: { required: 2 } }), many as never, NOW);
    const primary = actions.filter((action) => action.primary).map(said);
    expect([actions.length, primary, actions[0]!.rolloutUid]).toEqual([50, ['approve gate/prod 1.0.0'], 'u']);
  });
});

describe('a RolloutGate', () => {
  const app = objectOf('Rollout', { metadata: { namespace: 'shop', name: 'app' }, spec: {} } as never) as Rollout;
  const asked = { ...app, metadata: { ...app.metadata, annotations: { 'rollout.kuberik.com/force-deploy': '1.1.0' } } };

  it.each<[string, object, Rollout | undefined, string | undefined, string[]]>([
    ['that is closed, while nothing waits', { passing: false }, app, undefined, ['open rolloutgate/qa']],
    ['that is open, while nothing waits', {}, app, undefined, []],
    [
      'with a list',
      { allowedVersions: [] },
      app,
      '1.1.0',
      ['approve rolloutgate/qa 1.1.0', 'deploy 1.1.0', 'reject rolloutgate/qa 1.1.0'],
    ],
    [
      'whose Rollout may not be read',
      { allowedVersions: [] },
      undefined,
      '1.1.0',
      ['approve rolloutgate/qa 1.1.0', 'reject rolloutgate/qa 1.1.0'],
    ],
    [
      'of a version that a user has requested',
      { allowedVersions: [] },
      asked,
      '1.1.0',
      ['approve rolloutgate/qa 1.1.0', 'reject rolloutgate/qa 1.1.0'],
    ],
    [
      'that requires approvals, which a deployment needs too',
      { approvals: { required: 1 } },
      app,
      '1.1.0',
      ['approve rolloutgate/qa 1.1.0', 'reject rolloutgate/qa 1.1.0'],
    ],
  ])('%s', (_, spec, rollout, version, types) => {
    expect(rolloutGateActions(rolloutGate('qa', spec), rollout, version, 0).map(said)).toEqual(types);
  });
});

describe('an action', () => {
  const bypassIn = (actions: readonly Action[]) => actions.find(({ request }) => request.type === 'bypass');
  const rightsOf = (action: Action | undefined) => action?.rights.map(({ verb, name }) => `${verb} ${name}`);
  const [open, bypass] = offered({
    spec: { gates: [{ name: 'freeze' }, { name: 'incident' }] },
    gates: [gate('freeze'), gate('incident')],
    status: waits(),
  }).filter(({ request: { object, type } }) => object.name === 'freeze' || type === 'bypass');

  it('needs a right on each object that it bypasses', () => {
    expect(rightsOf(open)).toEqual(['patch freeze']);
    expect(rightsOf(bypass)).toEqual(['bypass freeze', 'bypass incident', 'patch app']);
  });

  it('needs the right on a missing Gate too', () => {
    const past = offered({
      spec: { gates: [{ name: 'freeze' }, { name: 'typo' }] },
      gates: [gate('freeze')],
      status: waits(),
    });
    const found = bypassIn(past);
    expect(rightsOf(found)).toEqual(['bypass freeze', 'bypass typo', 'patch app']);
    expect(found?.text).toContain('Gate shop/typo');
    const ofFlux = behind([closedGate('freeze'), { ...closedGate('typo'), closure: ABSENCE }], [gate('freeze')]);
    expect(rightsOf(bypassIn(ofFlux))).toEqual(['bypass freeze', 'bypass typo', 'patch web']);
  });

  it('needs the right on a closed Gate that is open for this version', () => {
    const gates = [gate('freeze'), gate('train', {}, { ...OPENED, 'open.gate.fluxcd.io/for': 'shop/app:1.1.0' })];
    const actions = offered({ spec: { gates: [{ name: 'freeze' }, { name: 'train' }] }, gates, status: waits() });
    expect(rightsOf(bypassIn(actions))).toEqual(['bypass freeze', 'bypass train', 'patch app']);
    expect(bypassIn(actions)?.text).toContain('Gate shop/freeze');
  });

  it('beyond a limit needs the right to bypass all Gates, and a Flux object has none: it would be held again', () => {
    const closed = { spec: { gates: [{ name: 'freeze' }] }, gates: [gate('freeze')], status: waits() };
    const all = { verb: 'bypass', namespace: '', name: '' };
    expect(bypassIn(offered({ ...closed, bindings: [beyondLimit] }))?.rights[0]).toMatchObject(all);
    expect(bypassIn(offered({ status: waits(), bindings: [beyondLimit] }))?.rights[0]).toMatchObject(all);
    expect(bypassIn(behind([closedGate('freeze')], [gate('freeze')], true, LIMIT_OF_GATES))).toBeUndefined();
  });

  it('that bypasses a Gate needs the version and a reason from the user', () => {
    expect(bypass).toMatchObject({ confirm: '1.1.0', danger: true, needsReason: true });
    expect(open).not.toHaveProperty('confirm');
  });

  it('for one version is the default, and never one that bypasses a Gate', () => {
    const rolloutGates = [rolloutGate('list', { allowedVersions: ['1.0.0'] })];
    const primary = (each: Case) =>
      offered(each)
        .filter((action) => action.primary)
        .map(said);
    const status = waits({ gates: [list], blockers: blockedBy('list') });
    expect(primary({ status, rolloutGates })).toEqual(['approve rolloutgate/list 1.1.0']);
    const behind = { spec: { gates: [{ name: 'freeze' }] }, gates: [gate('freeze')] };
    expect(primary({ ...behind, status, rolloutGates })).toEqual([]);
  });
});

describe('the text of an action names its effect', () => {
  const approvals = { required: 2 };
  const closedByUser = gate('prod', { default: 'opened', approvals }, CLOSE_REQUEST);
  const held = { spec: { gates: [{ name: 'prod' }] }, status: waits() };
  const rolloutGates = [rolloutGate('nights', { passing: false }, SCHEDULE)];
  const ofSchedule = {
    status: waits({ gates: [{ name: 'nights', passing: false }], blockers: blockedBy('nights') }),
    rolloutGates,
  };

  it.each<[string, () => Action[], string, string]>([
    ['a copy', () => offered(ofSchedule), 'deploy', 'spec.targetRepository'],
    ['the RolloutGates of schedules', () => offered(ofSchedule), 'bypassRolloutGates', 'Bypass every RolloutGate'],
    ['approvals', () => offered({ ...held, gates: [closedByUser] }), 'open', 'Ends the close request.'],
    ['no approvals', () => offered({ ...held, gates: [gate('prod')] }), 'open', 'Releases everything'],
    [
      'a Flux object',
      () => behind([closedGate('freeze')], [gate('freeze')]),
      'bypass',
      'until one of these Gates closes',
    ],
  ])('%s', (_, actions, type, text) => {
    const action = actions().find(({ request }) => request.type === type)!;
    expect(`${action.label}: ${action.text}`).toContain(text);
  });
});

describe('a budget that holds one tag of two images', () => {
  const [web, api] = ['registry.example.com/shop/web', 'registry.example.com/shop/api'];
  const versions = [web, api].map((image) => ({ image, version: '1.1.0', failed: 1, blocked: true }));
  const budget = objectOf('RolloutBudget', {
    metadata: { namespace: 'shop', name: 'fleet' },
    spec: { maxConcurrent: 1 },
    status: { versions },
  } as never);

  it('continues with one of them', () => {
    const actions = budgetActions(budget);
    expect(commandViewsOf(actions, NOW).map(({ command }) => command)).toEqual(
      [web, api].map((image) => expect.stringContaining(`continue fleet ${image}:1.1.0 -n shop`)),
    );
    expect(new Set(actions.map(({ id }) => id)).size).toBe(2);
  });

  it('continues with the image of the Rollout that waits', () => {
    const [first] = offered(atBudget('VersionBlocked', { image: api }));
    expect(first).toMatchObject({ label: 'Continue 1.1.0 despite its failures', request: { image: api } });
    expect(commandViewsOf([first!], NOW)[0]?.command).toContain(`${api}:1.1.0`);
  });
});

describe('a reference to a Gate that does not exist', () => {
  it('is one action, whatever else is missing', () => {
    const spec = { gates: [{ name: 'typo' }, { name: 'other' }, { name: 'typo', namespace: 'ops' }] };
    const ids = offered({ spec, status: waits() }).map(({ id }) => id);
    expect(ids).toHaveLength(6);
    expect(new Set(ids).size).toBe(6);
  });

  const unrequired = (seen: boolean, gates: object[]) =>
    offered({
      spec: { gates },
      gates: [gate('freeze', { default: 'opened' })],
      status: waits({ namedGates: [{ gate: 'shop/typo', seen }] }),
    }).find(({ request }) => request.type === 'unrequire');

  it('is removed with a bypass where the Gate has existed', () => {
    expect(unrequired(false, [{ name: 'typo' }])?.rights).toMatchObject([{ verb: 'patch', resource: 'rollouts' }]);
    expect(unrequired(true, [{ name: 'typo' }])).toMatchObject({
      rights: [
        { verb: 'bypass', name: 'typo' },
        { verb: 'patch', resource: 'rollouts' },
      ],
      needsReason: true,
    });
  });
});
