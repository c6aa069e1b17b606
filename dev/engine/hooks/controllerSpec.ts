/**
 * The custom resources that describe controllers, with the fields that ours use. Other fields are refused, never
 * ignored.
 */
import { z } from 'zod';
import type { KubeObject } from '../../../api/kubernetes.ts';
import { labelSelector, requireShape } from '../json/schemas.ts';

/** `resource`: plural, lower case. */
const resource = { apiVersion: z.string(), resource: z.string() };
const parentRule = z.strictObject({
  ...resource,
  /** None of our controllers has one: the tests use it to tell their own controllers apart. */
  labelSelector: labelSelector.optional(),
  ignoreStatusChanges: z.boolean().optional(),
});
/** OnDelete, the default, never updates a child. */
const updateMethod = z.enum(['OnDelete', 'InPlace']);
const childRule = z.strictObject({
  ...resource,
  updateStrategy: z.strictObject({ method: updateMethod.optional() }).optional(),
});
/** `timeout`: a Go duration. Without a version it is v1, whose requests have another shape. */
const hook = z.strictObject({
  version: z.literal('v2'),
  webhook: z.strictObject({ url: z.string(), timeout: z.string().optional() }),
});
const authorization = z.strictObject({
  type: z.literal('Bearer').optional(),
  secretRef: z.strictObject({ name: z.string(), namespace: z.string(), key: z.string() }),
});
/** Settings of all hooks at a host, with or without the port. */
const endpointConfig = z.strictObject({ host: z.string(), authorization: authorization.optional() });
const common = {
  hooks: z.strictObject({ sync: hook, customize: hook.optional() }),
  resyncPeriodSeconds: z.number().optional(),
  endpointConfigs: z.array(endpointConfig).optional(),
};
const compositeSpec = z.strictObject({
  ...common,
  parentResource: parentRule,
  childResources: z.array(childRule).optional(),
  generateSelector: z.literal(true),
});
const decoratorSpec = z.strictObject({
  ...common,
  resources: z.array(parentRule),
  attachments: z.array(childRule).optional(),
});

export type ParentRule = z.infer<typeof parentRule>;
export type UpdateMethod = z.infer<typeof updateMethod>;
export type ChildRule = z.infer<typeof childRule>;
export type HookSpec = z.infer<typeof hook>;
export type Authorization = z.infer<typeof authorization>;
export type EndpointConfig = z.infer<typeof endpointConfig>;
export type CompositeController = KubeObject & { spec: z.infer<typeof compositeSpec> };
export type DecoratorController = KubeObject & { spec: z.infer<typeof decoratorSpec> };

/** Throws for what only the real Metacontroller does. */
export const compositeController = (object: KubeObject) => supported<CompositeController>(object, compositeSpec);

/** Throws for what only the real Metacontroller does. */
export const decoratorController = (object: KubeObject) => supported<DecoratorController>(object, decoratorSpec);

function supported<T extends KubeObject>(object: KubeObject, schema: z.ZodType): T {
  try {
    requireShape({ spec: object.spec }, z.object({ spec: schema }));
  } catch (error) {
    throw new Error(`the engine does not do this: ${(error as Error).message}`);
  }
  return object as T;
}
