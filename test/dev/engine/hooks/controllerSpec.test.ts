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
it('every controller that we ship is supported', async () => {
  const components = ['authenticated-hooks', 'health-jobs', 'release-config-map', 'release-copies', 'write-back'];
  const { controllers } = await renderInstallation(components);
  expect(controllers.length).toBeGreaterThan(0);
  for (const controller of controllers) {
    const check = controller.kind === 'CompositeController' ? compositeController : decoratorController;
    expect(() => check(useLoopback(controller, { hooksPort: 1, webhookPort: 2, ca: '' }))).not.toThrow();
  }
});

describe('a field that the engine does not know is refused, not ignored', () => {
  it.each<[string, () => unknown, string]>([
    ['composite', () => compositeController(object({ ...composite, revisionHistory: {} })), '"revisionHistory"'],
    [
      'composite, in a hook',
      () => compositeController(object({ ...composite, hooks: { sync: hook, finalize: hook } })),
      'spec.hooks: Unrecognized key: "finalize"',
    ],
    ['decorator', () => decoratorController(object({ ...decorator, resources: null })), 'spec.resources'],
  ])('%s', (_, check, message) => {
    expect(check).toThrow(message);
  });
});
