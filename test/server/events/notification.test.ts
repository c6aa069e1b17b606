import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { EventRecord } from '../../../api/ports.ts';
import { createNotifier, type FluxReference, fluxEventOf } from '../../../server/events/notification.ts';
import { objectOf } from '../../support/objects.ts';

const NEWS: EventRecord = {
  regarding: objectOf('Rollout', { metadata: { name: 'web', namespace: 'demo' } }),
  type: 'Warning',
  reason: 'BakeTimeFailed',
  message: 'A HealthCheck reported an error after bake started.',
  key: 'failed/7',
  at: Date.parse('2026-01-02T12:00:00Z'),
};
const KUSTOMIZATION: FluxReference = {
  apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
  kind: 'Kustomization',
  namespace: 'demo',
  name: 'web',
};

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A receiver; `status` 0 never answers. */
async function receiver(status: number) {
  const received: unknown[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      received.push(JSON.parse(body));
      if (status > 0) response.writeHead(status).end();
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { received, address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

function notifier(address: string, bound: FluxReference[] = [KUSTOMIZATION], timeoutMs = 30_000) {
  const drops: string[] = [];
  const sink = createNotifier({
    address,
    instance: 'pod-1',
    boundObjects: async () => bound,
    dropped: (what) => drops.push(what),
    log: { debug: () => {} },
    timeoutMs,
  });
  return { ...sink, drops };
}

it('tells it as an event of each bound Kustomization and OCIRepository', async () => {
  const { received, address } = await receiver(202);
  const oci = { ...KUSTOMIZATION, apiVersion: 'source.toolkit.fluxcd.io/v1', kind: 'OCIRepository' };
  const sink = notifier(address, [KUSTOMIZATION, oci, { ...oci, kind: 'GitRepository' }]);
  sink.record(NEWS);
  await sink.idle();
  expect(received).toEqual([fluxEventOf(NEWS, KUSTOMIZATION, 'pod-1'), fluxEventOf(NEWS, oci, 'pod-1')]);
  expect(received[0]).toEqual({
    involvedObject: KUSTOMIZATION,
    severity: 'error',
    timestamp: '2026-01-02T12:00:00Z',
    message: 'A HealthCheck reported an error after bake started.',
    reason: 'BakeTimeFailed',
    metadata: {
      'kustomize.toolkit.fluxcd.io/rollout': 'web',
      'kustomize.toolkit.fluxcd.io/token': expect.stringMatching(/^[0-9a-f]{16}$/),
    },
    reportingController: 'rollout-controller',
    reportingInstance: 'pod-1',
  });
});

it('tells news of a Kustomization as its own', async () => {
  const { received, address } = await receiver(200);
  const sink = notifier(address);
  const { namespace, name, ...type } = KUSTOMIZATION;
  sink.record({ ...NEWS, type: 'Normal', regarding: { ...type, metadata: { namespace, name, uid: 'u' } } });
  await sink.idle();
  expect(received).toMatchObject([{ severity: 'info', involvedObject: { ...KUSTOMIZATION, uid: 'u' } }]);
});

it('takes 429 for told already', async () => {
  const { address } = await receiver(429);
  const sink = notifier(address);
  sink.record(NEWS);
  await sink.idle();
  expect(sink.drops).toEqual([]);
});

describe('costs nothing but the message', () => {
  it.each([500, 307])('when the answer is %i', async (status) => {
    const { address } = await receiver(status);
    const sink = notifier(address);
    sink.record(NEWS);
    await sink.idle();
    expect(sink.drops).toEqual(['notifications']);
  });

  it('when there is no answer, or nobody', async () => {
    const { address } = await receiver(0);
    for (const where of [address, 'http://127.0.0.1:1/', 'nonsense']) {
      const sink = notifier(where, [KUSTOMIZATION], 200);
      sink.record(NEWS);
      await sink.idle();
      expect(sink.drops).toEqual(['notifications']);
    }
  });

  it('when too many are waiting', async () => {
    const { address } = await receiver(202);
    const sink = notifier(address);
    for (let i = 0; i < 250; i++) sink.record(NEWS);
    expect(sink.drops).toHaveLength(48);
    await sink.idle();
  });
});
