import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../api/kubernetes.ts';
import { labelAll } from '../../../core/kube/annotate.ts';
import { formatTime } from '../../../core/kube/time.ts';
import { decorating } from '../../../dev/fakes/requests.ts';
import type { DecoratorHook } from '../../../hooks/hook.ts';
import { rolloutRequestsHook } from '../../../hooks/rollout/rolloutRequestsHook.ts';
import { rolloutGateHook } from '../../../hooks/rolloutGateHook.ts';
import { fakeCall, NOW, object, rollout } from './call.ts';

const decorate = <Target>(hook: DecoratorHook<Target>, target: unknown) =>
  hook.sync(decorating(target as KubeObject), fakeCall().call);

describe('rollout-requests', () => {
  const record = (id: string, at = NOW) => ({ id, by: 'alice', at: formatTime(at) });

  it('removes exactly the used requests, and requeues until they are gone', async () => {
    const unlabelled = rollout({}, { handledRequest: { retry: 'r1', 'force-deploy': 'r1' } });
    const asked = labelAll(unlabelled, { 'rollout.kuberik.com/watches': 'none' });
    asked.metadata.annotations = {
      'rollout.kuberik.com/retry': '',
      'rollout.kuberik.com/force-deploy': '1.0.0',
      'rollout.kuberik.com/request': JSON.stringify({ retry: record('r1'), 'force-deploy': record('r2') }),
      'example.com/mine': 'stays',
    };
    expect(await decorate(rolloutRequestsHook, asked)).toEqual({
      annotations: { 'rollout.kuberik.com/retry': null },
      attachments: [],
      resyncAfterSeconds: 1,
    });
  });

  it.each([
    ['soon', NOW, 0.25],
    ['a little later', NOW - 4000, 1],
    ['seldom', NOW - 60_000, 10],
    ['seldom if there is no time', undefined, 10],
    ['soon where a clock is ahead', NOW + 60_000, 0.25],
  ])(
    'requeues itself while a request is open, because no status change triggers it: %s',
    async (_, requestedAt, seconds) => {
      const asked = labelAll(rollout({}), { 'rollout.kuberik.com/watches': 'none' });
      asked.metadata.annotations = {
        'rollout.kuberik.com/force-deploy': '1.0.0',
        ...(requestedAt !== undefined && {
          'rollout.kuberik.com/request': JSON.stringify({ 'force-deploy': record('r1', requestedAt) }),
        }),
      };
      expect(await decorate(rolloutRequestsHook, asked)).toEqual({ attachments: [], resyncAfterSeconds: seconds });
    },
  );

  it('repairs the label by which HealthChecks find it, and removes a wrong one', async () => {
    const watching = rollout({ healthCheckSelector: { matchLabels: { app: 'shop' } } });
    const { labels, resyncAfterSeconds } = await decorate(rolloutRequestsHook, watching);
    expect(labels).toEqual({ 'rollout.kuberik.com/watches': expect.stringMatching(/^[0-9a-f]{16}$/) });
    expect(resyncAfterSeconds).toBe(1);
    watching.metadata.labels = labels as Record<string, string>;
    expect(await decorate(rolloutRequestsHook, watching)).toEqual({ attachments: [] });
    delete watching.spec!.healthCheckSelector;
    expect((await decorate(rolloutRequestsHook, watching)).labels).toEqual({ 'rollout.kuberik.com/watches': 'none' });
    watching.spec!.healthCheckSelector = { selector: {} };
    expect((await decorate(rolloutRequestsHook, watching)).labels).toEqual({ 'rollout.kuberik.com/watches': null });
  });
});

describe('rolloutgates', () => {
  const gate = (labels?: Record<string, string>) => {
    const target = object('kuberik.com/v1alpha1', 'RolloutGate', 'g', { rolloutRef: { name: 'app' }, passing: true });
    if (labels) target.metadata.labels = labels;
    return target;
  };

  it('labels a gate that is older than the webhook, or names another Rollout', async () => {
    const wanted = { labels: { 'rollout.kuberik.com/rollout-name': 'app' }, attachments: [], resyncAfterSeconds: 1 };
    expect(await decorate(rolloutGateHook, gate())).toMatchObject(wanted);
    expect(await decorate(rolloutGateHook, gate({ 'rollout.kuberik.com/rollout-name': 'old' }))).toMatchObject(wanted);
  });

  it('leaves a labelled gate alone', async () => {
    const answer = await decorate(rolloutGateHook, gate({ 'rollout.kuberik.com/rollout-name': 'app' }));
    expect(answer).not.toHaveProperty('labels');
  });
});
