/**
 * Controllers of our own making, driven by whatever drives the cluster: the engine, or a real Metacontroller when
 * METACONTROLLER is set. A rule of test/cluster/driver that holds on one of them only is a fault of the engine.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import { type AnyObject, type ClusterView, ref, waitFor } from '../support/cluster.ts';
import { type Script, startScriptedHooks } from './scriptedHooks.ts';

/** A real Metacontroller learns of a new CRD within 30 s and tries a failed controller again in growing steps. */
const DISCOVERY_MS = 100_000;

/** Paths of a controller's hooks; see `calls`. */
interface Controller {
  name: string;
  path: string;
  customizePath: string;
}

interface ControllerOptions {
  /** On top of the controller's spec. */
  spec?: object;
  /** Added to the rule for its parents. */
  rule?: object;
  customize?: Script;
}

/** Installs a kind `Thing` for the tests of a file. */
export async function drivenThings({ admin }: ClusterView) {
  const id = `t${randomBytes(4).toString('hex')}`;
  const group = `${id}.example.com`;
  const apiVersion = `${group}/v1`;
  const namespace = id;
  const hooks = await startScriptedHooks();
  const made: AnyObject[] = [];
  let serial = 0;

  async function install(object: AnyObject): Promise<void> {
    await admin.create(object);
    made.push(object);
  }

  beforeAll(async () => {
    await install({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    for (const object of [...kindThing(group), ...rights(group)]) await install(object);
    // The driver has discovered the new kind once a controller for it works.
    const first = await composite({}, () => ({ body: { status: {} } }));
    await waitFor(() => thing('first', first), 'the API server to serve the new kind');
    await waitFor(() => hooks.calls(first.path).length > 0, 'the driver to find the new kind', DISCOVERY_MS);
  }, DISCOVERY_MS + 20_000);

  afterAll(async () => {
    for (const object of made.reverse()) await admin.remove(object);
  });

  async function controller(
    kind: string,
    specOf: (rule: object) => object,
    options: ControllerOptions,
    sync: Script,
  ): Promise<Controller> {
    serial += 1;
    const name = `${id}-${serial}`;
    const hook = (part: string, script: Script | undefined) =>
      script && { version: 'v2', webhook: { url: hooks.on(`/${name}/${part}`, script) } };
    const labelSelector = { matchLabels: { belongs: name } };
    await install({
      apiVersion: 'metacontroller.k8s.io/v1alpha1',
      kind,
      metadata: { name },
      spec: {
        ...specOf({ apiVersion, resource: 'things', labelSelector, ...options.rule }),
        ...options.spec,
        hooks: {
          sync: hook('sync', sync),
          customize: hook('customize', options.customize),
        },
      },
    });
    return { name, path: `/${name}/sync`, customizePath: `/${name}/customize` };
  }

  /** Children: ConfigMaps, updated in place by default. */
  function composite(options: ControllerOptions, sync: Script): Promise<Controller> {
    const childResources = [{ apiVersion: 'v1', resource: 'configmaps', updateStrategy: { method: 'InPlace' } }];
    return controller(
      'CompositeController',
      (parentResource) => ({ parentResource, generateSelector: true, childResources }),
      options,
      sync,
    );
  }

  /** Attachments: ConfigMaps, updated in place. */
  function decorator(options: ControllerOptions, sync: Script): Promise<Controller> {
    const attachments = [{ apiVersion: 'v1', resource: 'configmaps', updateStrategy: { method: 'InPlace' } }];
    return controller('DecoratorController', (rule) => ({ resources: [rule], attachments }), options, sync);
  }

  /** Creates a parent that belongs to the controller. */
  async function thing(
    name: string,
    { name: belongs }: Controller,
    { spec = {}, annotations }: { spec?: object; annotations?: Record<string, string> } = {},
  ): Promise<AnyObject> {
    const metadata = { namespace, name, labels: { belongs }, annotations };
    // Of a first try.
    if (await admin.find(thingRef(name))) await admin.remove(thingRef(name));
    return (await admin.create({ apiVersion, kind: 'Thing', metadata, spec })).object;
  }

  const thingRef = (name: string) => ({ apiVersion, kind: 'Thing', metadata: { namespace, name } });
  return {
    namespace,
    apiVersion,
    calls: hooks.calls,
    composite,
    decorator,
    thing,
    thingRef,
    statusOf: async (name: string) => (await admin.get(thingRef(name))).status,
    settings: (name: string) => ref('configMap', namespace, name),
  };
}

function kindThing(group: string): AnyObject[] {
  const anyFields = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    subresources: { status: {} },
    schema: { openAPIV3Schema: { type: 'object', properties: { spec: anyFields, status: anyFields } } },
  };
  const names = { kind: 'Thing', plural: 'things', singular: 'thing' };
  return [
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `things.${group}` },
      spec: { group, scope: 'Namespaced', names, versions: [version] },
    },
  ];
}

/** The driver has Metacontroller's rights in our manifests, which don't include this kind. */
function rights(group: string): AnyObject[] {
  const rbac = 'rbac.authorization.k8s.io';
  const metadata = { name: group };
  const rules = [{ apiGroups: ['', group], resources: ['*'], verbs: ['*'] }];
  const subjects = [{ kind: 'ServiceAccount', name: 'metacontroller', namespace: 'metacontroller' }];
  const roleRef = { apiGroup: rbac, kind: 'ClusterRole', name: group };
  return [
    { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata, rules },
    { apiVersion: `${rbac}/v1`, kind: 'ClusterRoleBinding', metadata, roleRef, subjects },
  ];
}

/** A ConfigMap as a hook answers it. */
export function child(name: string, data: Record<string, string>) {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
}

/** A customize hook that relates ConfigMaps. */
export function related(rules: object[]): Script {
  const relatedResources = rules.map((rule) => ({ apiVersion: 'v1', resource: 'configmaps', ...rule }));
  return () => ({ body: { relatedResources } });
}
