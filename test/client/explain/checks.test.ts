/**
 * The HealthChecks that a Rollout watches are its steps, in any namespace; those that are left out or can't be read are
 * reported.
 */
import { expect, it } from 'vitest';
import type { HealthCheck, Rollout } from '../../../api/types.ts';
import { NO_RELATED, type RelatedObjects } from '../../../client/explain/related.ts';
import { checkSteps } from '../../../client/explain/rollout/deploymentSteps.ts';
import { explainRollouts } from '../../../client/explain/rollout/explainRollout.ts';
import { objectOf } from '../../support/objects.ts';

const NOW = Date.parse('2026-03-01T12:04:40Z');
const CONSENT = { 'healthcheck.kuberik.com/watched-from': 'shop' };

const check = (namespace: string, name: string, annotations = {}): HealthCheck =>
  objectOf('HealthCheck', {
    metadata: { namespace, name, labels: { app: 'shop' }, annotations },
    status: { status: 'Healthy' },
  } as never);
const namespace = (name: string, annotations = {}) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels: { team: name }, annotations },
});
const rollout = (namespaceSelector: object | undefined, conditions: object[] = []): Rollout =>
  objectOf('Rollout', {
    metadata: { namespace: 'shop', name: 'app' },
    spec: {
      healthCheckSelector: {
        selector: { matchLabels: { app: 'shop' } },
        ...(namespaceSelector && { namespaceSelector }),
      },
    },
    status: { conditions },
  } as never);

const around: RelatedObjects = {
  ...NO_RELATED,
  healthChecks: [
    check('shop', 'own'),
    check('platform', 'db', CONSENT),
    check('platform', 'dns'),
    check('other', 'cache'),
  ],
  namespaces: [namespace('shop'), namespace('platform'), namespace('other')],
};
const PLATFORM = { matchExpressions: [{ key: 'team', operator: 'In', values: ['shop', 'platform'] }] };
const LEFT_OUT = [{ type: 'HealthChecksLeftOut', status: 'True', reason: 'NotAllowed', message: '' }];

const BUDGET = { kind: 'RolloutBudget', name: 'fleet' };
const DEPLOYED = [{ id: 1, version: { tag: '1.0.0' }, timestamp: '2026-03-01T11:00:00Z', bakeStatus: 'Succeeded' }];

const shown = (of: Rollout, where = around) =>
  checkSteps(of, where).map(({ title, state, detail }) => `${state} ${title}: ${detail}`);

it.each<[string, Rollout, RelatedObjects, string[]]>([
  ['of its own namespace', rollout(undefined), around, ['passed HealthCheck shop/own: Healthy']],
  [
    'of class job, whose Job was run for something else',
    rollout(undefined),
    {
      ...around,
      healthChecks: [{ ...check('shop', 'smoke'), spec: { class: 'job', job: { template: { spec: {} } } } }],
    },
    ['waits HealthCheck shop/smoke: Pending: its Job has not been run for this deployment yet'],
  ],
  [
    'of others, where all consent or nobody has to',
    rollout(PLATFORM),
    around,
    [
      'passed HealthCheck platform/db: Healthy',
      'passed HealthCheck platform/dns: Healthy',
      'passed HealthCheck shop/own: Healthy',
    ],
  ],
  [
    'of others, where one does not consent',
    rollout(PLATFORM, LEFT_OUT),
    around,
    [
      'passed HealthCheck platform/db: Healthy',
      'unknown HealthCheck platform/dns: not watched: to allow it, set the annotation healthcheck.kuberik.com/watched-from: shop on the object or on its namespace',
      'passed HealthCheck shop/own: Healthy',
    ],
  ],
  [
    'of others, to somebody who may not list Namespaces',
    rollout({}),
    {
      ...around,
      healthChecks: [check('shop', 'own')],
      namespaces: { unread: "you aren't allowed to list Namespaces" },
    },
    [
      'passed HealthCheck shop/own: Healthy',
      "unknown HealthChecks of other namespaces: could not be read: you aren't allowed to list Namespaces",
    ],
  ],
])('%s', (_, of, where, steps) => {
  expect(shown(of, where)).toEqual(steps);
});

it.each<[which: string, version: string, history: object[], blocker: object, next: string]>([
  ['first', '1.0.0', [], { type: 'Budget', object: BUDGET }, 'RolloutBudget fleet'],
  ['requested', '1.1.0', DEPLOYED, { type: 'Budget', object: BUDGET }, 'RolloutBudget fleet'],
  ['next', '1.1.0', DEPLOYED, { type: 'Health' }, 'HealthCheck shop/own'],
  ['too young', '1.1.0', DEPLOYED, { type: 'MinimumAge', effect: 'Waits' }, 'HealthCheck shop/own'],
])('an unhealthy check blocks the %s version only with a blocker', (_, version, history, blocker, next) => {
  const blockers = [{ effect: 'Blocks', reason: 'Waiting', version, ...blocker }];
  const waiting = { ...rollout(undefined), status: { pendingVersion: version, history, blockers } };
  const sick = { ...check('shop', 'own'), status: { status: 'Unhealthy' } } as HealthCheck;
  const [application] = explainRollouts([waiting as Rollout], { ...around, healthChecks: [sick] }, NOW);
  expect(application?.next?.text).toBe(`no automatic change. ${version} is waiting for ${next}`);
});

it('are there among many Rollouts too', () => {
  const [application] = explainRollouts([rollout(PLATFORM)], around, 0);
  expect(application?.steps.map(({ id }) => id)).toContain('check/platform/db');
});

it('a bake lasts until a check that is Healthy again counts, unless it is left out', () => {
  const nextOf = (conditions: object[]) => {
    const of = rollout(PLATFORM, conditions);
    const started = { bakeStatus: 'InProgress', bakeStartTime: '2026-03-01T12:00:00Z' };
    const head = { id: 1, version: { tag: '1.0.0' }, timestamp: '2026-03-01T11:59:00Z', ...started };
    const baking = { ...of, spec: { ...of.spec, bakeTime: '5m' }, status: { ...of.status, history: [head] } };
    const again = {
      ...check('platform', 'dns'),
      spec: { class: 'kustomization' },
      status: { status: 'Healthy', lastChangeTime: '2026-03-01T12:04:30Z' },
    };
    const [application] = explainRollouts([baking as Rollout], { ...around, healthChecks: [again] }, NOW);
    return application?.next?.at;
  };
  expect([nextOf([]), nextOf(LEFT_OUT)]).toEqual(['2026-03-01T12:05:30Z', '2026-03-01T12:05:00Z']);
});
