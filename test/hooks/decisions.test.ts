/** The log of a sync: its changes, and nothing if the answer is stored already. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/kubernetes.ts';
import { type Sync, syncDebugLine, syncDecisions } from '../../hooks/syncDecisions.ts';
import { objectOf } from '../support/objects.ts';

const META = { namespace: 'shop', name: 'web', uid: 'u', resourceVersion: '7' };
const check = (status?: object) => objectOf('HealthCheck', { metadata: META, spec: {}, ...(status && { status }) });
const schedule = (status?: object) =>
  objectOf('RolloutSchedule', { metadata: META, spec: {} as never, ...(status && { status }) } as never);
const ready = (message: string) => [{ type: 'Ready', status: 'True', reason: 'ScheduleEvaluated', message }];

const sync = (hook: string, subject: KubeObject<any, any>, answer: object): Sync => ({
  hook,
  subject,
  observed: {},
  answer: { attachments: [], ...answer } as never,
});
const decisionsOf = (of: Sync) => syncDecisions(of).map(({ reason, message }) => [reason, message]);

describe('at level info', () => {
  it.each<[what: string, sync: Sync, lines: string[][]]>([
    [
      'health that turns',
      sync('healthcheck', check({ status: 'Pending' }), { status: { status: 'Unhealthy', message: '0 of 3 Pods' } }),
      [['HealthChanged', 'Unhealthy (before: Pending): 0 of 3 Pods']],
    ],
    [
      'the first health',
      sync('healthcheck', check(), { status: { status: 'Healthy' } }),
      [['HealthChanged', 'Healthy (before: unknown)']],
    ],
    [
      'not another message of the same health',
      sync('healthcheck', check({ status: 'Pending' }), { status: { status: 'Pending', message: '1 of 3' } }),
      [],
    ],
    ['not health that is not written', sync('healthcheck', check({ status: 'Healthy' }), {}), []],
    [
      'a request that has been acted on',
      sync('rollout-requests', objectOf('Rollout', { metadata: META } as never), {
        annotations: { 'rollout.kuberik.com/retry': null, other: 'x' },
      }),
      [['RequestUsed', 'rollout.kuberik.com/retry took effect and is removed']],
    ],
    [
      'a rule of a schedule that begins',
      sync('rolloutschedule', schedule({ conditions: ready('Passing 2 Rollouts') }), {
        status: { activeRules: ['weekend'], conditions: ready('Holding 2 Rollouts') },
      }),
      [['ScheduleChanged', 'rules weekend are active: Holding 2 Rollouts']],
    ],
    [
      'and ends',
      sync('rolloutschedule', schedule({ activeRules: ['weekend'], conditions: ready('Holding 2 Rollouts') }), {
        status: { conditions: ready('Passing 2 Rollouts') },
      }),
      [['ScheduleChanged', 'no rule is active: Passing 2 Rollouts']],
    ],
    [
      'not another Rollout of a schedule',
      sync('rolloutschedule', schedule({ activeRules: ['weekend'], conditions: ready('Holding 2 Rollouts') }), {
        status: { activeRules: ['weekend'], conditions: ready('Holding 3 Rollouts') },
      }),
      [],
    ],
  ])('%s', (_, of, lines) => {
    expect(decisionsOf(of)).toEqual(lines);
  });

  it('a sync of the same object has the same key, and of a later one another', () => {
    const turned = (resourceVersion: string) => {
      const subject = check({ status: 'Pending' });
      subject.metadata = { ...META, resourceVersion };
      return syncDecisions(sync('healthcheck', subject, { status: { status: 'Healthy' } }))[0]?.key;
    };
    const [one, repeated, later] = ['7', '7', '8'].map(turned);
    expect([one === repeated, one === later]).toEqual([true, false]);
  });
});

describe('at level debug', () => {
  const conditions = [{ type: 'Ready', status: 'False', reason: 'GateClosed', message: "Gate 'qa' is closed" }];

  it('a sync that changes nothing logs the cause', () => {
    const subject = objectOf('Rollout', { metadata: META, status: { conditions } } as never);
    const line = syncDebugLine(sync('rollout', subject, { status: { conditions }, resyncAfterSeconds: 30 }));
    expect(line).toEqual({
      kind: 'Rollout',
      namespace: 'shop',
      name: 'web',
      hook: 'rollout',
      conditions: "Ready=False GateClosed: Gate 'qa' is closed",
      resyncAfterSeconds: 30,
      message: 'sync: nothing changes',
    });
  });

  it('a sync that changes something logs the change', () => {
    const subject = objectOf('Kustomization', { metadata: META } as never);
    const binding = (spec: object) =>
      objectOf('FluxBinding', { metadata: { namespace: 'shop', name: 'kustomization-web' }, spec } as never);
    const answer = { status: { conditions }, annotations: { 'a/b': 'c' }, attachments: [binding({ fields: [] })] };
    const of = { ...sync('flux', subject, answer), observed: {} };
    const { changes, message } = syncDebugLine(of);
    expect([changes, message]).toEqual([['status', 'a/b', 'FluxBinding kustomization-web'], 'sync: changes']);
    const stored = { 'FluxBinding.kuberik.com/v1alpha1': { 'shop/kustomization-web': binding({ fields: [] }) } };
    const again = syncDebugLine({ ...of, observed: stored as never, answer: { attachments: answer.attachments } });
    expect(again.message).toBe('sync: nothing changes');
  });

  it('conditions that are none do not break it', () => {
    const subject = objectOf('Kustomization', { metadata: META, status: { conditions: [null, 5] } } as never);
    expect(syncDebugLine(sync('flux', subject, {})).message).toBe('sync: nothing changes');
  });
});
