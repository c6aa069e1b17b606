/**
 * The health of class kustomization: of the Kustomization itself, then with the health of each of its objects.
 * docs/healthchecks.md, *Class kustomization*, has the health of each state; docs/reference/quirks.md, Q27 to Q29, has
 * the differences from the Go controller.
 */
import type { Kustomization } from '../../api/flux.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import { type LooseCondition, readyOf } from '../kstatus/fields.ts';
import { kstatusOf } from '../kstatus/kstatus.ts';
import { identityOf, refKey } from '../kube/names.ts';
import { latestTime, parseTime } from '../kube/time.ts';
import type { Awaited, PendingVerdict, Verdict } from './healthStatus.ts';
import { countedFailure, keepsPods } from './objects/broken.ts';
import {
  BUILD_FAILED,
  type FailedAttempt,
  failedAttempts,
  type LastAttempt,
  stalledOf,
  succeededAt,
} from './objects/fluxAttempts.ts';
import type { HealthContext } from './objects/healthContext.ts';
import { evaluatedHere, type Inventory, type InventoryResource, parseInventory } from './objects/inventory.ts';
import { healthLine, listLines, type ObjectHealth } from './objects/resources.ts';
import { type ObservedKustomization, observedRevision, type Revision } from './revision.ts';

/** The health of a Kustomization that its objects decide too. */
interface OwnHealth {
  /** `<kind> <namespace>/<name>`. */
  name: string;
  /** The verdict if all objects are healthy. */
  verdict: PendingVerdict | { health: 'Healthy'; message: string };
  /** The objects to read: none if they are in another cluster. */
  inventory: Inventory;
  /** Failures of objects before this instant are an older revision's. */
  failuresCountFrom: EpochMs;
  /** The time at which Flux had applied everything; undefined while it has not, or if the time is unknown. */
  applied: EpochMs | undefined;
  /** Flux's last attempt, if it failed. */
  failedAttempt?: FailedAttempt;
  /** When Flux last applied it; Infinity if nothing has failed since. */
  succeededAt?: EpochMs;
}

/** The health of the Kustomization itself, before any of its objects is read; a verdict if no object can change it. */
export function ownHealth(observed: ObservedKustomization, context: HealthContext): OwnHealth | Verdict {
  const { kustomization } = observed;
  const revision = observedRevision(observed, context);
  const failure = ownFailure(kustomization, revision, context);
  if (failure) return failure;
  const isElsewhere = kustomization.spec?.kubeConfig !== undefined;
  const inventory = parseInventory(isElsewhere ? [] : kustomization.status?.inventory?.entries);
  const isEmpty = !isElsewhere && inventory.resources.length + inventory.errors.length === 0;
  const ready = readyOf(kustomization);
  const waiting = whyWaiting(kustomization, revision, context.now);
  const isReady = waiting === undefined && ready?.status === 'True';
  const pending = (message: string): PendingVerdict => ({
    health: 'Pending',
    message,
    awaits: awaitedBy(revision, ready, isEmpty),
    isSteady: !isEmpty && revision.failedAttempt?.reason !== 'HealthCheckFailed',
  });
  const verdict = (): OwnHealth['verdict'] => {
    if (waiting !== undefined) return pending(`Kustomization pending: ${waiting}`);
    if (isElsewhere && !isReady) return pending('Kustomization pending: no Ready condition yet');
    if (isEmpty) return pending('Kustomization has no managed resources');
    const whose = isElsewhere ? 'is ready in the cluster of its kubeConfig' : 'and all managed resources are healthy';
    return { health: 'Healthy', message: `Kustomization ${whose}` };
  };
  return {
    name: `Kustomization ${refKey(identityOf(kustomization))}`,
    verdict: verdict(),
    inventory: evaluatedHere(kustomization, inventory),
    failuresCountFrom: revision.failuresCountFrom,
    applied: isReady ? parseTime(ready.lastTransitionTime) : undefined,
    failedAttempt: revision.failedAttempt,
    succeededAt: succeededAt(kustomization),
  };
}

/** The failure of the Kustomization that the health of its objects doesn't change. */
function ownFailure(
  kustomization: Kustomization,
  { failedAttempt }: Revision,
  { cutoff, now }: HealthContext,
): Verdict | undefined {
  if (failedAttempt?.reason === BUILD_FAILED)
    return unhealthyVerdict(`${failedAttempt.reason}: ${failedAttempt.message}`, failedAttempt.at);
  const stalled = stalledOf(kustomization);
  if (!stalled) return undefined;
  const message = readyOf(kustomization)?.message;
  const at = countedFailure(parseTime(stalled.lastTransitionTime), kustomization, cutoff, now);
  return unhealthyVerdict(`${stalled.message}${message ? `: ${message}` : ''}`, at);
}

