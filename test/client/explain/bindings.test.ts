/** Flux objects of a version that is rolling out: their FluxBindings may report the version before. */
import { describe, expect, it } from 'vitest';
import type { FluxObject } from '../../../api/flux.ts';
import type { FluxBinding, Rollout } from '../../../api/types.ts';
import { trackOf } from '../../../client/board/row.ts';
import { isOfDeployedVersion } from '../../../client/explain/application.ts';
import { explainFluxObject } from '../../../client/explain/kinds/explainFluxObject.ts';
import { explanationOf } from '../../../client/explain/kinds/explanation.ts';
import { NO_RELATED } from '../../../client/explain/related.ts';
import { bindingSteps } from '../../../client/explain/rollout/deploymentSteps.ts';
import { explainRollout } from '../../../client/explain/rollout/explainRollout.ts';
import { makeBinding } from '../../../core/binding/bindingSpec.ts';
import { deployment, kustomization, rollout } from '../../core/admission/objects.ts';

/** 1.1.0 is the newest deployment, with id 2. */
const app: Rollout = rollout('my-app', '1.1.0', '1.0.0');

const DEPLOYING = { ...app.status!.history![0]!, bakeStatus: 'Deploying' as const };

function binding(applied: number, status: 'True' | 'False' | 'Unknown', message: string): FluxBinding {
  const { spec, ...rest } = makeBinding(kustomization(), { refs: [], problems: [] }, undefined, false)!;
  const version = applied === 2 ? '1.1.0' : '1.0.0';
  const condition = { type: 'Ready', status, reason: 'x', message, lastTransitionTime: '2026-03-04T08:00:00Z' };
  const carried = { rollout: 'my-app', id: applied, version, uid: 'uid-my-app' };
  return { ...rest, ...(spec && { spec }), status: { applied: [carried], conditions: [condition] } };
}

/** 1.0.0 is applied, and the FluxBinding reports this deployment. */
function reporting(id: number, message: string): FluxBinding {
  const bound = binding(1, 'Unknown', message);
  return { ...bound, status: { ...bound.status, deployed: `my-app=${id}/1.${id - 1}.0/uid-my-app` } };
}

it.each<[string, FluxBinding, string, string, string]>([
  ['it has the version', binding(2, 'True', 'applied'), 'passed', 'applied', '1.1.0'],
  [
    'it says so of the version before',
    binding(1, 'True', 'applied'),
    'waits',
    'waiting for Flux to apply 1.1.0',
    '1.0.0',
  ],
  [
    'it reports that the version before waits',
    reporting(1, 'waiting for Flux to apply my-app 1.0.0 (1)'),
    'waits',
    'waiting for Flux to apply 1.1.0',
    '1.0.0',
  ],
  [
    'it reports that the version waits',
    reporting(2, 'waiting for Flux to apply my-app 1.1.0 (2)'),
    'waits',
    'waiting for Flux to apply my-app 1.1.0 (2)',
    '1.0.0',
  ],
  ['it waits', binding(1, 'Unknown', 'waiting for Flux'), 'waits', 'waiting for Flux', '1.0.0'],
  [
    'it is held',
    binding(1, 'False', 'waiting for gate shop/freeze'),
    'blocks',
    'waiting for gate shop/freeze',
    '1.0.0',
  ],
])('%s', (_, bound, state, detail, version) => {
  expect(bindingSteps(app, [bound], [])).toMatchObject([{ id: 'binding/Kustomization/web', state, detail, version }]);
});

it('waits since the deployment that it waits for, however long it has waited for the one before', () => {
  const committed = '2026-03-04T09:00:00Z';
  expect(bindingSteps(app, [binding(1, 'Unknown', 'waiting for Flux')], [])).toMatchObject([{ since: committed }]);
  expect(bindingSteps(app, [binding(2, 'True', 'applied')], [])).toMatchObject([{ since: '2026-03-04T08:00:00Z' }]);
});

