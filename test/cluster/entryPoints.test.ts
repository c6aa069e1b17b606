/** The ports of the hook server, called by a client that is neither the API server nor Metacontroller. */
import { describe, expect, it } from 'vitest';
import { ask, REVIEW } from '../server/program.ts';
import { gate, ref, sharedCluster, waitFor } from './support/cluster.ts';

const { admin, sre, newNamespace } = sharedCluster();

describe('the port of the webhook', () => {
  it('answers only the API server', async () => {
    const ns = await newNamespace();
    await sre.create(gate(ns, 'freeze', { spec: { default: 'closed', window: '1h' } }));
    const configuration = await admin.get({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: 'rollout-hooks' },
    });
    const { url: address, caBundle } = configuration.webhooks.at(-1).clientConfig;
    const url = new URL(address);
    const ca = Buffer.from(caBundle, 'base64');
    const forged = await ask({ port: Number(url.port), path: '/admission/mutate/gate', ca, agent: false }, REVIEW);
    expect([forged.status, JSON.parse(forged.text).error]).toEqual([401, expect.stringContaining('none was sent')]);
    expect((await admin.get(ref('gate', ns, 'freeze'))).spec.window).toBe('1h');
  });
});

describe('the port of the hooks', () => {
  it('answers only Metacontroller', async () => {
    const ns = await newNamespace();
    await sre.create(gate(ns, 'freeze'));
    await waitFor(
      async () => (await admin.get(ref('gate', ns, 'freeze'))).status?.conditions !== undefined,
      'the hook of Gates to be called',
    );
    const controller = await admin.get({
      apiVersion: 'metacontroller.k8s.io/v1alpha1',
      kind: 'CompositeController',
      metadata: { name: 'gates' },
    });
    const response = await fetch(controller.spec.hooks.sync.webhook.url, { method: 'POST', body: '{}' });
    expect([response.status, await response.json()]).toEqual([
      401,
      { error: expect.stringContaining('none was sent') },
    ]);
  });
});
