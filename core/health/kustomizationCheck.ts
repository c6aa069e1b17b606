/** The settings of a HealthCheck of class kustomization: its Kustomization, and its interval. */
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
import { uidFraction } from '../kube/names.ts';
import { parseTime } from '../kube/time.ts';
import { explainsAt, type Verdict } from './healthStatus.ts';

export const KUSTOMIZATION_CLASS = 'kustomization';

/** The default interval of a check that is not at rest. */
const DEFAULT_INTERVAL_MS = 30_000;
const MIN_INTERVAL_MS = 5_000;

/** The `name` or `namespace/name` in the annotation, or its problem in the Go controller's words. */
export function kustomizationRef(
  healthCheck: HealthCheck,
  noCrossNamespaceRefs: boolean,
): NamespacedName | { problem: string } {
  const ref = annotatedRef(healthCheck);
  if (!noCrossNamespaceRefs || 'problem' in ref || ref.namespace === healthCheck.metadata.namespace) return ref;
  return {
    problem: `Kustomization '${ref.namespace}/${ref.name}' is in another namespace, which this installation forbids`,
  };
}

function annotatedRef(healthCheck: HealthCheck): NamespacedName | { problem: string } {
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

/** The interval in milliseconds: 30 s if the annotation is absent or does not parse, at least 5 s. */
export function requeueInterval(healthCheck: HealthCheck): number {
  const wanted = parseDuration(healthCheck.metadata.annotations?.[HEALTHCHECK_REQUEUE_INTERVAL]) ?? DEFAULT_INTERVAL_MS;
  return Math.max(wanted, MIN_INTERVAL_MS);
}

const DEFAULT_GRACE_MS = 60_000;

/** The grace period in milliseconds: a minute if the annotation is absent or does not parse. */
export function gracePeriod(healthCheck: HealthCheck): number {
  return parseDuration(healthCheck.metadata.annotations?.[HEALTHCHECK_GRACE_PERIOD]) ?? DEFAULT_GRACE_MS;
}

// The intervals of HealthChecks of class kustomization (docs/healthchecks.md, "At rest"). Each evaluation reads its
// Kustomization, the source and the applied objects from the API server. If a thousand checks wait for Flux, frequent
// evaluations would delay Flux. A Rollout evaluates resting checks once more before it deploys, begins a bake or ends
// it (hooks/rollout/healthReads.ts).

const REST_INTERVAL_MS = 600_000;

/** Whether the check may ever be at rest: not if its annotation has an interval. */
export function mayRest({ metadata, spec }: HealthCheck): boolean {
  const wanted = parseDuration(metadata.annotations?.[HEALTHCHECK_REQUEUE_INTERVAL]);
  return spec?.class === KUSTOMIZATION_CLASS && wanted === undefined;
}

/**
 * Whether the check is at rest.
 * @param isWatched whether a Rollout bakes on it
 */
export function isAtRest(healthCheck: HealthCheck, isWatched: boolean): boolean {
  return !isWatched && mayRest(healthCheck) && healthCheck.status?.status === 'Healthy';
}

/**
 * Whether a check that may rest is at rest after this verdict.
 * @param isTriggered whether a change of the Kustomization triggers a sync
 */
export function restsAfter({ health, waitsForEvent }: Verdict, isWatched: boolean, isTriggered: boolean): boolean {
  return waitsForEvent ? isTriggered : health === 'Healthy' && !isWatched;
}

/**
 * Milliseconds to the next evaluation of a check with this status. At rest it is ten minutes, plus or minus a fifth, so
 * that checks that were evaluated together after a restart drift apart. It is shorter if a reset check has yet to
 * report what it waits for. While a deployment waits for its bake, the interval of a Healthy check is the time for
 * which it has been Healthy.
 * @param isAwaited whether a deployment waits for its bake
 */
export function msUntilEvaluation(healthCheck: HealthCheck, atRest: boolean, isAwaited: boolean, now: EpochMs): number {
  if (!atRest) return requeueInterval(healthCheck);
  const { metadata, status = {} } = healthCheck;
  const fraction = uidFraction(metadata.uid);
  const waits = [
    REST_INTERVAL_MS * (0.8 + 0.4 * fraction),
    (explainsAt(status, now) ?? Number.POSITIVE_INFINITY) - now,
  ];
  if (isAwaited && status.status === 'Healthy') {
    waits.push(Math.max(now - (parseTime(status.lastChangeTime) ?? now), DEFAULT_INTERVAL_MS));
  }
  return Math.min(...waits);
}

/** The most milliseconds between two evaluations of a Healthy check: an evaluation may be late, or reuse a verdict. */
export function longestUnseen(healthCheck: HealthCheck, rests: boolean): number {
  return rests ? REST_INTERVAL_MS * 1.2 : 2 * requeueInterval(healthCheck);
}

/**
 * Whether a check that reports Healthy may have failed since. False within 30 seconds of the report, or within its
 * interval if that is shorter, because its hook would not evaluate it yet either.
 */
export function mayBeOutdated(healthCheck: HealthCheck, now: EpochMs): boolean {
  const { spec, status } = healthCheck;
  if (spec?.class !== KUSTOMIZATION_CLASS || status?.status !== 'Healthy') return false;
  const age = now - (parseTime(status.lastChangeTime) ?? Number.NEGATIVE_INFINITY);
  return age < 0 || age >= Math.min(requeueInterval(healthCheck), DEFAULT_INTERVAL_MS);
}

/**
 * Whether Flux has just begun to reconcile the Kustomization. Flux then writes its progress several times a second, and
 * the check is evaluated at the end, or once the reconciliation takes longer.
 */
export function isJustReconciling(kustomization: Kustomization | undefined, now: EpochMs): boolean {
  if (!kustomization) return false;
  const began = conditionsOf(kustomization as FluxObject).find(
    ({ type, status, reason }) => type === 'Reconciling' && status === 'True' && reason === 'Progressing',
  );
  const since = now - (parseTime(began?.lastTransitionTime) ?? Number.NEGATIVE_INFINITY);
  return since < DEFAULT_INTERVAL_MS && since > -DEFAULT_INTERVAL_MS;
}
