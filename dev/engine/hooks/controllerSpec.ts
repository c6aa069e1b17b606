/** The custom resources that describe controllers, as far as ours use them: what they ask for beyond that is refused, never ignored. */
import type { KubeObject, LabelSelector } from '../../../api/kubernetes.ts';
import { type Check, fieldsOf, flag, labelSelector, listOf, number, oneOf, text } from '../json/shape.ts';

interface ResourceRule {
  apiVersion: string;
  /** Plural, lower case. */
  resource: string;
}

export interface ChildRule extends ResourceRule {
  updateStrategy?: { method?: UpdateMethod };
}

/** OnDelete, the default, never updates a child. */
export type UpdateMethod = 'OnDelete' | 'InPlace';

export interface ParentRule extends ResourceRule {
  /** None of our controllers has one: the tests use it to tell their own controllers apart. */
  labelSelector?: LabelSelector;
  ignoreStatusChanges?: boolean;
}

export interface Webhook {
  url: string;
  /** Go duration. */
  timeout?: string;
}

export interface Authorization {
  type?: 'Bearer';
  secretRef: { name: string; namespace: string; key: string };
}

/** Settings of all hooks at a host. */
export interface EndpointConfig {
  /** With or without the port. */
  host: string;
  authorization?: Authorization;
}

export interface HookSpec {
  version: 'v2';
  webhook: Webhook;
}

// Aliases, not interfaces: only these can be looked at as plain KubeObjects.
type CommonSpec = {
  hooks: { sync: HookSpec; customize?: HookSpec };
  resyncPeriodSeconds?: number;
  endpointConfigs?: EndpointConfig[];
};

export type CompositeController = KubeObject & {
  spec: CommonSpec & {
    parentResource: ParentRule;
    childResources?: ChildRule[];
    generateSelector: true;
  };
};

export type DecoratorController = KubeObject & {
  spec: CommonSpec & {
    resources: ParentRule[];
    attachments?: ChildRule[];
  };
};

const resourceFields = { apiVersion: text, resource: text };
const parentRule = fieldsOf({ ...resourceFields, labelSelector, ignoreStatusChanges: flag }, 'apiVersion', 'resource');
const updateStrategy = fieldsOf({ method: oneOf('OnDelete', 'InPlace') });
const childRules = listOf(fieldsOf({ ...resourceFields, updateStrategy }, 'apiVersion', 'resource'));
const webhook = fieldsOf({ url: text, timeout: text }, 'url');
// Without a version it is v1, whose requests have another shape.
const hook = fieldsOf({ version: oneOf('v2'), webhook }, 'version', 'webhook');
const secretRef = fieldsOf({ name: text, namespace: text, key: text }, 'name', 'namespace', 'key');
const authorization = fieldsOf({ type: oneOf('Bearer'), secretRef }, 'secretRef');
const commonFields = {
  hooks: fieldsOf({ sync: hook, customize: hook }, 'sync'),
  resyncPeriodSeconds: number,
  endpointConfigs: listOf(fieldsOf({ host: text, authorization }, 'host')),
};
const compositeSpec = fieldsOf(
  { ...commonFields, parentResource: parentRule, childResources: childRules, generateSelector: oneOf(true) },
  'hooks',
  'parentResource',
  'generateSelector',
);
const decoratorSpec = fieldsOf(
  { ...commonFields, resources: listOf(parentRule), attachments: childRules },
  'hooks',
  'resources',
);

/** Throws for what only the real Metacontroller does. */
export function compositeController(object: KubeObject): CompositeController {
  requireSupported(compositeSpec, object);
  return object as CompositeController;
}

/** Throws for what only the real Metacontroller does. */
export function decoratorController(object: KubeObject): DecoratorController {
  requireSupported(decoratorSpec, object);
  return object as DecoratorController;
}

function requireSupported(check: Check, { spec }: KubeObject): void {
  try {
    check(spec, 'spec');
  } catch (error) {
    throw new Error(`the engine does not do this: ${(error as Error).message}`);
  }
}
