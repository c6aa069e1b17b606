/** The HealthChecks that a Rollout watches, and their health before a deployment and in a bake. */
import { WATCHED_FROM } from '../../api/annotations.ts';
import { HEALTH_CHECKS, NAMESPACES } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { RelatedResourceRule } from '../../api/metacontroller.ts';
import type { ClusterReader, HookCall } from '../../api/ports.ts';
import type { HealthCheck, Rollout } from '../../api/types.ts';
import { healthCheckLabels } from '../../core/health/association.ts';
import { mayBeWatched } from '../../core/health/consent.ts';
import { type HealthStatus, provenVerdict, statusAfter, type Verdict } from '../../core/health/healthStatus.ts';
import { countedFor } from '../../core/health/job/checkJob.ts';
import { cutoffsOf, measurementCutoff, type PresentCheck } from '../../core/health/knownHealth.ts';
import {
  isAtRest,
  longestUnseen,
  mayBeOutdated,
  requeueInterval,
  scheduleOf,
} from '../../core/health/kustomizationCheck.ts';
import {
  isMeasuredBefore,
  metricCheckOf,
  NOT_MEASURED,
  statusWithoutAnswer,
} from '../../core/health/prometheus/measurement.ts';
import { toSelectorString } from '../../core/kube/selector.ts';
import { LIMITS } from '../../core/limits.ts';
import type { Observed } from '../../core/rollout/evaluation/observed.ts';
import { specProblems } from '../../core/rollout/evaluation/specProblems.ts';
import { evaluateKustomization } from '../../live/evaluateKustomization.ts';
import { inParallel } from '../../live/inParallel.ts';
import { listKept } from '../../live/objectReads.ts';

/** The maximum age of lists in other namespaces: any tenant can have many Rollouts that watch all namespaces. */
const WATCHED_MAX_AGE_MS = 1000;

/**
 * The rule for HealthChecks of the Rollout's own namespace; `watchedChecks` reads others live once they consent.
 * None for an invalid selector, which would fail the sync: the plan reports the problem.
 */
export function healthCheckRule({ metadata, spec }: Rollout): RelatedResourceRule[] {
  const labelSelector = healthCheckLabels(spec?.healthCheckSelector);
  if (!labelSelector || specProblems(spec ?? {}).length > 0) return [];
  return [{ ...HEALTH_CHECKS, namespace: metadata.namespace ?? '', labelSelector }];
}

interface WatchedChecks {
  healthChecks: HealthCheck[];
  /** The number of HealthChecks that the selector matches and that have not consented. */
  unconsentingChecks: number;
  problems: string[];
}

/** The metadata with which a HealthCheck or Namespace consents to being watched. */
interface ConsentMetadata {
  metadata: { name: string; namespace?: string; annotations: Record<string, string> };
}

/**
 * The HealthChecks that the Rollout watches, with the status that counts for it. Those of other namespaces are read
 * live, because HealthChecks without consent must not make Metacontroller's request too large.
 * @param related those of its own namespace that its selector matches; others are left out
 */
export async function watchedChecks(
  rollout: Rollout,
  related: readonly HealthCheck[],
  call: HookCall,
): Promise<WatchedChecks> {
  const selected = await selectedChecks(rollout, related, call);
  const cutoff = measurementCutoff([rollout], call.now);
  const counted = selected.healthChecks.map((check) => {
    const wasMeasuredBefore = isOwn(check, rollout) && metricCheckOf(check) && isMeasuredBefore(check.status, cutoff);
    return wasMeasuredBefore ? withStatus(check, NOT_MEASURED) : countedFor(rollout, check);
  });
  return { ...selected, healthChecks: counted };
}

