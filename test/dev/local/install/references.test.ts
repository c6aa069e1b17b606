import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AnyObject } from '../../../../dev/client/send.ts';
import { readManifests } from '../../../../dev/local/install/manifests.ts';
import { useLoopback } from '../../../../dev/local/install/references.ts';
import { REPOSITORY } from '../../../../dev/repository.ts';

const server = { hooksPort: 8081, webhookPort: 8443, ca: 'PEM' };
const service = { name: 'rollout-hooks', namespace: 'rollout-hooks', port: 80 };

const controller = (hooks: unknown): AnyObject => ({
  apiVersion: 'metacontroller.k8s.io/v1alpha1',
  kind: 'CompositeController',
  metadata: { name: 'rollouts' },
  spec: { generateSelector: true, hooks },
});

const configuration = (clientConfig: unknown): AnyObject => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name: 'rollout-hooks' },
  webhooks: [{ name: 'flux.admission.kuberik.com', clientConfig, failurePolicy: 'Fail' }],
});

describe('useLoopback', () => {
  it.each([
    {
      name: "a controller's hook gets the URL of its path and keeps its options",
      before: controller({
        sync: { version: 'v2', webhook: { service, path: '/hooks/rollout/sync', timeout: '10s' } },
      }),
      after: controller({
        sync: { version: 'v2', webhook: { timeout: '10s', url: 'http://127.0.0.1:8081/hooks/rollout/sync' } },
      }),
    },
    {
      name: 'a hook without a path',
      before: controller({ customize: { webhook: { service } } }),
      after: controller({ customize: { webhook: { url: 'http://127.0.0.1:8081/' } } }),
    },
    {
      name: 'a hook that is a URL already stays',
      before: controller({ sync: { webhook: { url: 'http://elsewhere/sync' } } }),
      after: controller({ sync: { webhook: { url: 'http://elsewhere/sync' } } }),
    },
    {
      name: 'a webhook gets the URL and the authority',
      before: configuration({ service: { ...service, port: 443, path: '/admission/validate/flux' } }),
      after: configuration({ url: 'https://127.0.0.1:8443/admission/validate/flux', caBundle: 'UEVN' }),
    },
    {
      name: 'a webhook that is a URL already stays',
      before: configuration({ url: 'https://elsewhere/' }),
      after: configuration({ url: 'https://elsewhere/' }),
    },
    {
      name: 'other kinds stay',
      before: {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'x' },
        spec: { hooks: { sync: { webhook: { service } } } },
      },
      after: {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'x' },
        spec: { hooks: { sync: { webhook: { service } } } },
      },
    },
  ])('$name', ({ before, after }) => {
    const untouched = structuredClone(before);
    expect(useLoopback(before, server)).toEqual(after);
    expect(before).toEqual(untouched);
  });

  it.each(['controllers', 'webhooks'])('leaves no Service reference in manifests/%s', (folder) => {
    const objects = readManifests(join(REPOSITORY, 'manifests', folder)).map((object) => useLoopback(object, server));
    expect(objects.length).toBeGreaterThan(0);
    expect(JSON.stringify(objects)).not.toContain('"service"');
  });
});

describe('readManifests', () => {
  it('reads every file but kustomization.yaml', () => {
    const folder = join(REPOSITORY, 'manifests/crds');
    const files = readdirSync(folder).filter((file) => file.endsWith('.yaml') && file !== 'kustomization.yaml');
    expect(readManifests(folder).map(({ kind }) => kind)).toEqual(files.map(() => 'CustomResourceDefinition'));
  });

  it('finds nothing where there is no folder', () => {
    expect(readManifests(join(REPOSITORY, 'manifests/none'))).toEqual([]);
  });
});
