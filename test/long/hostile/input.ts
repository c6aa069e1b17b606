/** A hostile input: a request body, its routes, and the stored objects. */
import type { KubeObject } from '../../../api/kubernetes.ts';
import { composing, decorating, requestOf, reviewing } from '../../../dev/fakes/requests.ts';

export type AnyObject = KubeObject<any, any>;

export interface Input {
  /** Route paths that the body is sent to, one after the other. */
  paths: string[];
  body: unknown;
  /** Objects that live reads find. Those that are read count as input. */
  stored?: AnyObject[];
}

const NAMESPACE = 'shop';
export const NOW = Date.parse('2026-03-04T10:00:00Z');

export function times<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i));
}

export function object(apiVersion: string, kind: string, fields: Partial<AnyObject> = {}): AnyObject {
  const metadata = { name: 'web', namespace: NAMESPACE, uid: 'uid-web', generation: 1, ...fields.metadata };
  return { apiVersion, kind, ...fields, metadata };
}

export const kustomization = (fields: Partial<AnyObject> = {}): AnyObject =>
  object('kustomize.toolkit.fluxcd.io/v1', 'Kustomization', {
    ...fields,
    spec: { interval: '10m', prune: true, sourceRef: { kind: 'GitRepository', name: 'web' }, ...fields.spec },
  });

export const gate = (fields: Partial<AnyObject> = {}): AnyObject =>
  object('gating.toolkit.fluxcd.io/v1alpha1', 'Gate', { ...fields, spec: { default: 'opened', ...fields.spec } });

export const rollout = (fields: Partial<AnyObject> = {}): AnyObject =>
  object('kuberik.com/v1alpha1', 'Rollout', {
    ...fields,
    spec: { releasesImagePolicy: { name: 'web' }, ...fields.spec },
  });

export const review = (object: AnyObject | null, oldObject: AnyObject | null = null, more = {}) =>
  reviewing(requestOf({ object, oldObject, ...more }));

/** A write through both webhooks. `what`: the end of their paths. */
export function written(what: string, object: AnyObject, oldObject?: AnyObject, stored?: AnyObject[]): Input {
  const paths = [`/admission/mutate/${what}`, `/admission/validate/${what}`];
  return { paths, body: review(object, oldObject ?? null), ...(stored && { stored }) };
}

const DECORATORS = ['flux', 'healthcheck', 'rolloutgate', 'rolloutbudget-slots'];

export function synced(hook: string, about: AnyObject, related: AnyObject[] = [], stored?: AnyObject[]): Input {
  const body = (DECORATORS.includes(hook) ? decorating : composing)(about, { related });
  return { paths: [`/hooks/${hook}/sync`], body, ...(stored && { stored }) };
}

/** A text of this many kilobytes. */
export const text = (kilobytes: number, of = 'x') => of.repeat(Math.ceil((kilobytes * 1024) / of.length));

/** A value nested this deep: `{a: {a: … inner}}`. */
export function nested(depth: number, inner: unknown): unknown {
  let value = inner;
  for (let i = 0; i < depth; i++) value = { a: value };
  return value;
}
