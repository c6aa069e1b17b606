import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../api/kubernetes.ts';
import { compositeController, decoratorController } from '../../../../dev/engine/hooks/controllerSpec.ts';
import { renderInstallation } from '../../../../dev/local/install/installation.ts';
import { useLoopback } from '../../../../dev/local/install/references.ts';

const parent = { apiVersion: 'v1', resource: 'things' };
const hook = { version: 'v2', webhook: { url: 'http://127.0.0.1/sync' } };
const composite = { generateSelector: true, parentResource: parent, hooks: { sync: hook } };
const decorator = { resources: [parent], hooks: { sync: hook } };
const object = (spec: object) => ({ apiVersion: 'x/v1', kind: 'X', metadata: {}, spec }) as KubeObject;

// The first one on a machine builds kustomize.
it('every controller that we ship is supported', { timeout: 300_000 }, async () => {
  const components = ['authenticated-hooks', 'health-jobs', 'release-config-map', 'release-copies', 'write-back'];
  const { controllers } = await renderInstallation(components);
  expect(controllers.length).toBeGreaterThan(0);
  for (const controller of controllers) {
    const check = controller.kind === 'CompositeController' ? compositeController : decoratorController;
    expect(() => check(useLoopback(controller, { hooksPort: 1, webhookPort: 2, ca: '' }))).not.toThrow();
  }
});

describe('unsupported features are refused, not ignored', () => {
  it.each<[string, object, string]>([
    ['a selector of its own', { generateSelector: false }, 'spec.generateSelector: Invalid input: expected true'],
    ['no generated selector', { generateSelector: undefined }, 'spec.generateSelector: Invalid input: expected true'],
    ['a finalize hook', { hooks: { sync: hook, finalize: hook } }, 'spec.hooks: Unrecognized key: "finalize"'],
    ['no sync hook', { hooks: {} }, 'spec.hooks.sync: Invalid input: expected object, received undefined'],
    [
      'hooks of version v1',
      { hooks: { sync: { ...hook, version: 'v1' } } },
      'spec.hooks.sync.version: Invalid input: expected "v2"',
    ],
    [
      'no version, which is v1',
      { hooks: { sync: { webhook: hook.webhook } } },
      'spec.hooks.sync.version: Invalid input: expected "v2"',
    ],
    [
      'a Service',
      { hooks: { sync: { ...hook, webhook: { path: '/sync' } } } },
      'spec.hooks.sync.webhook: Unrecognized key: "path"',
    ],
    [
      'an ETag cache',
      { hooks: { sync: { ...hook, webhook: { ...hook.webhook, etag: {} } } } },
      'webhook: Unrecognized key: "etag"',
    ],
    [
      'another scheme than Bearer',
      { endpointConfigs: [{ host: 'a', authorization: { type: 'Basic' } }] },
      'authorization.type: Invalid input: expected "Bearer"',
    ],
    [
      'passwords',
      { endpointConfigs: [{ host: 'a', basicAuth: {} }] },
      'spec.endpointConfigs.0: Unrecognized key: "basicAuth"',
    ],
    [
      'another update strategy',
      { childResources: [{ ...parent, updateStrategy: { method: 'Recreate' } }] },
      'spec.childResources.0.updateStrategy.method: Invalid option: expected one of "OnDelete"|"InPlace"',
    ],
  ])('composite: %s', (_what, change, message) => {
    expect(() => compositeController(object(composite))).not.toThrow();
    expect(() => compositeController(object(JSON.parse(JSON.stringify({ ...composite, ...change }))))).toThrow(message);
  });

  it.each<[string, object, string]>([
    ['annotations that select', { resources: [{ ...parent, annotationSelector: {} }] }, 'annotationSelector'],
    ['no resources', { resources: null }, 'spec.resources: Invalid input: expected array, received null'],
  ])('decorator: %s', (_what, change, message) => {
    expect(() => decoratorController(object(decorator))).not.toThrow();
    expect(() => decoratorController(object({ ...decorator, ...change }))).toThrow(message);
  });
});