async function selectedChecks(
  rollout: Rollout,
  related: readonly HealthCheck[],
  call: HookCall,
): Promise<WatchedChecks> {
  const { metadata, spec } = rollout;
  const { namespace: home = '' } = metadata;
  const own = related.filter((check) => check.metadata.namespace === home);
  const labels = healthCheckLabels(spec?.healthCheckSelector);
  const namespaceSelector = spec?.healthCheckSelector?.namespaceSelector;
  if (!namespaceSelector || !labels || specProblems(spec ?? {}).length > 0)
    return withinLimit(own, [], 0, call.cluster);

  const namespaces = await listedNamespaces(toSelectorString(namespaceSelector), call);
  const inHome = namespaces.has(home) ? own : [];
  const others = [...namespaces.keys()].filter((name) => name !== home);
  const found = await listedChecks(toSelectorString(labels), others, call);
  if (!found) {
    const problem = `spec.healthCheckSelector matches more than ${LIMITS.listedHealthChecks} HealthChecks (limit listedHealthChecks) and ${others.length} other namespaces, more than ${LIMITS.watchedNamespaces} (limit watchedNamespaces): narrow its namespaceSelector`;
    return { healthChecks: inHome, unconsentingChecks: 0, problems: [problem] };
  }
  const consenting = found.filter(
    (check) =>
      call.settings.watchWithoutConsent ||
      mayBeWatched(check, home) ||
      mayBeWatched(namespaces.get(check.metadata.namespace ?? ''), home),
  );
  return withinLimit(inHome, consenting, found.length - consenting.length, call.cluster);
}

/**
 * The HealthChecks, with those of other namespaces read live; beyond the limit only the Rollout's own, and the problem.
 */
async function withinLimit(
  own: HealthCheck[],
  consenting: readonly ConsentMetadata[],
  unconsentingChecks: number,
  cluster: ClusterReader,
): Promise<WatchedChecks> {
  const count = own.length + consenting.length;
  if (count > LIMITS.watchedHealthChecks) {
    const problem = `spec.healthCheckSelector matches ${count} HealthChecks, more than ${LIMITS.watchedHealthChecks} (limit watchedHealthChecks): narrow it`;
    return { healthChecks: own, unconsentingChecks, problems: [problem] };
  }
  const read = await inParallel(consenting, ({ metadata: { name, namespace = '' } }) =>
    cluster.get<HealthCheck>({ ...HEALTH_CHECKS, namespace, name }),
  );
  return { healthChecks: [...own, ...read.filter((check) => check !== undefined)], unconsentingChecks, problems: [] };
}

function listedNamespaces(
  labelSelector: string,
  { cluster, sharedReads }: HookCall,
): Promise<ReadonlyMap<string, ConsentMetadata>> {
  return sharedReads.recent(WATCHED_MAX_AGE_MS, `consenting namespaces ${labelSelector}`, async () => {
    const listed = await cluster.listMetadata({ ...NAMESPACES, labelSelector });
    return new Map(listed.map((each) => [each.metadata.name ?? '', consentMetadata(each)]));
  });
}

/**
 * The HealthChecks in these namespaces with these labels. They come from one list for the cluster, or if that is cut
 * off, from one list for each namespace, so that none crowds out the others. undefined if that would be too many lists.
 */
async function listedChecks(
  labelSelector: string,
  namespaces: readonly string[],
  { cluster, sharedReads }: HookCall,
): Promise<ConsentMetadata[] | undefined> {
  const list = (namespace?: string) => {
    const ref = { ...HEALTH_CHECKS, labelSelector, namespace, metadataOnly: true as const };
    const read = () => listKept(ref, consentMetadata, cluster, { atMost: LIMITS.listedHealthChecks });
    return sharedReads.recent(WATCHED_MAX_AGE_MS, `healthchecks ${namespace ?? ''} ${labelSelector}`, read);
  };
  if (namespaces.length === 0) return [];
  const { listed, isTruncated } = await list();
  const selected = new Set(namespaces);
  if (!isTruncated) return listed.filter(({ metadata }) => selected.has(metadata.namespace ?? ''));
  if (namespaces.length > LIMITS.watchedNamespaces) return undefined;
  return (await inParallel(namespaces, list)).flatMap((each) => each.listed);
}

function consentMetadata({
  metadata: { name = '', namespace, annotations },
}: Pick<KubeObject, 'metadata'>): ConsentMetadata {
  const watchedFrom = annotations?.[WATCHED_FROM];
  return {
    metadata: {
      name,
      namespace,
      annotations: watchedFrom === undefined ? {} : { [WATCHED_FROM]: watchedFrom },
    },
  };
}

