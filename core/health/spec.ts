/** What a HealthCheck of class kustomization asks for: which Kustomization it is about, and how often to look. */
import {
  HEALTHCHECK_GRACE_PERIOD,
  HEALTHCHECK_KUSTOMIZATION,
  HEALTHCHECK_REQUEUE_INTERVAL,
} from '../../api/annotations.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { HealthCheck } from '../../api/types.ts';
import { parseDuration } from '../kube/duration.ts';

export const KUSTOMIZATION_CLASS = 'kustomization';

/** A check that is not at rest is looked at so often. */
export const DEFAULT_INTERVAL_MS = 30_000;
const MIN_MS = 5_000;

/** `name` or `namespace/name` of the annotation, or what is wrong with it in the Go controller's words. */
export function kustomizationRef(
  healthCheck: HealthCheck,
  ownNamespaceOnly: boolean,
): NamespacedName | { problem: string } {
  const ref = named(healthCheck);
  if (!ownNamespaceOnly || 'problem' in ref || ref.namespace === healthCheck.metadata.namespace) return ref;
  return {
    problem: `Kustomization '${ref.namespace}/${ref.name}' is in another namespace, which this installation forbids`,
  };
}

function named(healthCheck: HealthCheck): NamespacedName | { problem: string } {
  const { annotations, namespace = '' } = healthCheck.metadata;
  if (!annotations) return { problem: 'no annotations found on HealthCheck' };
  const text = annotations[HEALTHCHECK_KUSTOMIZATION];
  if (text === undefined) return { problem: `annotation ${HEALTHCHECK_KUSTOMIZATION} not found` };
  const parts = text.split('/');
  const [first = '', second = ''] = parts;
  if (parts.length === 1 && first !== '') return { namespace, name: first };
  if (parts.length === 2 && first !== '' && second !== '') return { namespace: first, name: second };
  return { problem: `invalid kustomization reference format: ${text}` };
}

/** Milliseconds: 30 s where the annotation is absent or does not parse, at least 5 s. */
export function requeueInterval(healthCheck: HealthCheck): number {
  const wanted = parseDuration(healthCheck.metadata.annotations?.[HEALTHCHECK_REQUEUE_INTERVAL]) ?? DEFAULT_INTERVAL_MS;
  return Math.max(wanted, MIN_MS);
}

const DEFAULT_GRACE_MS = 60_000;

/** Milliseconds: a minute where the annotation is absent or does not parse. */
export function gracePeriod(healthCheck: HealthCheck): number {
  return parseDuration(healthCheck.metadata.annotations?.[HEALTHCHECK_GRACE_PERIOD]) ?? DEFAULT_GRACE_MS;
}
