/**
 * Health of class kustomization; docs/reference/quirks.md, Q27 to Q29, says where it differs from the Go controller.
 *
 * | Kustomization | health |
 * |---|---|
 * | Ready=False at its generation, for the source's newest artifact, with BuildFailed, ReconciliationFailed or HealthCheckFailed | Unhealthy |
 * | Stalled=True | Unhealthy |
 * | PruneFailed, ArtifactFailed, DependencyNotReady and other reasons: Flux tries again and nothing new runs badly | Pending |
 * | not at its generation, or its source is ahead of what it applied | Pending, whatever looks healthy |
 * | an object of the inventory does not exist | Pending, and Unhealthy once Flux has applied it and the grace period is over; a Job does not count |
 * | a failed object | Unhealthy, unless the failure is newer than the deployment and older than Flux's attempt at it |
 */
import type { FluxObject, Kustomization } from '../../api/flux.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import { conditionsOf, type LooseCondition, stringAt } from '../kstatus/fields.ts';
import { kstatusOf } from '../kstatus/kstatus.ts';
import { parseTime } from '../kube/time.ts';
import type { Since } from './objects/broken.ts';
import { failureTime } from './objects/failureTime.ts';
import { type Inventory, type InventoryResource, parseInventory } from './objects/inventory.ts';
import { FAILED_KUSTOMIZATION } from './objects/reasons.ts';
import { listed, type ObservedResource, resourceHealth } from './objects/resources.ts';
import { type Revision, revisionOf, type Upstream } from './revision.ts';
import type { Verdict } from './status.ts';

export interface OwnHealth {
  /** The verdict, where no object needs to be read. */
  settled?: Verdict;
  /** Why the Kustomization itself is not healthy yet. */
  pending?: string;
  /** Flux tries the same revision once more. */
  attempting: boolean;
  /** One that it has applied already, for nothing has changed: it says nothing new. */
  again: boolean;
  /** Since when Flux has applied everything; undefined while it has not, or does not say. */
  applied?: EpochMs;
  revision: Revision;
  inventory: Inventory;
}

const ALL_HEALTHY = 'Kustomization and all managed resources are healthy';

/** What the Kustomization says of itself, before any of its objects is read. */
export function ownHealth(kustomization: Kustomization, upstream: Upstream, now: EpochMs): OwnHealth {
  const revision = revisionOf(kustomization, upstream);
  const ready = conditionsOf(kustomization as FluxObject).find((c) => c.type === 'Ready');
  const own = kstatusOf(kustomization, now);
  const elsewhere = kustomization.spec?.kubeConfig !== undefined;
  const inventory = parseInventory(kustomization.status?.inventory?.entries);
  const attempting = revision.attempted && ready?.status === 'Unknown';
  const pending = revision.waiting ?? (own.status === 'Current' ? undefined : own.message);
  const again = attempting && revision.waiting === undefined;
  const applied = pending === undefined && ready?.status === 'True' ? parseTime(ready.lastTransitionTime) : undefined;
  const base = {
    attempting,
    again,
    revision,
    inventory,
    ...(pending !== undefined && { pending }),
    ...(applied !== undefined && { applied }),
  };

  const failure = revision.attempted ? failureOf(ready, FAILED_KUSTOMIZATION) : undefined;
  if (failure) return { ...base, settled: failure };
  if (own.status === 'Failed') return { ...base, settled: stalled(kustomization, own.message, ready) };
  if (elsewhere) return { ...base, settled: judgeElsewhere(pending, ready, { attempting, again }) };
  if (inventory.resources.length + inventory.errors.length === 0) {
    const message = pending === undefined ? 'Kustomization has no managed resources' : pendingText(pending);
    return { ...base, settled: { health: 'Pending', message, attempting } };
  }
  return { ...base, inventory: notJudgedByFlux(kustomization, inventory) };
}

/** Where Flux waits for objects by `healthCheckExprs`, its Ready condition is their health: what else they say is not what the team has defined. */
function notJudgedByFlux({ spec }: Kustomization, { resources, errors }: Inventory): Inventory {
  const { wait, healthChecks, healthCheckExprs } = (spec ?? {}) as Record<string, unknown>;
  const kindsOf = (list: unknown) =>
    new Set(
      (Array.isArray(list) ? list : []).map((each) => `${stringAt(each, ['apiVersion'])} ${stringAt(each, ['kind'])}`),
    );
  const defined = kindsOf(healthCheckExprs);
  const waitedFor = kindsOf(healthChecks);
  const isJudged = ({ apiVersion, kind }: InventoryResource) => {
    const key = `${apiVersion} ${kind}`;
    return defined.has(key) && (wait === true || waitedFor.has(key));
  };
  return { resources: resources.filter((resource) => !isJudged(resource)), errors };
}