/** Why the Kustomization is Pending even if its objects are healthy; undefined if it isn't. */
function whyWaiting(
  kustomization: Kustomization,
  { failedAttempt, waiting, hasBegun }: Revision,
  now: EpochMs,
): string | undefined {
  if (failedAttempt) {
    const resumed = kustomization.spec?.suspend ? ' once it is resumed' : '';
    return `${failedAttempt.reason}: ${failedAttempt.message}. Flux tries again${resumed}`;
  }
  if (waiting !== undefined) {
    const ready = readyOf(kustomization);
    const isStopped = hasBegun && ready?.status === 'False';
    return isStopped ? `${waiting} (${ready.reason}: ${ready.message})` : waiting;
  }
  const own = kstatusOf(kustomization, now);
  return own.status === 'Current' ? undefined : own.message;
}

/** What ends the wait for the Kustomization itself; undefined if the check has to be evaluated at its interval. */
function awaitedBy(
  { hasBegun, waiting, failedAttempt, failuresCountFrom, waitsForTime }: Revision,
  ready: LooseCondition | undefined,
  isEmpty: boolean,
): Awaited | undefined {
  if (hasBegun && ready?.status === 'Unknown') return waiting || failedAttempt ? 'attempt' : 'repeat';
  if (failedAttempt || waitsForTime) return undefined;
  const isAwaitingFlux = !hasBegun && failuresCountFrom === Number.POSITIVE_INFINITY;
  return isEmpty || isAwaitingFlux ? 'event' : undefined;
}

function unhealthyVerdict(why: string, failedAt: EpochMs | undefined): Verdict {
  return { health: 'Unhealthy', message: `Kustomization unhealthy: ${why}`, failedAt };
}

/** The verdict from the Kustomization itself and its objects. */
export function verdictWith(objects: readonly ObjectHealth[], own: OwnHealth, context: HealthContext): Verdict {
  const { name, failedAttempt } = own;
  const keyOf = ({ kind, ...ref }: InventoryResource) => `${kind} ${refKey(ref)}`;
  // Like the `failedAttempt` of an object.
  const mayPassAt = failedAttempt?.mayPass ? failedAttempt.at : undefined;
  const attempts: LastAttempt[] = [
    { object: name, failedAt: mayPassAt, succeededAt: own.succeededAt },
    ...objects.map(({ resource, failedAttempt: failedAt }) => {
      return { object: keyOf(resource), failedAt, succeededAt: resource.object && succeededAt(resource.object) };
    }),
  ];
  const { firstFailures, failedAgain } = failedAttempts(attempts, context);
  const counted = withCountedFailures(objects, own, context).map((each) => {
    const mayPass = each.failedAttempt !== undefined && !failedAgain.has(keyOf(each.resource));
    return mayPass ? { ...each, health: 'pending' as const } : each;
  });
  const verdict: Verdict = { ...verdictOf(counted, own, context), firstFailures };
  const hasFailed = failedAttempt && (!failedAttempt.mayPass || failedAgain.has(name));
  if (!hasFailed || verdict.health === 'Unhealthy') return verdict;
  if (failedAttempt.reason === 'HealthCheckFailed') {
    // Flux gives up at once if an object had failed before, such as before a retry. Here it may recover.
    if (counted.some((each) => hadFailed(each, context))) return verdict;
    // Flux waits for workloads until its timeout. Here those that are scaled or moved may take longer.
    if (mayPassAt !== undefined && areWorkloadsPending(counted))
      return { ...verdict, firstFailures: new Map([...firstFailures, [name, mayPassAt]]) };
  }
  const { reason, message, at } = failedAttempt;
  return { ...unhealthyVerdict(`${reason}: ${message}`, at), firstFailures };
}

/** Whether the object had failed before the deployment. */
function hadFailed({ health, failedAt }: ObjectHealth, { cutoff = 0 }: HealthContext): boolean {
  return health === 'unhealthy' && failedAt !== undefined && failedAt < cutoff;
}

/** Whether nothing but workloads that run Pods keeps the objects from being healthy. */
function areWorkloadsPending(objects: readonly ObjectHealth[]): boolean {
  const others = objects.filter(({ health }) => health !== 'healthy' && health !== 'gone');
  return others.length > 0 && others.every(({ health, resource }) => health === 'pending' && keepsPods(resource));
}