it('of the version before is no step that the waiting version has passed', () => {
  const waiting = { ...app, status: { ...app.status, pendingVersion: '1.2.0' } };
  const around = { ...NO_RELATED, bindings: [binding(2, 'True', 'applied')] };
  const isDone = (of: Rollout) =>
    explainRollout(of, around, 0).steps.map((step) => isOfDeployedVersion(step, of.status?.pendingVersion));
  expect([isDone(waiting), isDone(app)]).toEqual([[true], [false]]);
});

it('with an unknown reason is a cause although the version runs', () => {
  const around = { ...NO_RELATED, bindings: [binding(2, 'False', "Rollout 'ghost' does not exist")] };
  const done = explainRollout(app, around, 0);
  const text = "Kustomization shop/web: Rollout 'ghost' does not exist";
  expect(done.causes).toEqual([{ code: 'ObjectNotReady', text, step: 'binding/Kustomization/web' }]);
  expect(explanationOf(done, [])).toMatchObject({ state: 'held', headline: '1.1.0 runs' });
});

it.each<[string, Partial<NonNullable<Rollout['status']>>, 'held' | 'underWay']>([
  ['a RolloutGate that is closed for what comes next', { gates: [{ name: 'qa', passing: false }] }, 'underWay'],
  ['a closed gate on its way', { history: [{ ...DEPLOYING, waitingSince: '2026-03-04T09:01:00Z' }] }, 'held'],
])('a deployment under way and %s', (_, status, state) => {
  const of: Rollout = { ...app, status: { ...app.status, history: [DEPLOYING], blockers: [], ...status } };
  expect(explanationOf(explainRollout(of, NO_RELATED, 0), []).state).toBe(state);
});

it('a Rollout that runs and that nothing reconciles says so', () => {
  const metadata = { ...app.metadata, generation: 3 };
  const stale = { ...app, metadata, status: { ...app.status, observedGeneration: 2 } };
  const text = 'The status of Rollout shop/my-app is out of date: its last change has not been reconciled yet';
  const { state, causes } = explanationOf(explainRollout(stale, NO_RELATED, 0), []);
  expect(state).toBe('held');
  expect(causes).toContainEqual({ code: 'StatusOutOfDate', text });
});

describe('of which a version is not set after a minute', () => {
  const deploying: Rollout = { ...app, status: { ...app.status, history: [DEPLOYING] } };
  const late = Date.parse(DEPLOYING.timestamp!) + 61_000;
  const lacking = kustomization({ deployed: deployment('my-app', 1, '1.0.0') });
  const text =
    'Kustomization shop/web lacks 1.1.0, committed at 2026-03-04T09:00:00Z. The command doctor checks the webhook and Metacontroller';
  const textOf = (object: FluxObject, of = deploying, now = late) =>
    explainRollout(of, { ...NO_RELATED, objects: [object] }, now).causes.find(({ code }) => code === 'NotSet')?.text;

  it('is a cause of the Rollout and of the object', () => {
    expect(textOf(lacking)).toBe(text);
    const { causes } = explainFluxObject(lacking, { gates: [], rollouts: [deploying], unread: [] }, late);
    expect(causes).toEqual([{ code: 'NotSet', text }]);
  });

  it.each<[string, FluxObject, Rollout?, number?]>([
    ['before', lacking, deploying, late - 2000],
    ['if the object has it', kustomization({ deployed: deployment('my-app', 2, '1.1.0') })],
    ['while the object is suspended', kustomization({ spec: { suspend: true } })],
    [
      'while its source fetches',
      kustomization({
        annotations: {
          'rollout.kuberik.com/substitute.APP.from': 'my-app',
          'rollout.kuberik.com/awaits-artifact': 'x',
        },
      }),
    ],
    [
      'of a Rollout that writes back',
      lacking,
      { ...deploying, spec: { ...deploying.spec!, writeBack: { imagePolicy: 'x' } } },
    ],
    ['after the deployment', lacking, app],
  ])('is none %s', (_, object, of, now) => {
    expect(textOf(object, of, now)).toBeUndefined();
  });
});