function failureOf(ready: LooseCondition | undefined, reasons: ReadonlySet<string>): Verdict | undefined {
  if (ready?.status !== 'False' || !reasons.has(ready.reason)) return undefined;
  const failedAt = parseTime(ready.lastTransitionTime);
  const message = `Kustomization unhealthy: ${ready.reason}: ${ready.message}`;
  return { health: 'Unhealthy', message, ...(failedAt !== undefined && { failedAt }) };
}

function stalled(kustomization: Kustomization, message: string, ready: LooseCondition | undefined): Verdict {
  const failedAt = failureTime(kustomization as FluxObject);
  const more = ready?.message ? `: ${ready.message}` : '';
  return {
    health: 'Unhealthy',
    message: `Kustomization unhealthy: ${message}${more}`,
    ...(failedAt !== undefined && { failedAt }),
  };
}

/** The objects live in the cluster of `spec.kubeConfig`; those of the same names here are others. */
function judgeElsewhere(
  pending: string | undefined,
  ready: LooseCondition | undefined,
  { attempting, again }: Pick<OwnHealth, 'attempting' | 'again'>,
): Verdict {
  if (pending !== undefined) {
    return { health: 'Pending', message: pendingText(pending), attempting, ...(again && { again }) };
  }
  if (ready?.status !== 'True') return { health: 'Pending', message: pendingText('no Ready condition yet') };
  return { health: 'Healthy', message: 'Kustomization is ready in the cluster of its kubeConfig' };
}

/**
 * The verdict with the objects read.
 * @param since what the health is for, and until when it was healthy
 * @param likeKuberik what does not exist does not count
 */
export function judgeWithResources(
  own: OwnHealth,
  observed: readonly ObservedResource[],
  since: Since,
  now: EpochMs,
  likeKuberik = false,
): Verdict {
  if (own.settled) return own.settled;
  const health = resourceHealth(observed, { ...since, applied: likeKuberik ? undefined : own.applied }, now);
  const errors = [...own.inventory.errors, ...health.errors];
  const withErrors = (message: string) => (errors.length > 0 ? `${message}. Errors: ${listed(errors)}` : message);

  if (health.unhealthy.length > 0) {
    const unhealthy = withErrors(`Unhealthy resources: ${listed(health.unhealthy)}`);
    if (isOldFailure(health.failedAt ?? now, own.revision, since.deployed)) {
      return { health: 'Pending', message: `${pendingText(own.pending ?? 'not applied yet')}. Before: ${unhealthy}` };
    }
    const { failedAt } = health;
    return { health: 'Unhealthy', message: unhealthy, ...(failedAt !== undefined && { failedAt }) };
  }
  if (health.pending.length > 0) {
    return { health: 'Pending', message: withErrors(`Pending resources: ${listed(health.pending)}`) };
  }
  const { pending, attempting, again } = own;
  if (pending !== undefined && !(again && errors.length > 0)) {
    return { health: 'Pending', message: withErrors(pendingText(pending)), attempting, ...(again && { again }) };
  }
  if (health.missing.length > 0 && !likeKuberik) {
    const missing = health.missing.map((name) => `${name} (not found)`);
    return { health: 'Pending', message: withErrors(`Pending resources: ${listed(missing)}`), attempting };
  }
  if (errors.length > 0) return { health: 'Unknown', message: `Errors: ${listed(errors)}` };
  const absent = [...health.missing, ...health.gone];
  return {
    health: 'Healthy',
    message: absent.length > 0 ? `${ALL_HEALTHY} (not found: ${listed(absent)})` : ALL_HEALTHY,
  };
}

/** Newer than the deployment, so that it would fail it, but older than Flux's first move for it. */
function isOldFailure(at: EpochMs, revision: Revision, cutoff: EpochMs | undefined): boolean {
  return cutoff !== undefined && at >= cutoff && at < revision.failuresCountFrom;
}

const pendingText = (reason: string) => `Kustomization pending: ${reason}`;