function verdictOf(objects: readonly ObjectHealth[], own: OwnHealth, context: HealthContext): Verdict {
  const { verdict, inventory, failedAttempt } = own;
  const {
    unhealthy = [],
    pending = [],
    missing = [],
    gone = [],
    unknown = [],
  } = Object.groupBy(objects, ({ health }) => health);
  const errors = [...inventory.errors, ...unknown.map(healthLine)];
  const withErrors = (message: string) => (errors.length > 0 ? `${message}. Errors: ${listLines(errors)}` : message);
  const ownPending = verdict.health === 'Pending' ? verdict : undefined;
  // No event shows that an object can be read again.
  const awaits = ownPending?.awaits === 'event' && errors.length > 0 ? undefined : ownPending?.awaits;
  const event = awaits === 'event' ? awaits : undefined;

  if (unhealthy.length > 0) {
    const listed = withErrors(listLines(unhealthy.map(healthLine)));
    if (failedBefore(unhealthy, own, context)) {
      const message = `${verdict.message}. Unhealthy resources of the version before: ${listed}`;
      return { health: 'Pending', message, awaits: event };
    }
    const failedAt = latestTime(unhealthy.map((object) => object.failedAt));
    return { health: 'Unhealthy', message: `Unhealthy resources: ${listed}`, failedAt };
  }
  // Only Flux's work is awaited, on these objects and on the Kustomization itself.
  const isQuiet = missing.length + errors.length === 0 && pending.every(({ work }) => work !== undefined);
  const isSteady = isQuiet && (ownPending?.isSteady ?? true);
  if (pending.length > 0) {
    const resources = `Pending resources: ${listLines(pending.map(healthLine))}`;
    const message = withErrors(failedAttempt ? `${verdict.message}. ${resources}` : resources);
    const isRepeat = isQuiet && pending.every(({ work }) => work === 'repeats') && (!ownPending || awaits === 'repeat');
    return { health: 'Pending', message, awaits: isRepeat ? 'repeat' : event, isSteady };
  }
  // A repeated reconciliation keeps the status, but inputs that couldn't be read are still unknown.
  if (ownPending && !(awaits === 'repeat' && errors.length > 0))
    return { ...ownPending, message: withErrors(verdict.message), awaits, isSteady };
  if (missing.length > 0) {
    const message = withErrors(`Pending resources: ${listLines(missing.map(healthLine))}`);
    return { health: 'Pending', message };
  }
  if (errors.length > 0) return { health: 'Unknown', message: `Errors: ${listLines(errors)}` };
  const absent = gone.length > 0 ? ` (not found: ${listLines(gone.map(healthLine))})` : '';
  return { health: 'Healthy', message: `${verdict.message}${absent}` };
}

/**
 * Whether the failures are an older version's: Flux has not begun with this one. After health with this version no
 * failure is an older version's, whatever commits wait: with `wait: true` Flux may never get to apply them.
 */
function failedBefore(
  unhealthy: readonly ObjectHealth[],
  own: OwnHealth,
  { now, cutoff, healthyUntil }: HealthContext,
): boolean {
  if (cutoff === undefined || healthyUntil !== undefined) return false;
  const { verdict, failedAttempt } = own;
  const isAttempting = verdict.health === 'Pending' && (verdict.awaits === 'attempt' || verdict.awaits === 'repeat');
  const isApplying = isAttempting || failedAttempt !== undefined;
  // Flux is at its first attempts with this version, and may not have changed these objects yet. A broken version
  // often breaks several workloads, whose deadlines pass within seconds: the first one causes the next deployment.
  const isUnchanged = (each: ObjectHealth) =>
    each.changed !== undefined && each.changed < failuresOf(each, own, cutoff);
  const reached = isApplying ? unhealthy.filter((each) => !isUnchanged(each)) : unhealthy;
  return reached.every((each) => (each.failedAt ?? now) < failuresOf(each, own, cutoff));
}

/**
 * The time from which the object's failures are this version's: its change, if an attempt has come to it since the
 * deployment. The first attempts may be in no history, as those that Flux cancels for another commit.
 */
function failuresOf({ changed }: ObjectHealth, { failuresCountFrom }: OwnHealth, cutoff: EpochMs): EpochMs {
  const isChanged = changed !== undefined && changed > cutoff && Number.isFinite(failuresCountFrom);
  return isChanged ? Math.min(changed, failuresCountFrom) : failuresCountFrom;
}

/** The objects with the times from which their failures count. One that is overdue has no more changes to wait for. */
function withCountedFailures(
  objects: readonly ObjectHealth[],
  own: OwnHealth,
  { now, cutoff, healthyUntil }: HealthContext,
): ObjectHealth[] {
  if (cutoff === undefined || healthyUntil !== undefined) return [...objects];
  return objects.map((each) => {
    const since = Math.max(cutoff, failuresOf(each, own, cutoff));
    const failedAt = countedFailure(each.failedAt, each.resource.object, since, now);
    if (each.health !== 'unhealthy' || failedAt === each.failedAt) return each;
    return { ...each, failedAt, changed: undefined };
  });
}
