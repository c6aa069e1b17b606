import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { HookCall, WebhookCall } from '../../api/ports.ts';
import { hookRoutes } from '../../hooks/index.ts';
import { webhookRoutes } from '../../webhooks/index.ts';

import { type Manifest, objectsBelow, ROOT } from './files.ts';

/** Only lists the routes: no handler is called. */
const hookPaths = hookRoutes(() => ({}) as HookCall).map(({ path }) => path);
const routesOfWebhooks = webhookRoutes(() => ({}) as WebhookCall);
const webhookPaths = routesOfWebhooks.map(({ path }) => path);
const INSTALL = readFileSync(join(ROOT, 'docs/install.md'), 'utf8');
const SERVICE = { name: 'rollout-hooks', namespace: 'rollout-hooks' };

const controllers = objectsBelow('controllers');
const hooksOf = (controller: Manifest) => Object.entries<any>(controller.spec.hooks);
const webhooks = objectsBelow('webhooks').flatMap(({ kind, webhooks }) =>
  webhooks.map((webhook: any) => ({ kind, name: webhook.name, webhook })),
);

describe('controllers', () => {
  it.each(controllers.map((controller) => [controller.metadata.name, controller] as const))(
    '%s calls routes that the hook server has, by their Service, in the strict version of the protocol',
    (_, controller) => {
      for (const [verb, { version, webhook }] of hooksOf(controller)) {
        expect(version).toBe('v2');
        expect(webhook.service).toEqual({ ...SERVICE, port: 80 });
        expect(hookPaths).toContain(webhook.path);
        expect(webhook.path).toMatch(new RegExp(`/${verb}$`));
      }
    },
  );

  it('use every route: none is left without a caller', () => {
    const called = controllers.flatMap((controller) => hooksOf(controller).map(([, { webhook }]) => webhook.path));
    expect([...new Set(called)].sort()).toEqual([...hookPaths].sort());
  });

  it('are all removed by the command of docs/install.md', () => {
    const command = INSTALL.split('kubectl delete compositecontrollers,decoratorcontrollers ')[1] ?? '';
    const removed = command.split(' --ignore-not-found')[0]!.split(/[\s\\]+/);
    expect(removed.sort()).toEqual(controllers.map(({ metadata }) => metadata.name).sort());
  });

  it('update their children: the default would create them once and never again', () => {
    const created = controllers.flatMap(({ spec }) => [...(spec.childResources ?? []), ...(spec.attachments ?? [])]);
    expect(created.length).toBeGreaterThan(0);
    for (const { updateStrategy } of created) expect(updateStrategy).toEqual({ method: 'InPlace' });
  });

  it('decorate without a selector: an object that leaves one loses its attachment', () => {
    const resources = controllers.flatMap(({ spec }) => spec.resources ?? []);
    expect(resources.length).toBeGreaterThan(0);
    for (const resource of resources) expect(resource).not.toHaveProperty('labelSelector');
  });

  it('generate the selector of every composite: our kinds have none', () => {
    const composites = controllers.filter(({ kind }) => kind === 'CompositeController');
    for (const { spec } of composites) expect(spec.generateSelector).toBe(true);
  });
});

/** Routes that record a bypass, or the deletion of an approval rule, as an Event. */
const RECORDS_EVENTS = [
  '/admission/mutate/flux',
  '/admission/mutate/flux-fails-open',
  '/admission/mutate/flux-metacontroller',
  '/admission/mutate/rollout',
  '/admission/validate/flux',
  '/admission/validate/rollout',
  '/admission/validate/rollout-status',
  '/admission/validate/gate',
  '/admission/validate/rolloutgate',
];

/** A second call wouldn't find the request that the first removes, or would mistake its suspension for the writer's. */
const CALLED_ONCE = /\/mutate\/(gate|rollout|rolloutgate|flux.*)$/;

describe('webhooks', () => {
  it('call every admission route of the server, and no other', () => {
    const called = webhooks.map(({ webhook }) => webhook.clientConfig.service.path);
    expect([...new Set(called)].sort()).toEqual([...webhookPaths].sort());
  });

  it('that fail open, or take Metacontroller’s writes, can’t be crowded out by others', () => {
    const apart = routesOfWebhooks.filter(({ hasOwnLane }) => hasOwnLane).map(({ path }) => path);
    expect(apart).toEqual(['/admission/mutate/flux-fails-open', '/admission/mutate/flux-metacontroller']);
  });

  it.each(webhooks.map(({ kind, name, webhook }) => [kind, name, webhook] as const))(
    '%s %s fails as it should, has no side effects in a dry run and answers within five seconds',
    (kind, name, webhook) => {
      expect(webhook).toMatchObject({
        // The API server calls it for every new Flux object of the cluster, gated or not.
        failurePolicy: /^flux-(unmarked|ungoverned)\./.test(name) ? 'Ignore' : 'Fail',
        sideEffects: RECORDS_EVENTS.includes(webhook.clientConfig.service.path) ? 'NoneOnDryRun' : 'None',
        timeoutSeconds: 5,
        matchPolicy: 'Equivalent',
        admissionReviewVersions: ['v1'],
        clientConfig: { service: { ...SERVICE, port: 443 } },
      });
      expect(webhook.clientConfig.service.path).toMatch(kind.startsWith('Mutating') ? /\/mutate\// : /\/validate\//);
      const isCalledOnce = CALLED_ONCE.test(webhook.clientConfig.service.path) && !name.startsWith('flux-unmarked.');
      const again = isCalledOnce ? 'Never' : 'IfNeeded';
      expect(webhook.reinvocationPolicy).toBe(kind.startsWith('Mutating') ? again : undefined);
      expect(webhook).not.toHaveProperty('namespaceSelector');
    },
  );
});

it('docs/install.md closes the webhook’s port by the rule of the NetworkPolicy that has it alone', () => {
  const [, index, port] = /path: \/spec\/ingress\/(\d+)\/ports\/0\/port, value: (\w+)/.exec(INSTALL) ?? [];
  const [policy] = objectsBelow('app').filter(({ kind }) => kind === 'NetworkPolicy');
  expect([port, policy?.spec.ingress[Number(index)]]).toEqual(['webhook', { ports: [{ port: 'webhook' }] }]);
});