describe('of which Flux reports a failure', () => {
  const message = "health check failed after 30s: Deployment/shop/web status: 'InProgress'";
  const failed = kustomization({
    status: { conditions: [{ type: 'Ready', status: 'False', reason: 'HealthCheckFailed', message }] },
  });
  const explained = (of: Rollout, bound: FluxBinding, objects = [failed]) =>
    explainRollout(of, { ...NO_RELATED, bindings: [bound], objects }, 0);
  const baking: Rollout = {
    ...app,
    status: { ...app.status, history: app.status!.history!.map((each) => ({ ...each, bakeStatus: 'Deploying' })) },
  };

  it.each([
    ['before it has the version', binding(1, 'Unknown', 'waiting for Flux')],
    ['after it had the version', binding(2, 'True', 'applied')],
  ])('is failed %s, with what Flux reports', (_, bound) => {
    const { steps, causes } = explained(app, bound);
    expect(steps).toMatchObject([{ id: 'binding/Kustomization/web', state: 'failed', detail: message }]);
    expect(causes[0]).toEqual({
      code: 'FluxObjectFailed',
      text: `Kustomization shop/web has failed: ${message}`,
      step: 'binding/Kustomization/web',
    });
  });

  it('makes the application no good one, however its deployment ended', () => {
    const application = explained(app, binding(2, 'True', 'applied'));
    expect(application).toMatchObject({ state: 'problem', headline: '1.1.0 runs, Kustomization shop/web failed' });
    expect(explanationOf(application, []).state).toBe('failed');
  });

  it('halts the deployment that is under way', () => {
    const application = explained(baking, binding(1, 'Unknown', 'waiting for Flux'));
    expect(application.state).toBe('deploying');
    expect(explanationOf(application, []).state).toBe('failed');
    expect(trackOf(application)).toMatchObject({ at: 'deploying', halted: true });
  });

  it.each([
    ['a bake does not wait for it once it had the version', binding(2, 'True', 'applied'), ''],
    [
      'a bake waits for it otherwise',
      binding(1, 'Unknown', 'waiting for Flux'),
      ' once Flux has applied it to Kustomization shop/web',
    ],
  ])('%s', (_, bound, end) => {
    const head = { ...app.status!.history![0]!, bakeStatus: 'InProgress' };
    const of = { ...app, spec: { ...app.spec, bakeTime: '1h' }, status: { ...app.status, history: [head] } } as Rollout;
    expect(explained(of, bound).next?.text).toBe(`the bake of 1.1.0 ends${end}`);
  });

  it('stays held behind a closed gate, and is no failure of another object', () => {
    const held = explained(app, binding(1, 'False', 'waiting for gate shop/freeze'));
    expect(held.steps).toMatchObject([{ state: 'blocks' }]);
    const other = { ...failed, metadata: { ...failed.metadata, name: 'other' } };
    expect(explained(app, binding(2, 'True', 'applied'), [other]).steps).toMatchObject([{ state: 'passed' }]);
  });

  it('that can’t be read are reported if they matter', () => {
    const unread = [{ kind: 'Kustomization' as const, namespace: 'shop', why: "you aren't allowed to read this kind" }];
    const around = { ...NO_RELATED, unread };
    expect(explainRollout(app, { ...around, bindings: [binding(2, 'True', 'applied')] }, 0).unread).toEqual([
      "Kustomizations in shop: you aren't allowed to read this kind",
    ]);
    expect(explainRollout(app, around, 0).unread).toEqual([]);
  });
});

it.each<[string, object, Partial<typeof NO_RELATED>, boolean]>([
  ['reports that no Flux object is bound', {}, {}, true],
  ['does not if one is', {}, { bindings: [binding(2, 'True', 'applied')] }, false],
  ['does not if that could not be read', {}, { unread: [{ kind: 'FluxBinding', why: 'x' }] }, false],
  ['does not if a ConfigMap has its version', { releaseConfigMap: { name: 'release' } }, {}, false],
])('a Rollout that has deployed %s', (_, spec, related, isReported) => {
  const deployed = { ...app, spec: { ...app.spec!, ...spec } };
  const { causes } = explainRollout(deployed, { ...NO_RELATED, ...related }, Date.parse('2026-03-04T09:00:00Z'));
  expect(causes.map(({ code }) => code)).toEqual(isReported ? ['NothingBound'] : []);
});
