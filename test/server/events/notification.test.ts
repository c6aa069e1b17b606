import { json } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { NamespacedName, ObjectName } from '../../../api/kubernetes.ts';
import type { EventRecord } from '../../../api/ports.ts';
import { fluxEventOf } from '../../../server/events/fluxEvent.ts';
import { createNotifier } from '../../../server/events/notification.ts';
import { startLocalServer } from '../../support/localServer.ts';
import { objectOf } from '../../support/objects.ts';

const AT = Date.parse('2026-01-02T12:00:00Z');
const NEWS: EventRecord = {
  regarding: objectOf('Rollout', { metadata: { name: 'web', namespace: 'demo', uid: 'u' } }),
  type: 'Warning',
  reason: 'BakeTimeFailed',
  message: 'A HealthCheck reported an error after bake started.',
  key: 'failed/7',
  at: AT,
  version: '1.1.0',
};
const WEB: ObjectName = { kind: 'Kustomization', namespace: 'demo', name: 'web' };
const CLOSED: EventRecord = {
  regarding: objectOf('Gate', {
    metadata: { name: 'freeze', namespace: 'flux-system' },
    spec: { interval: '1m', default: 'closed' },
  }),
  type: 'Normal',
  reason: 'GateClosed',
  message: 'Gate close requested, closed by alice: INC-42',
  key: 'closed/7',
  at: AT,
  involvedObjects: [{ ...WEB, namespace: 'flux-system', name: 'apps' }, WEB],
  forOthers: 'Gate close requested',
  commands: [['To open it', 'kubectl rollouts open freeze -n flux-system']],
};

/** A receiver with these answers in turn; the last one is repeated, and 0 never answers. */
async function receiver(...statuses: number[]) {
  const received: any[] = [];
  const server = await startLocalServer(async (request, response) => {
    const status = statuses[Math.min(received.length, statuses.length - 1)]!;
    received.push(await json(request));
    if (status > 0) response.writeHead(status, { location: '/elsewhere' }).end();
  });
  return { received, address: `http://${server.host}/` };
}

interface Around {
  reportingObjects?: (rollout: NamespacedName) => Promise<ObjectName[]>;
  timeoutMs?: number;
  now?: number;
}

function notifier(
  address: string,
  { reportingObjects = async () => [WEB], timeoutMs = 30_000, now = AT }: Around = {},
) {
  const drops: string[] = [];
  const why: unknown[] = [];
  const waits: number[] = [];
  const sink = createNotifier({
    address,
    instance: 'pod-1',
    reportingObjects,
    dropped: (what) => drops.push(what),
    log: { warn: (fields) => why.push((fields as { why: string }).why) },
    now: () => now,
    wait: async (ms) => void waits.push(ms),
    timeoutMs,
  });
  const report = (record: EventRecord) => {
    sink.record(record);
    return sink.idle();
  };
  return { ...sink, report, drops, why, waits };
}

async function requestsFor(record: EventRecord, around?: Around) {
  const { received, address } = await receiver(202);
  const sink = notifier(address, around);
  await sink.report(record);
  expect(sink.drops).toEqual([]);
  return received;
}