// Health that is evaluated live.

/**
 * The HealthChecks that the Rollout watches, from live reads; undefined if it watches none. A report may not have
 * reached Metacontroller's cache, and a deployment, its apply and the outcome of its bake cannot be undone.
 */
export async function readChecks(
  { rollout, problems }: Observed,
  call: HookCall,
): Promise<Partial<Observed> | undefined> {
  const [rule] = healthCheckRule(rollout);
  if (!rule) return undefined;
  const labelSelector = toSelectorString(rule.labelSelector);
  const own = await call.cluster.list<HealthCheck>({ ...rule, labelSelector, atMost: LIMITS.watchedHealthChecks + 1 });
  const watched = await watchedChecks(rollout, own, call);
  return { ...watched, problems: [...new Set([...problems, ...watched.problems])] };
}

/**
 * The HealthChecks, where a check at rest gets the status Unhealthy if it is unhealthy now. Its own hook evaluates it
 * only every ten minutes, but a failure since then must block the next version. The Rollout's condition then triggers
 * that hook, which stores the failure.
 */
export function withRestingChecks(
  rollout: Rollout,
  healthChecks: readonly HealthCheck[],
  call: HookCall,
): Promise<HealthCheck[]> {
  return inParallel(healthChecks, async (healthCheck) => {
    if (!isOwn(healthCheck, rollout) || !isAtRest(healthCheck, scheduleOf(healthCheck))) return healthCheck;
    const { namespace, name, uid, annotations } = healthCheck.metadata;
    // Many Rollouts may watch one HealthCheck: they share an evaluation for the interval of a check that isn't at rest.
    const read = () => evaluateNow(healthCheck, rollout, call);
    const key = JSON.stringify(['health', namespace, name, uid, annotations]);
    const verdict = await call.sharedReads.recent(requeueInterval(healthCheck), key, read);
    return verdict.health === 'Unhealthy' ? withVerdict(healthCheck, verdict, call) : healthCheck;
  });
}

/**
 * The checks with their current status, for a bake that begins or ends. A check's own hook may not have run for a
 * while, because the check is at rest, or after an outage. A check of class kustomization is evaluated live unless its
 * report is new; one of class prometheus doesn't count without a new measurement.
 */
export function withPresentHealth(
  rollout: Rollout,
  healthChecks: readonly HealthCheck[],
  call: HookCall,
): Promise<HealthCheck[]> {
  return inParallel(healthChecks, async (healthCheck) => {
    const metricCheck = metricCheckOf(healthCheck);
    if (metricCheck) {
      const present = statusWithoutAnswer(healthCheck.status, metricCheck, call.now);
      return present ? withStatus(healthCheck, present) : healthCheck;
    }
    const own = isOwn(healthCheck, rollout);
    if (!mayBeOutdated(healthCheck, own, call.now)) return healthCheck;
    const verdict = await evaluateNow(healthCheck, rollout, call);
    return withVerdict(healthCheck, provenVerdict(verdict, own), call);
  });
}

/**
 * Whether the check is in the Rollout's namespace. For any other check, this sync can't find the deployments that it
 * waits for.
 */
function isOwn(healthCheck: HealthCheck, { metadata }: Rollout): boolean {
  return healthCheck.metadata.namespace === metadata.namespace;
}

function withVerdict(healthCheck: HealthCheck, verdict: Verdict, { now }: HookCall): PresentCheck {
  return withStatus(healthCheck, statusAfter(healthCheck.status, verdict, now));
}

function withStatus(healthCheck: PresentCheck, status: HealthStatus): PresentCheck {
  return { report: healthCheck.status ?? {}, ...healthCheck, status };
}

function evaluateNow(healthCheck: HealthCheck, rollout: Rollout, call: HookCall): Promise<Verdict> {
  const cutoff = isOwn(healthCheck, rollout) ? cutoffsOf([rollout], call.now).reached : undefined;
  const unseen = longestUnseen(scheduleOf(healthCheck, { watched: 'inBake' }));
  return evaluateKustomization(
    healthCheck,
    { rollouts: [rollout], cutoff, unseen },
    { ...call, cluster: call.healthCluster },
  );
}
