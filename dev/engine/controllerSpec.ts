/** The custom resources that describe controllers, as far as the engine reads them. */
import type { KubeObject, LabelSelector, LabelSelectorRequirement } from '../../api/kubernetes.ts';

export interface ResourceRule {
  apiVersion: string;
  /** Plural, lower case. */
  resource: string;
}

export type UpdateMethod = 'OnDelete' | 'Recreate' | 'InPlace' | 'RollingRecreate' | 'RollingInPlace';

export interface ChildRule extends ResourceRule {
  updateStrategy?: { method?: UpdateMethod };
}

export interface ParentRule extends ResourceRule {
  labelSelector?: LabelSelector;
  ignoreStatusChanges?: boolean;
}

export interface DecoratedRule extends ParentRule {
  annotationSelector?: { matchAnnotations?: Record<string, string>; matchExpressions?: LabelSelectorRequirement[] };
}

export interface Webhook {
  url?: string;
  path?: string;
  service?: { name: string; namespace: string; port?: number; protocol?: string };
  /** Go duration. */
  timeout?: string;
  responseUnMarshallMode?: 'loose' | 'strict';
  etag?: { enabled?: boolean };
  caBundle?: unknown;
  clientTLS?: unknown;
  authorization?: Authorization;
  basicAuth?: unknown;
}

export interface Authorization {
  /** `Bearer` when absent. */
  type?: string;
  secretRef: { name: string; namespace: string; key: string };
}

/** Settings of all hooks at a host, for those that have none of their own. */
export interface EndpointConfig {
  /** With or without the port. */
  host: string;
  caBundle?: unknown;
  clientTLS?: unknown;
  authorization?: Authorization;
  basicAuth?: unknown;
}

export interface HookSpec {
  version?: 'v1' | 'v2';
  webhook?: Webhook;
}

export interface Hooks {
  customize?: HookSpec;
  sync?: HookSpec;
  finalize?: HookSpec;
}

// Aliases, not interfaces: only these can be looked at as plain KubeObjects.
type CommonSpec = {
  hooks?: Hooks;
  resyncPeriodSeconds?: number;
  endpointConfigs?: EndpointConfig[];
};

export type CompositeSpec = CommonSpec & {
  parentResource: ParentRule;
  childResources?: ChildRule[];
  generateSelector?: boolean;
};

export type DecoratorSpec = CommonSpec & {
  resources: DecoratedRule[];
  attachments?: ChildRule[];
};

export type CompositeController = KubeObject & { spec: CompositeSpec };
export type DecoratorController = KubeObject & { spec: DecoratorSpec };

/** A controller asks for something that the real Metacontroller does and the engine does not. */
export class NotSupportedError extends Error {}
