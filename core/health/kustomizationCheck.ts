/** What a HealthCheck of class kustomization asks for: which Kustomization it is about, and how often to look. */
import {
  HEALTHCHECK_GRACE_PERIOD,
  HEALTHCHECK_KUSTOMIZATION,
  HEALTHCHECK_REQUEUE_INTERVAL,
} from '../../api/annotations.ts';
import type { FluxObject, Kustomization } from '../../api/flux.ts';
import type { EpochMs, NamespacedName } from '../../api/kubernetes.ts';
import type { HealthCheck } from '../../api/types.ts';
import { conditionsOf } from '../kstatus/fields.ts';
import { parseDuration } from '../kube/duration.ts';
import { shortHash } from '../kube/names.ts';
import { parseTime } from '../kube/time.ts';
import type { Verdict } from './healthStatus.ts';

export const KUSTOMIZATION_CLASS = 'kustomization';

/** How often a check that is not at rest is evaluated. */
const DEFAULT_INTERVAL_MS = 30_000;
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

/** Milliseconds: 30 s if the annotation is absent or does not parse, at least 5 s. */
export function requeueInterval(healthCheck: HealthCheck): number {
  const wanted = parseDuration(healthCheck.metadata.annotations?.[HEALTHCHECK_REQUEUE_INTERVAL]) ?? DEFAULT_INTERVAL_MS;
  return Math.max(wanted, MIN_MS);
}

const DEFAULT_GRACE_MS = 60_000;

/** Milliseconds: a minute if the annotation is absent or does not parse. */
export function gracePeriod(healthCheck: HealthCheck): number {
  return parseDuration(healthCheck.metadata.annotations?.[HEALTHCHECK_GRACE_PERIOD]) ?? DEFAULT_GRACE_MS;
}

// How often a HealthCheck of class kustomization is looked at.
// Each look reads its Kustomization, the source and what was applied from the API server.
// What is Healthy while nobody bakes on it is at rest: it is looked at seldom, and whoever is about to deploy looks
// once more (hooks/rollout/rolloutHook.ts). So is what waits for an event: of a thousand that Flux has yet to reconcile,
// evaluating each twice a minute would delay exactly that.

const REST_MS = 600_000;

/** @param isWatched a Rollout bakes on it, or may do so unseen */
export function isAtRest({ metadata, spec, status }: HealthCheck, isWatched: boolean): boolean {
  if (isWatched || spec?.class !== KUSTOMIZATION_CLASS) return false;
  // Whoever names an interval gets it.
  const wanted = parseDuration(metadata.annotations?.[HEALTHCHECK_REQUEUE_INTERVAL]);
  return wanted === undefined && status?.status === 'Healthy';
}

/** Whether it is at rest after a look: by what could not be read it is not. */
export function restsAfter(healthCheck: HealthCheck, { health, waitsForEvent }: Verdict, isWatched: boolean): boolean {
  const asHealthy = { ...healthCheck, status: { ...healthCheck.status, status: 'Healthy' } };
  if (waitsForEvent) return isAtRest(asHealthy, false);
  return health === 'Healthy' && isAtRest(asHealthy, isWatched);
}

/**
 * Milliseconds.
 * At rest ten minutes, plus or minus a fifth: checks that were evaluated together after a restart drift apart.
 */
export function nextLookup(healthCheck: HealthCheck, atRest: boolean): number {
  if (!atRest) return requeueInterval(healthCheck);
  const fraction = Number.parseInt(shortHash(healthCheck.metadata.uid ?? '').slice(0, 4), 16) / 0xffff;
  return REST_MS * (0.8 + 0.4 * fraction);
}

/**
 * Whether Flux began a moment ago to reconcile: it writes what it is doing several times a second, and at the end how
 * it went. That is the time to look; what takes longer is looked at meanwhile.
 */
export function fluxIsAtWork(kustomization: Kustomization | undefined, now: EpochMs): boolean {
  if (!kustomization) return false;
  const began = conditionsOf(kustomization as FluxObject).find(
    ({ type, status, reason }) => type === 'Reconciling' && status === 'True' && reason === 'Progressing',
  );
  const since = now - (parseTime(began?.lastTransitionTime) ?? Number.NEGATIVE_INFINITY);
  return since < DEFAULT_INTERVAL_MS && since > -DEFAULT_INTERVAL_MS;
}
