/**
 * The health of class kustomization: of the Kustomization itself, then with the health of each of its objects.
 * docs/healthchecks.md, *Class kustomization*, has the health of each state; docs/reference/quirks.md, Q27 to Q29, has
 * the differences from the Go controller.
 */
import { DEPLOYED } from '../../api/annotations.ts';
import type { FluxObject, Kustomization } from '../../api/flux.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Rollout } from '../../api/types.ts';
import { type LooseCondition, readyOf, stringAt } from '../kstatus/fields.ts';
import { kstatusOf } from '../kstatus/kstatus.ts';
import { identityOf, refKey } from '../kube/names.ts';
import { earliestTime, latestTime, parseTime } from '../kube/time.ts';
import { deploymentOf, deploymentText, parseDeployments } from '../managedField/deployment.ts';
import { wasReadyAtSuspension } from '../objectGates/objectState.ts';
import type { Verdict } from './healthStatus.ts';
import { whyNotFetched } from './objects/behindSource.ts';
import { countedFailure, keepsPods } from './objects/broken.ts';
import {
  attemptsSince,
  BUILD_FAILED,
  type FailedAttempt,
  failedAttemptOf,
  failedAttempts,
  hasVersionInSpec,
  type LastAttempt,
  stalledOf,
  succeededAt,
  whyOldAttempt,
} from './objects/fluxAttempts.ts';
import type { HealthContext } from './objects/healthContext.ts';
import { evaluatedHere, type Inventory, type InventoryResource, parseInventory } from './objects/inventory.ts';
import { healthLine, listLines, type ObjectHealth } from './objects/resources.ts';

