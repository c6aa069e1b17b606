/** Builders of complete, valid objects, with overrides. */

import { apiVersionOf, KINDS, type KindName } from '../../api/kinds.ts';
import type { ObjectRef } from '../client/resources.ts';
import type { AnyObject } from '../client/send.ts';

interface Extras {
  annotations?: Record<string, string>;
  labels?: Record<string, string>;
  spec?: Record<string, unknown>;
}

const build = (apiVersion: string, kind: string) => {
  return (namespace: string | undefined, name: string, { annotations, labels, spec = {} }: Extras = {}): AnyObject => ({
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace && { namespace }),
      ...(annotations && { annotations }),
      ...(labels && { labels }),
    },
    spec,
  });
};

const typeOf = (kind: KindName) => [apiVersionOf(KINDS[kind]), kind] as const;
export const API = {
  rollout: typeOf('Rollout'),
  rolloutGate: typeOf('RolloutGate'),
  rolloutBudget: typeOf('RolloutBudget'),
  clusterRolloutBudget: typeOf('ClusterRolloutBudget'),
  fluxBinding: typeOf('FluxBinding'),
  healthCheck: typeOf('HealthCheck'),
  gate: typeOf('Gate'),
  kustomization: typeOf('Kustomization'),
  ociRepository: typeOf('OCIRepository'),
  helmRelease: typeOf('HelmRelease'),
  imagePolicy: typeOf('ImagePolicy'),
  configMap: ['v1', 'ConfigMap'],
} as const;

export function ref(kind: keyof typeof API, namespace: string | undefined, name: string): ObjectRef {
  return { apiVersion: API[kind][0], kind: API[kind][1], metadata: { name, namespace } };
}

/** A Rollout with the ImagePolicy of the same name, unless the spec names another. */
export function rollout(namespace: string, name: string, extras: Extras = {}): AnyObject {
  const spec = { releasesImagePolicy: { name }, ...extras.spec };
  return build(...API.rollout)(namespace, name, { ...extras, spec });
}

export function rolloutGate(namespace: string, name: string, rolloutName: string, spec: Record<string, unknown> = {}) {
  return build(...API.rolloutGate)(namespace, name, { spec: { rolloutRef: { name: rolloutName }, ...spec } });
}

/**
 * A RolloutBudget, or without a namespace a ClusterRolloutBudget. Selects every Rollout in its scope, unless the spec
 * has selectors.
 */
export function rolloutBudget(namespace: string | undefined, name: string, spec: Record<string, unknown>): AnyObject {
  const api = namespace ? API.rolloutBudget : API.clusterRolloutBudget;
  return build(...api)(namespace, name, {
    spec: { selector: {}, ...(!namespace && { namespaceSelector: {} }), ...spec },
  });
}

export function gate(namespace: string, name: string, extras: Extras = {}): AnyObject {
  return build(...API.gate)(namespace, name, {
    ...extras,
    spec: { default: 'closed', interval: '1m', ...extras.spec },
  });
}

/**
 * A Kustomization whose `variables` (name → Rollout) are managed fields, by the annotations
 * `rollout.kuberik.com/substitute.<VAR>.from`. Values of Git go into `spec.postBuild.substitute`.
 */
export function kustomization(
  namespace: string,
  name: string,
  { variables = {}, ...extras }: Extras & { variables?: Record<string, string> } = {},
): AnyObject {
  const marks = Object.entries(variables).map(([variable, rollout]) => [
    `rollout.kuberik.com/substitute.${variable}.from`,
    rollout,
  ]);
  const annotations = { ...Object.fromEntries(marks), ...extras.annotations };
  const spec = { interval: '10m', prune: true, sourceRef: { kind: 'OCIRepository', name }, path: './', ...extras.spec };
  return build(...API.kustomization)(namespace, name, { ...extras, annotations, spec });
}

/** An OCIRepository; `rollout` sets its tag. */
export function ociRepository(
  namespace: string,
  name: string,
  { rollout: managedBy, ...extras }: Extras & { rollout?: string } = {},
): AnyObject {
  const annotations = { ...(managedBy && { 'rollout.kuberik.com/rollout': managedBy }), ...extras.annotations };
  const spec = { interval: '10m', url: `oci://registry.example.com/${name}`, ...extras.spec };
  return build(...API.ociRepository)(namespace, name, { ...extras, annotations, spec });
}

/** A HelmRelease of the chart in the OCIRepository of the same name; `rollout` sets the tag of that OCIRepository. */
export function helmRelease(
  namespace: string,
  name: string,
  { rollout: followed, ...extras }: Extras & { rollout?: string } = {},
): AnyObject {
  const annotations = { ...(followed && { 'rollout.kuberik.com/rollout': followed }), ...extras.annotations };
  const spec = { interval: '10m', chartRef: { kind: 'OCIRepository', name }, ...extras.spec };
  return build(...API.helmRelease)(namespace, name, { ...extras, annotations, spec });
}

export function imagePolicy(namespace: string, name: string, spec: Record<string, unknown> = {}): AnyObject {
  const defaults = { imageRepositoryRef: { name }, policy: { semver: { range: '>=0.0.0' } } };
  return build(...API.imagePolicy)(namespace, name, { spec: { ...defaults, ...spec } });
}

export function configMap(namespace: string, name: string, data: Record<string, string>): AnyObject {
  const { spec: _, ...object } = build(...API.configMap)(namespace, name);
  return { ...object, data };
}
