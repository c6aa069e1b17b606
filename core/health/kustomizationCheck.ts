/** The settings of a HealthCheck of class kustomization: its Kustomization, and its interval. */
import {
  HEALTHCHECK_GRACE_PERIOD,
  HEALTHCHECK_KUSTOMIZATION,
  HEALTHCHECK_REQUEUE_INTERVAL,
} from '../../api/annotations.ts';
import type { Kustomization } from '../../api/flux.ts';
import type { EpochMs, NamespacedName } from '../../api/kubernetes.ts';
import type { Settings } from '../../api/ports.ts';
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

/** The reference in the annotation, or why it is invalid or forbidden. */
export function allowedKustomizationRef(
  healthCheck: HealthCheck,
  { noCrossNamespaceRefs }: Pick<Settings, 'noCrossNamespaceRefs'>,
): NamespacedName | { problem: string } {
  const ref = kustomizationRef(healthCheck);
  const problem = noCrossNamespaceRefs && 'name' in ref && forbiddenProblem(ref, healthCheck);
  return problem ? { problem } : ref;
}

/** Why the reference names another namespace, which the caller's settings forbid; undefined if it doesn't. */
export function forbiddenProblem({ namespace, name }: NamespacedName, { metadata }: HealthCheck): string | undefined {
  if (namespace === metadata.namespace) return undefined;
  return `Kustomization '${namespace}/${name}' is in another namespace, which this installation forbids`;
}

/** The `name` or `namespace/name` in the annotation, or its problem in the Go controller's words. */
export function kustomizationRef(healthCheck: HealthCheck): NamespacedName | { problem: string } {
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

/** The inputs of the time of a check's next evaluation, besides its status. */
export interface Schedule {
  /** Milliseconds between two evaluations of a check that isn't at rest. */
  interval: number;
  /** Whether the check may rest. Not if its annotation has an interval, or Rollouts may bake on it unseen. */
  mayRest: boolean;
  /** Whether a deployment that watches the check bakes, or waits for its bake. */
  watched: 'inBake' | 'beforeBake' | 'no';
  /** Whether a change of the Kustomization triggers a sync. */
  isTriggered: boolean;
}

export function scheduleOf(
  healthCheck: HealthCheck,
  { watched = 'no', isTriggered = false }: Partial<Pick<Schedule, 'watched' | 'isTriggered'>> = {},
): Schedule {
  const { metadata, spec } = healthCheck;
  const wanted = parseDuration(metadata.annotations?.[HEALTHCHECK_REQUEUE_INTERVAL]);
  const mayRest = spec?.class === KUSTOMIZATION_CLASS && wanted === undefined;
  return { interval: requeueInterval(healthCheck), mayRest, watched, isTriggered };
}

export function isAtRest({ status }: HealthCheck, { mayRest, watched }: Schedule): boolean {
  return watched === 'no' && mayRest && status?.status === 'Healthy';
}

/**
 * Milliseconds to the next evaluation after this verdict, which gave the check its status. At rest it is ten minutes,
 * plus or minus a fifth, so that checks that were evaluated together after a restart drift apart. It is shorter if a
 * reset check has yet to report what it waits for. While a deployment waits for its bake, the interval of a Healthy
 * check is the time for which it has been Healthy.
 */
export function msUntilEvaluation(
  { metadata, status = {} }: HealthCheck,
  verdict: Verdict,
  { interval, mayRest, watched, isTriggered }: Schedule,
  now: EpochMs,
): number {
  const waitsForEvent = verdict.health === 'Pending' && verdict.awaits === 'event';
  const rests = mayRest && (waitsForEvent ? isTriggered : verdict.health === 'Healthy' && watched !== 'inBake');
  if (!rests) return interval;
  const waits = [
    REST_INTERVAL_MS * (0.8 + 0.4 * uidFraction(metadata.uid)),
    (explainsAt(status, now) ?? Number.POSITIVE_INFINITY) - now,
  ];
  if (watched !== 'no' && status.status === 'Healthy') {
    waits.push(Math.max(now - (parseTime(status.lastChangeTime) ?? now), DEFAULT_INTERVAL_MS));
  }
  return Math.min(...waits);
}

/** The most milliseconds between two evaluations of a Healthy check: an evaluation may be late, or reuse a verdict. */
export function longestUnseen({ interval, mayRest, watched }: Schedule): number {
  return mayRest && watched !== 'inBake' ? REST_INTERVAL_MS * 1.2 : 2 * interval;
}

/**
 * Whether the health may have changed since the report. A check that reports Healthy may have failed, but not within 30
 * seconds of the report, or within its interval if that is shorter: its hook would not evaluate it yet either. One that
 * is Pending may have become healthy; if it isn't the Rollout's own, only its hook knows what it waits for.
 */
export function mayBeOutdated(healthCheck: HealthCheck, isOwn: boolean, now: EpochMs): boolean {
  const { spec, status } = healthCheck;
  if (spec?.class !== KUSTOMIZATION_CLASS || status?.status === 'Unhealthy') return false;
  if (status?.status !== 'Healthy') return isOwn;
  const age = now - (parseTime(status.lastChangeTime) ?? Number.NEGATIVE_INFINITY);
  return age < 0 || age >= Math.min(requeueInterval(healthCheck), DEFAULT_INTERVAL_MS);
}

/**
 * Whether Flux has just begun to reconcile the Kustomization. Flux then writes its progress several times a second, and
 * the check is evaluated at the end, or once the reconciliation takes longer.
 */
export function isJustReconciling(kustomization: Kustomization | undefined, now: EpochMs): boolean {
  if (!kustomization) return false;
  const began = conditionsOf(kustomization).find(
    ({ type, status, reason }) => type === 'Reconciling' && status === 'True' && reason === 'Progressing',
  );
  const since = now - (parseTime(began?.lastTransitionTime) ?? Number.NEGATIVE_INFINITY);
  return since < DEFAULT_INTERVAL_MS && since > -DEFAULT_INTERVAL_MS;
}