/** The health of a Kustomization that its objects decide too. */
interface OwnHealth {
  /** `<kind> <namespace>/<name>`. */
  name: string;
  /** The verdict if all objects are healthy. */
  verdict: Verdict;
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

const NO_OBJECTS: Inventory = { resources: [], errors: [] };

/** The health of the Kustomization itself, before any of its objects is read; a verdict if no object can change it. */
export function ownHealth(observed: ObservedKustomization, context: HealthContext): OwnHealth | Verdict {
  const { kustomization } = observed;
  const revision = observedRevision(observed, context);
  const ready = readyOf(kustomization);
  const own = kstatusOf(kustomization, context.now);
  const { failedAttempt } = revision;
  if (failedAttempt?.reason === BUILD_FAILED)
    return unhealthyAlone(`${failedAttempt.reason}: ${failedAttempt.message}`, failedAttempt.at);
  const stalled = stalledOf(kustomization);
  if (stalled) {
    const more = ready?.message ? `: ${ready.message}` : '';
    const failedAt = parseTime(stalled.lastTransitionTime);
    const counted = countedFailure(failedAt, kustomization, context.cutoff, context.now);
    return unhealthyAlone(`${stalled.message}${more}`, counted);
  }

  const isElsewhere = kustomization.spec?.kubeConfig !== undefined;
  const inventory = isElsewhere ? NO_OBJECTS : parseInventory(kustomization.status?.inventory?.entries);
  const isEmpty = !isElsewhere && inventory.resources.length + inventory.errors.length === 0;
  const { hasBegun, waitsForTime, failuresCountFrom } = revision;
  const isAwaitingFlux = !hasBegun && failuresCountFrom === Number.POSITIVE_INFINITY;
  const resumed = kustomization.spec?.suspend ? ' once it is resumed' : '';
  const retries = failedAttempt && `${failedAttempt.reason}: ${failedAttempt.message}. Flux tries again${resumed}`;
  const waiting = retries ?? withReason(revision, ready) ?? (own.status === 'Current' ? undefined : own.message);
  const isReady = waiting === undefined && ready?.status === 'True';
  const isAttempting = revision.hasBegun && ready?.status === 'Unknown';
  const pending = (message: string): Verdict => ({
    health: 'Pending',
    message,
    isAttempting,
    isRepeat: isAttempting && revision.waiting === undefined && !failedAttempt,
    isSteady: !isEmpty && failedAttempt?.reason !== 'HealthCheckFailed',
    waitsForEvent: !failedAttempt && !waitsForTime && (isEmpty || isAwaitingFlux),
  });
  const verdict = (): Verdict => {
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
    failuresCountFrom,
    applied: isReady ? parseTime(ready.lastTransitionTime) : undefined,
    failedAttempt,
    succeededAt: succeededAt(kustomization),
  };
}

/** Why the revision is not applied yet, with Flux's reason if it has begun and can't go on. */
function withReason({ waiting, hasBegun }: Revision, ready: LooseCondition | undefined): string | undefined {
  if (waiting === undefined || !hasBegun || ready?.status !== 'False') return waiting;
  return `${waiting} (${ready.reason}: ${ready.message})`;
}

function unhealthyAlone(why: string, failedAt: EpochMs | undefined): Verdict {
  return { health: 'Unhealthy', message: `Kustomization unhealthy: ${why}`, failedAt };
}

/** The verdict from the Kustomization itself and its objects. */
export function verdictWith(objects: readonly ObjectHealth[], own: OwnHealth, context: HealthContext): Verdict {
  const { name, failedAttempt } = own;
  const keyOf = ({ kind, ...ref }: InventoryResource) => `${kind} ${refKey(ref)}`;
  const attempts: LastAttempt[] = [
    { object: name, failedAt: failedAttempt?.mayPass ? failedAttempt.at : undefined, succeededAt: own.succeededAt },
    ...objects.map(({ resource, failedAttempt }) => {
      const succeeded = resource.object && succeededAt(resource.object);
      return { object: keyOf(resource), failedAt: failedAttempt, succeededAt: succeeded };
    }),
  ];
  const { firstFailures, failedAgain } = failedAttempts(attempts, context);
  const counted = withCountedFailures(objects, own, context).map((each) => {
    const mayPass = each.failedAttempt !== undefined && !failedAgain.has(keyOf(each.resource));
    return mayPass ? { ...each, health: 'pending' as const } : each;
  });
  const verdict = verdictOf(counted, own, context);
  const hasFailed = failedAttempt && (!failedAttempt.mayPass || failedAgain.has(name));
  if (!hasFailed || verdict.health === 'Unhealthy') return { ...verdict, firstFailures };
  const { reason, message, at, mayPass } = failedAttempt;
  // Flux gives up at once if an object had failed before, such as before a retry. Here it may recover.
  const mayRecover = counted.some(
    ({ health, failedAt }) => health === 'unhealthy' && failedAt !== undefined && failedAt < (context.cutoff ?? 0),
  );
  if (reason === 'HealthCheckFailed' && mayRecover) return { ...verdict, firstFailures };
  // Flux waits for workloads until its timeout. Here those that are scaled or moved may take longer.
  if (mayPass && at !== undefined && reason === 'HealthCheckFailed' && areWorkloadsPending(counted))
    return { ...verdict, firstFailures: new Map([...firstFailures, [name, at]]) };
  return { ...unhealthyAlone(`${reason}: ${message}`, at), firstFailures };
}

/** Whether nothing but workloads that run Pods keeps the objects from being healthy. */
function areWorkloadsPending(objects: readonly ObjectHealth[]): boolean {
  const others = objects.filter(({ health }) => health !== 'healthy' && health !== 'gone');
  return others.length > 0 && others.every(({ health, resource }) => health === 'pending' && keepsPods(resource));
}

function verdictOf(
  objects: readonly ObjectHealth[],
  own: OwnHealth,
  { now, cutoff, healthyUntil }: HealthContext,
): Verdict {
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
  const waitsForEvent = verdict.waitsForEvent === true && errors.length === 0;
  const { isRepeat = false, isSteady = false } = verdict.health === 'Pending' ? verdict : {};

  if (unhealthy.length > 0) {
    const message = withErrors(`Unhealthy resources: ${listLines(unhealthy.map(healthLine))}`);
    const failedAt = latestTime(unhealthy.map((object) => object.failedAt));
    // Flux is at its first attempts with this version, and may not have come to these objects yet. A broken version
    // often breaks several workloads, whose deadlines pass within seconds: the first one causes the next deployment.
    const isAttempting = verdict.health === 'Pending' && verdict.isAttempting === true;
    const isApplying = isAttempting || failedAttempt !== undefined;
    const reached = isApplying ? unhealthy.filter((each) => !isUnchanged(each, own, cutoff)) : unhealthy;
    // The failure is an older version's if Flux has not begun with this one. After health with this version no failure
    // is an older version's, whatever commits wait: with `wait: true` Flux may never get to apply them.
    const isOfBefore = reached.every((each) => (each.failedAt ?? now) < failuresOf(each, own, cutoff));
    const isOld = cutoff !== undefined && healthyUntil === undefined && isOfBefore;
    if (isOld) return { health: 'Pending', message: `${verdict.message}. Before: ${message}`, waitsForEvent };
    return { health: 'Unhealthy', message, failedAt };
  }
  if (pending.length > 0) {
    const resources = `Pending resources: ${listLines(pending.map(healthLine))}`;
    const message = withErrors(failedAttempt ? `${verdict.message}. ${resources}` : resources);
    // Only Flux's work is awaited, on these objects and on the Kustomization itself.
    const isQuiet = missing.length + errors.length === 0 && pending.every(({ work }) => work !== undefined);
    const isRepeated = pending.every(({ work }) => work === 'repeats');
    const isHealthy = verdict.health === 'Healthy';
    return {
      health: 'Pending',
      message,
      waitsForEvent,
      isSteady: isQuiet && (isHealthy || isSteady),
      isRepeat: isQuiet && isRepeated && (isHealthy || isRepeat),
    };
  }
  // A repeated reconciliation keeps the status, but inputs that couldn't be read are still unknown.
  if (verdict.health !== 'Healthy' && !(isRepeat && errors.length > 0)) {
    const message = withErrors(verdict.message);
    if (verdict.health !== 'Pending') return { ...verdict, message, waitsForEvent };
    return { ...verdict, message, waitsForEvent, isSteady: isSteady && missing.length + errors.length === 0 };
  }
  if (missing.length > 0) {
    const message = withErrors(`Pending resources: ${listLines(missing.map(healthLine))}`);
    return { health: 'Pending', message };
  }
  if (errors.length > 0) return { health: 'Unknown', message: `Errors: ${listLines(errors)}` };
  const absent = gone.length > 0 ? ` (not found: ${listLines(gone.map(healthLine))})` : '';
  return { health: 'Healthy', message: `${verdict.message}${absent}` };
}

/**
 * The time from which the object's failures are this version's: its change, if an attempt has come to it since the
 * deployment. The first attempts may be in no history, as those that Flux cancels for another commit.
 */
function failuresOf({ changed }: ObjectHealth, { failuresCountFrom }: OwnHealth, cutoff = 0): EpochMs {
  const isChanged = changed !== undefined && changed > cutoff && Number.isFinite(failuresCountFrom);
  return isChanged ? Math.min(changed, failuresCountFrom) : failuresCountFrom;
}

/** Whether Flux has not yet changed what the object runs, as far as that is known. */
function isUnchanged(object: ObjectHealth, own: OwnHealth, cutoff: EpochMs | undefined): boolean {
  return object.changed !== undefined && object.changed < failuresOf(object, own, cutoff);
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

// Whether the objects' health is that of the revision that should run now, or of an older one. The Go controller does
// not distinguish them (docs/reference/quirks.md, Q28).
// Trap: kustomize-controller moves `status.observedGeneration` only when it succeeds; a failure at the current
// generation shows in the Ready condition's own `observedGeneration`.

interface ObservedKustomization {
  kustomization: Kustomization;
  /** The Kustomization's source; undefined if it does not exist or has an unknown kind. */
  source: FluxObject | undefined;
  /** Rollouts that may have deployed into the Kustomization or its source. */
  rollouts: readonly Rollout[];
}

interface Revision {
  /** Why Healthy objects may be those of an older revision; undefined if they are those of the present one. */
  waiting?: string;
  /** Whether Flux has begun to apply exactly the revision that should run now. */
  hasBegun: boolean;
  /**
   * Failures before this instant are an older revision's; Infinity if Flux has applied nothing of this one, 0 if
   * nothing ran before.
   */
  failuresCountFrom: EpochMs;
  /** Whether no event ends the wait: changes of a source trigger no sync, nor does the time since a failed build. */
  waitsForTime?: boolean;
  /** Flux's last attempt since the deployment, if it has failed. */
  failedAttempt?: FailedAttempt;
}

function observedRevision(
  { kustomization, source, rollouts }: ObservedKustomization,
  context: HealthContext,
): Revision {
  const artifact = source && stringAt(source, ['status', 'artifact', 'revision']);
  const applied = kustomization.status?.lastAppliedRevision;
  const ownOld = whyOldDeployment(kustomization, rollouts);
  const sourceOld = source && whyOldDeployment(source, rollouts);
  const ofSource = ownOld === undefined ? (sourceOld ?? (source && whyNotFetched(source))) : undefined;
  const notReached = ownOld ?? ofSource ?? whyReadyIsOld(kustomization);
  const behind = notReached ?? whyNotAttempted(kustomization, artifact);
  const notBegun = behind ?? whyOldAttempt(kustomization, context);
  const starts = attemptsSince(kustomization, context, source);
  // The spec has the version, and with many commits the newest one may never be attempted.
  const isInSpec = hasVersionInSpec(kustomization, source);
  const hasAttempts = notReached === undefined && isInSpec && starts.length > 0;
  if (notBegun !== undefined && !hasAttempts) {
    const isFirst = (ownOld ?? sourceOld) === undefined && neverSucceeded(kustomization);
    const failuresCountFrom = isFirst ? 0 : Number.POSITIVE_INFINITY;
    const ready = readyOf(kustomization);
    const waitsForTime = ofSource !== undefined || (behind === undefined && ready?.reason === BUILD_FAILED);
    return { waiting: notBegun, hasBegun: false, failuresCountFrom, waitsForTime };
  }
  const failedAttempt = failedAttemptOf(kustomization, context, source);
  const applying =
    artifact !== undefined && applied !== artifact
      ? `revision ${artifact} is being applied, ${applied ?? 'nothing'} was applied before`
      : whyGenerationIsOld(kustomization, kustomization.status?.observedGeneration);
  const waiting = notBegun ?? applying;
  if (waiting === undefined) return { hasBegun: true, failuresCountFrom: 0, failedAttempt };
  return { waiting, hasBegun: true, failuresCountFrom: firstAttempt(kustomization, starts), failedAttempt };
}

/** Whether a Rollout has deployed a version into the Kustomization or its source that it had deployed before. */
export function returnsToVersion({ kustomization, source, rollouts }: ObservedKustomization): boolean {
  const objects = [kustomization, ...(source ? [source] : [])];
  const deployers = objects.flatMap(({ metadata }) => parseDeployments(metadata.annotations?.[DEPLOYED]));
  const uids = new Set(deployers.map(({ uid }) => uid));
  return rollouts.some(({ metadata, status }) => {
    const [tag, ...older] = (status?.history ?? []).map((entry) => entry?.version?.tag);
    return uids.has(metadata.uid ?? '') && tag !== undefined && older.includes(tag);
  });
}

/** Whether Flux has never applied any revision: a failure cannot be an older revision's then. */
function neverSucceeded({ status }: Kustomization): boolean {
  return status?.observedGeneration === -1 && status.lastAppliedRevision === undefined;
}

/** Why the object's deployment is not its Rollout's newest; undefined if it is. */
function whyOldDeployment(object: FluxObject, rollouts: readonly Rollout[]): string | undefined {
  for (const deployment of parseDeployments(object.metadata.annotations?.[DEPLOYED])) {
    const rollout = rollouts.find((r) => r.metadata.uid === deployment.uid && r.metadata.name === deployment.rollout);
    const head = deploymentOf(rollout);
    if (head && head.id !== deployment.id) {
      return `${object.kind} ${object.metadata.name} has ${deploymentText(deployment)}, ${deploymentText(head)} is rolling out`;
    }
  }
  return undefined;
}

/**
 * Why the newest artifact counts as not attempted; undefined if Flux's last attempt was at it. Even an applied artifact
 * may count as not attempted: after a rollback the source has it again, while Ready still reports the failure of the
 * version in between.
 */
function whyNotAttempted({ status }: Kustomization, artifact: string | undefined): string | undefined {
  const { lastAttemptedRevision, lastAppliedRevision: applied } = status ?? {};
  const attempted = lastAttemptedRevision ?? applied;
  if (artifact === undefined || attempted === artifact) return undefined;
  if (applied === artifact)
    return `revision ${artifact} was applied, then ${attempted} was attempted: waiting for Flux to apply ${artifact} again`;
  return `revision ${artifact} is fetched, ${applied ?? 'nothing'} is applied`;
}

function whyReadyIsOld(kustomization: Kustomization): string | undefined {
  const ready = readyOf(kustomization);
  if (wasReadyAtSuspension(kustomization)) return undefined;
  return whyGenerationIsOld(kustomization, ready?.observedGeneration ?? kustomization.status?.observedGeneration);
}

function whyGenerationIsOld({ kind, metadata, spec }: Kustomization, seen: number | undefined): string | undefined {
  const { generation } = metadata;
  if (generation === undefined || seen === undefined || seen === generation) return undefined;
  const suspended = spec?.suspend ? ' (suspended)' : '';
  return `${kind} generation is ${generation}, but latest observed generation is ${seen}${suspended}`;
}

/** The reasons of an attempt that has applied nothing: a dependency is not ready, or the artifact can't be fetched. */
const NOTHING_APPLIED: readonly string[] = ['DependencyNotReady', 'ArtifactFailed'];

/**
 * The start of Flux's first attempt since the deployment, from its history; without that, of the attempt that runs, or
 * the end of the last one. Infinity if that has applied nothing. Trap: the time of Ready changes with each attempt, and
 * that of Reconciling with each step of an attempt.
 */
function firstAttempt(kustomization: Kustomization, starts: readonly EpochMs[]): EpochMs {
  const ready = readyOf(kustomization);
  const last = NOTHING_APPLIED.includes(ready?.reason ?? '')
    ? Number.POSITIVE_INFINITY
    : parseTime(ready?.lastTransitionTime);
  return earliestTime([...starts, last]) ?? 0;
}