describe('an event', () => {
  it('of a Rollout is its own, and one of its reporting object, in the form of Flux’s controllers', async () => {
    const [own, ofWeb, ...others] = await requestsFor(NEWS);
    expect(own).toMatchObject({
      involvedObject: { apiVersion: 'kuberik.com/v1alpha1', kind: 'Rollout', namespace: 'demo', name: 'web', uid: 'u' },
      message: `BakeTimeFailed: ${NEWS.message}`,
      metadata: { 'kuberik.com/token': expect.stringMatching(/^[0-9a-f]{16}$/) },
    });
    expect(ofWeb).toEqual({
      involvedObject: { ...WEB, apiVersion: 'kustomize.toolkit.fluxcd.io/v1' },
      severity: 'error',
      timestamp: '2026-01-02T12:00:00Z',
      message: 'Rollout demo/web BakeTimeFailed: A HealthCheck reported an error after bake started.',
      reason: 'BakeTimeFailed',
      metadata: {
        'kustomize.toolkit.fluxcd.io/rollout': 'web',
        'kustomize.toolkit.fluxcd.io/version': '1.1.0',
        'kustomize.toolkit.fluxcd.io/token': expect.stringMatching(/^[0-9a-f]{16}$/),
      },
      reportingController: 'rollout-controller',
      reportingInstance: 'pod-1',
    });
    expect(others).toEqual([]);
  });

  it('of a Flux object is that object’s alone', async () => {
    const regarding = objectOf('Kustomization', { metadata: { name: 'web', namespace: 'demo' } });
    const events = await requestsFor({ ...NEWS, reason: 'GateBypassed', regarding });
    expect(events).toMatchObject([{ involvedObject: WEB, message: `GateBypassed: ${NEWS.message}` }]);
  });

  it('of a Gate is reported in its own namespace with user, reason and commands, and in others without', async () => {
    const toOpen = '\nTo open it:\n  kubectl rollouts open freeze -n flux-system';
    const messages = (await requestsFor(CLOSED)).map(({ involvedObject, message }) => [
      `${involvedObject.kind} ${involvedObject.namespace}/${involvedObject.name}`,
      message,
    ]);
    expect(messages).toEqual([
      ['Gate flux-system/freeze', `GateClosed: ${CLOSED.message}${toOpen}`],
      ['Kustomization flux-system/apps', `Gate flux-system/freeze GateClosed: ${CLOSED.message}${toOpen}`],
      ['Kustomization demo/web', 'Gate flux-system/freeze GateClosed: Gate close requested'],
    ]);
    const { forOthers: _, ...secret } = CLOSED;
    expect((await requestsFor(secret)).map(({ involvedObject }) => involvedObject.namespace)).not.toContain('demo');
  });

  it('of a cluster-wide budget, which no Alert could select, is reported by other objects only', async () => {
    const regarding = objectOf('ClusterRolloutBudget', {
      metadata: { name: 'fleet' },
      spec: { selector: {}, namespaceSelector: {}, maxConcurrent: 1 },
    });
    const involvedObjects = [{ kind: 'Rollout', namespace: 'demo', name: 'web' }];
    const events = await requestsFor({
      ...NEWS,
      reason: 'VersionBlocked',
      regarding,
      involvedObjects,
      forOthers: '1.1.0 has failed',
    });
    expect(events).toMatchObject([
      { involvedObject: WEB, message: 'ClusterRolloutBudget fleet VersionBlocked: 1.1.0 has failed' },
    ]);
  });

  it.each([
    { change: { reason: 'BakeTimeStarted' }, why: 'needs nobody' },
    { change: { reason: 'constructor' }, why: 'is unknown' },
    { change: { quiet: true as const }, why: 'is for those who look' },
  ])('that $why is not told', async ({ change }) => {
    expect(await requestsFor({ ...NEWS, ...change })).toEqual([]);
  });

  it('is an error only as a Warning', () => {
    const severity = (change: Partial<EventRecord>) => fluxEventOf({ ...NEWS, ...change }, WEB, '')?.severity;
    expect(severity({})).toBe('error');
    expect(severity({ type: 'Normal' })).toBe('info');
    expect(severity({ reason: 'GateClosed' })).toBe('info');
  });

  it('has no mentions, no links and a readable size, whatever a tenant wrote', () => {
    const message = `<!channel> <https://evil|here> [here](https://evil) @here alice@example.com \u0007\r\n${'x'.repeat(50_000)}`;
    const said = fluxEventOf({ ...NEWS, message }, WEB, '')!.message;
    expect(said).toMatch(
      /^Rollout demo\/web BakeTimeFailed: ‹!channel› ‹https:\/\/evil\|here› \[here\] \(https:\/\/evil\) @\u200bhere alice@example\.com {2}xxx/,
    );
    expect(said.length).toBeLessThan(2100);
  });
});

it('takes 429 for an event that was sent already', async () => {
  const { received, address } = await receiver(429);
  const sink = notifier(address);
  await sink.report(NEWS);
  expect(sink.drops).toEqual([]);
  expect(received).toHaveLength(2);
});

it('tries again, with more and more patience, where notification-controller is just being replaced', async () => {
  const { received, address } = await receiver(503, 500, 202);
  const sink = notifier(address);
  await sink.report(NEWS);
  expect(sink.drops).toEqual([]);
  expect(sink.waits).toEqual([1000, 2000]);
  expect(received.map(({ involvedObject }) => involvedObject.kind)).toEqual([
    ...['Rollout', 'Rollout', 'Rollout'],
    'Kustomization',
  ]);
});

describe('costs nothing but the message', () => {
  it.each([
    { status: 500, attempts: 4 },
    { status: 400, attempts: 1 },
    { status: 307, attempts: 1 },
  ])('when the answer is $status', async ({ status, attempts }) => {
    const { received, address } = await receiver(status);
    const sink = notifier(address);
    await sink.report(NEWS);
    expect(sink.drops).toEqual(['notifications']);
    expect(sink.why).toEqual([`notification-controller answered ${status}`]);
    expect(received).toHaveLength(attempts);
  });

  it('when there is no answer, or no receiver', async () => {
    const { address } = await receiver(0);
    for (const where of [address, 'http://127.0.0.1:1/', 'nonsense']) {
      const sink = notifier(where, { timeoutMs: 100 });
      await sink.report(NEWS);
      expect(sink.drops).toEqual(['notifications']);
      expect(sink.waits).toEqual([1000, 2000, 4000]);
      expect(sink.why).toEqual(['notification-controller does not answer']);
    }
  });

  it('when too many are waiting', async () => {
    const { address } = await receiver(202);
    const sink = notifier(address);
    for (let i = 0; i < 250; i++) sink.record(NEWS);
    expect(sink.drops).toHaveLength(48);
    await sink.idle();
  });

  it('when too many of another namespace are waiting, which hang', async () => {
    const { received, address } = await receiver(202);
    const sink = notifier(address, {
      reportingObjects: (rollout) => (rollout.namespace === 'hangs' ? new Promise(() => {}) : Promise.resolve([])),
    });
    const hanging = { ...NEWS, regarding: objectOf('Rollout', { metadata: { name: 'web', namespace: 'hangs' } }) };
    for (let i = 0; i < 202; i++) sink.record(hanging);
    sink.record(NEWS);
    await expect.poll(() => received.length).toBe(1);
    expect([received[0].involvedObject.namespace, sink.drops]).toEqual(['demo', ['notifications']]);
  });

  it('when it has become too old', async () => {
    const { received, address } = await receiver(202);
    const sink = notifier(address, { now: AT + 301_000 });
    await sink.report(NEWS);
    expect(sink.drops).toEqual(['notifications']);
    expect(received).toEqual([]);
  });
});
