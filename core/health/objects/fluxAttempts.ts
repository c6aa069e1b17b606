/**
 * Flux's attempts to apply an object. Ready has the last one, and is Unknown while the next one runs, which may be
 * always: kustomize-controller begins again at once if its source has another commit, helm-controller if it has retries
 * left. Then only `status.history` shows that an attempt has failed (docs/facts.md, F13 and F14).
 */
import { DEPLOYED } from '../../../api/annotations.ts';
import { KINDS } from '../../../api/kinds.ts';
import type { AnyObject, EpochMs } from '../../../api/kubernetes.ts';
import { conditionsOf, fieldAt, type LooseCondition, numberAt, readyOf, stringAt } from '../../kstatus/fields.ts';
import { parseDuration } from '../../kube/duration.ts';
import { isMap } from '../../kube/json.ts';
import { isKind } from '../../kube/names.ts';
import { formatTime, parseTime } from '../../kube/time.ts';
import { lastSpecChange } from '../../kube/writers.ts';
import type { FirstFailures, HealthContext } from './healthContext.ts';

// The reasons of Ready=False that show that the version does not work. Flux retries all of them. The others
// (DependencyNotReady, ArtifactFailed, PruneFailed and future ones) only show that the version is not applied yet.
// Source: the reasons in the APIs of kustomize-controller (v1) and helm-controller (v2).

/** The failure that kustomize-controller doesn't record in its history. */
export const BUILD_FAILED = 'BuildFailed';
/** The failures that it records. */
const IN_HISTORY: readonly string[] = ['ReconciliationFailed', 'HealthCheckFailed'];
const SUCCEEDED = 'ReconciliationSucceeded';
/** Failures of helm-controller that leave no release behind if the chart could not even be rendered or sent. */
const NOT_RELEASED: readonly string[] = ['InstallFailed', 'UpgradeFailed'];
const FAILED_HELM_RELEASE: readonly string[] = [...NOT_RELEASED, 'TestFailed', 'RollbackFailed', 'UninstallFailed'];

/** A failed attempt at the object's present version. */
export interface FailedAttempt {
  reason: string;
  message: string;
  at: EpochMs | undefined;
  /**
   * Whether Flux may succeed when it tries again. One failure proves nothing about the version then: the API server may
   * have been down, or a node may have been lost while Flux waited for health.
   */
  mayPass: boolean;
}

/**
 * The last attempt of Flux at the object's present version, if it has failed; undefined for kinds of others.
 * @param source the source of a Kustomization, if it is known
 */
export function failedAttemptOf(
  object: AnyObject,
  context: HealthContext,
  source?: AnyObject,
): FailedAttempt | undefined {
  if (isKind(object, KINDS.HelmRelease)) return failedRelease(object, context);
  if (!isKind(object, KINDS.Kustomization)) return undefined;
  const ready = readyOf(object);
  if (ready === undefined || ready.status === 'True' || !isOfGeneration(object, ready)) return undefined;
  const isFailed = ready.status === 'False' && [BUILD_FAILED, ...IN_HISTORY].includes(ready.reason);
  if (!isFailed) return failureInHistory(object, context, source);
  return whyOldAttempt(object, context) === undefined ? failureOf(ready, context) : undefined;
}

function failureOf({ reason, message, lastTransitionTime }: LooseCondition, context: HealthContext): FailedAttempt {
  return { reason, message, at: parseTime(lastTransitionTime), mayPass: mayPass(reason, context) };
}

/** Whether the failure of kustomize-controller proves nothing: not a build, nor a wait for a health that never was. */
function mayPass(reason: string, { healthyUntil }: HealthContext): boolean {
  return reason === 'ReconciliationFailed' || (reason === 'HealthCheckFailed' && healthyUntil !== undefined);
}

/** Whether a condition is about the object's present spec. */
function isOfGeneration({ metadata }: AnyObject, { observedGeneration }: LooseCondition): boolean {
  return metadata.generation === undefined || (observedGeneration ?? metadata.generation) === metadata.generation;
}

/** The condition Stalled, if Flux has stopped at the present spec, even before it has observed the generation. */
export function stalledOf(object: AnyObject): LooseCondition | undefined {
  const observed = numberAt(object, ['status', 'observedGeneration']);
  return conditionsOf(object).find(
    ({ type, status, observedGeneration = observed }) =>
      type === 'Stalled' && status === 'True' && observedGeneration === object.metadata.generation,
  );
}

// The history of kustomize-controller (Flux 2.7): the newest five results of attempts.

interface FinishedAttempt {
  result: string;
  revision: string | undefined;
  /** The start of the first attempt with this result, and of the last one. */
  first: EpochMs;
  began: EpochMs;
  ended: EpochMs;
}

/** The attempts in the history, newest first. */
function finishedAttempts(kustomization: AnyObject): FinishedAttempt[] {
  const history = fieldAt(kustomization, ['status', 'history']);
  return (Array.isArray(history) ? history : []).flatMap((entry) => {
    const ended = parseTime(stringAt(entry, ['lastReconciled']));
    const took = parseDuration(stringAt(entry, ['lastReconciledDuration']));
    if (ended === undefined || took === undefined) return [];
    const first = (parseTime(stringAt(entry, ['firstReconciled'])) ?? ended) - took;
    const result = stringAt(entry, ['lastReconciledStatus']) ?? '';
    return [{ result, revision: stringAt(entry, ['metadata', 'revision']), first, began: ended - took, ended }];
  });
}

/**
 * Whether the Kustomization's spec alone has the deployed versions: then an attempt at any revision of its source has
 * them. If a Rollout sets the version of the source too, only attempts at that revision have it.
 */
export function hasVersionInSpec(kustomization: AnyObject, source: AnyObject | undefined): boolean {
  const isDeployed = ({ metadata }: AnyObject) => metadata.annotations?.[DEPLOYED] !== undefined;
  const mayHaveVersion = stringAt(kustomization, ['spec', 'sourceRef', 'kind']) === 'OCIRepository';
  return isDeployed(kustomization) && !(source ? isDeployed(source) : mayHaveVersion);
}

/**
 * The starts of attempts since the deployment at the deployed version, according to the history. Attempts at the spec
 * before had another version, for example while a Gate held the deployment.
 */
export function attemptsSince(
  kustomization: AnyObject,
  { cutoff = 0 }: HealthContext,
  source: AnyObject | undefined,
): EpochMs[] {
  const isSpecNew = numberAt(kustomization, ['status', 'observedGeneration']) !== kustomization.metadata.generation;
  const changed = (isSpecNew ? lastSpecChange(kustomization) : undefined) ?? 0;
  const attempted = stringAt(kustomization, ['status', 'lastAttemptedRevision']);
  return finishedAttempts(kustomization)
    .filter(({ revision }) => revision === attempted || hasVersionInSpec(kustomization, source))
    .flatMap(({ first, began }) => [first, began])
    .filter((at) => at > cutoff && at >= changed);
}

/** The newest attempt in the history, if it has failed, and began after the deployment. */
function failureInHistory(
  kustomization: AnyObject,
  context: HealthContext,
  source: AnyObject | undefined,
): FailedAttempt | undefined {
  const [last] = finishedAttempts(kustomization);
  if (!last || !IN_HISTORY.includes(last.result)) return undefined;
  if (!attemptsSince(kustomization, context, source).includes(last.began)) return undefined;
  const { result: reason, began, ended: at } = last;
  const message = `Flux's attempt from ${formatTime(began)} to ${formatTime(at)}`;
  return { reason, message, at, mayPass: mayPass(reason, context) };
}

/** The end of the last attempt that has succeeded; Infinity if it was the last of all, undefined if none is known. */
export function succeededAt(object: AnyObject): EpochMs | undefined {
  if (readyOf(object)?.status === 'True') return Number.POSITIVE_INFINITY;
  return finishedAttempts(object).find(({ result }) => result === SUCCEEDED)?.ended;
}

/**
 * Flux's present work on a Kustomization whose last attempt has not failed: Flux `applies` something new, or `repeats`
 * what it has applied. undefined if it does neither.
 */
export function workOf(object: AnyObject): 'applies' | 'repeats' | undefined {
  const ready = readyOf(object);
  const [last] = finishedAttempts(object);
  const isWorking = isKind(object, KINDS.Kustomization) && ready?.status === 'Unknown' && isOfGeneration(object, ready);
  if (!isWorking || (last && last.result !== SUCCEEDED)) return undefined;
  const [attempted, applied] = ['lastAttemptedRevision', 'lastAppliedRevision'].map((field) =>
    stringAt(object, ['status', field]),
  );
  const isObserved = numberAt(object, ['status', 'observedGeneration']) === object.metadata.generation;
  return isObserved && attempted === applied ? 'repeats' : 'applies';
}

// Attempts from before a deployment. Flux ends an attempt whatever is deployed meanwhile, and its conditions get the
// stored generation (docs/facts.md, F13). With `wait: true` that takes minutes.

/** Why the attempt, running or failed, may have begun before the deployment; undefined if nothing shows that. */
export function whyOldAttempt(kustomization: AnyObject, context: HealthContext): string | undefined {
  const { cutoff } = context;
  const ready = readyOf(kustomization);
  const isReconciling = ready?.status === 'Unknown';
  const began = isReconciling ? parseTime(ready.lastTransitionTime) : failedAttemptBegan(kustomization, ready, context);
  // Stored times have whole seconds.
  if (cutoff === undefined || began === undefined || began + 1000 > cutoff) return undefined;
  if (isReconciling) return 'Flux is still applying what it had before the deployment';
  const maybe = began === Number.NEGATIVE_INFINITY ? 'may have begun' : 'began';
  return `the failed attempt ${maybe} before the deployment`;
}

/**
 * The delay from the Ready condition until kustomize-controller writes its history, or begins the next attempt, because
 * the deployment has changed the spec or the source.
 */
const HISTORY_DELAY_MS = 10_000;
/** A build that began before a deployment fails within this time of it. Later failures count at once. */
const LONGEST_BUILD_MS = 60_000;

/**
 * The start of the failed attempt, from `status.history` of Flux 2.7; -Infinity until the history has it. It never has
 * a failed build: the start of one is unknown once the next attempt would have begun.
 */
function failedAttemptBegan(
  kustomization: AnyObject,
  ready: LooseCondition | undefined,
  { cutoff = Number.NEGATIVE_INFINITY, now }: HealthContext,
): EpochMs | undefined {
  const failed = parseTime(ready?.lastTransitionTime);
  if (ready?.status !== 'False' || failed === undefined) return undefined;
  const untilKnown = now - failed < HISTORY_DELAY_MS ? Number.NEGATIVE_INFINITY : undefined;
  if (ready.reason === BUILD_FAILED) return failed < cutoff + LONGEST_BUILD_MS ? untilKnown : undefined;
  if (!IN_HISTORY.includes(ready.reason) || fieldAt(kustomization, ['status', 'history', 0]) === undefined)
    return undefined;
  const [last] = finishedAttempts(kustomization);
  if (last?.result !== ready.reason || last.ended + 1000 < failed) return untilKnown;
  return last.began;
}

// Attempts of helm-controller. Its history has releases, also those of failed attempts.

// Conditions that still have a failure after its remediation, when Ready has the remediation's reason.
const RELEASED = 'Released';
const TEST_SUCCESS = 'TestSuccess';

function ignoresTests(object: AnyObject): boolean {
  return fieldAt(object, ['spec', 'test', 'ignoreFailures']) === true;
}

/**
 * The failure of a HelmRelease's newest version. Remediated stays True while Helm tries the next version, with Ready
 * Unknown: only Ready shows whether the newest version was rolled back. `UninstallSucceeded` without a remediation
 * belongs to a release that moves.
 */
function failedRelease(object: AnyObject, context: HealthContext): FailedAttempt | undefined {
  const ready = readyOf(object);
  if (ready === undefined || ready.status === 'True' || !isOfGeneration(object, ready)) return undefined;
  const { generation } = object.metadata;
  if ((numberAt(object, ['status', 'lastAttemptedGeneration']) ?? generation) !== generation) return undefined;
  const conditions = conditionsOf(object);
  const failures = ignoresTests(object) ? [RELEASED] : [RELEASED, TEST_SUCCESS];
  const cause = conditions.find(({ type, status }) => failures.includes(type) && status === 'False');
  const remediated = conditions.find(({ type, status }) => type === 'Remediated' && status === 'True');
  const { reason, message } = ready;
  const at = parseTime(ready.lastTransitionTime);
  if (ready.status === 'False' && reason === remediated?.reason) {
    if (!cause) return { reason, message, at, mayPass: false };
    return { reason: cause.reason, message: `${cause.message} (${reason}: ${message})`, at, mayPass: false };
  }
  const began = failedReleaseBegan(object);
  if (ready.status === 'False' && FAILED_HELM_RELEASE.includes(reason))
    return { reason, message, at, mayPass: NOT_RELEASED.includes(reason) && began === undefined };
  if (!cause || began === undefined || began <= (context.cutoff ?? 0)) return undefined;
  return { reason: cause.reason, message: cause.message, at, mayPass: false };
}

/** The start of the newest attempt that has left a failed release of the version that Helm attempts. */
function failedReleaseBegan(object: AnyObject): EpochMs | undefined {
  const { status } = object;
  const history = fieldAt(status, ['history']);
  const attempted = stringAt(status, ['lastAttemptedRevision']);
  const config = stringAt(status, ['lastAttemptedConfigDigest']);
  const release = (Array.isArray(history) ? history : []).find(
    (each) => stringAt(each, ['chartVersion']) === attempted && stringAt(each, ['configDigest']) === config,
  );
  const tests = ignoresTests(object) ? undefined : fieldAt(release, ['testHooks']);
  const hasFailed =
    ['failed', 'uninstalled'].includes(stringAt(release, ['status']) ?? '') ||
    Object.values(isMap(tests) ? tests : {}).some((test) => stringAt(test, ['phase']) === 'Failed');
  return hasFailed ? parseTime(stringAt(release, ['lastDeployed'])) : undefined;
}

// Whether an attempt that may pass has failed again.

/** The last attempt of Flux at one object. */
export interface LastAttempt {
  /** `<kind> <namespace>/<name>`. */
  object: string;
  failedAt: EpochMs | undefined;
  succeededAt: EpochMs | undefined;
}

/** The most objects of which a HealthCheck stores the first failed attempt. */
const MAX_STORED = 20;

/** The first failures now, and the objects with another failure, at least the grace period after the first one. */
export function failedAttempts(
  attempts: readonly LastAttempt[],
  { firstFailures, gracePeriod }: Pick<HealthContext, 'firstFailures' | 'gracePeriod'>,
): { firstFailures: FirstFailures; failedAgain: ReadonlySet<string> } {
  const failed = attempts.flatMap(({ object, failedAt, succeededAt = Number.NEGATIVE_INFINITY }) => {
    const [first] = [firstFailures.get(object), failedAt].filter((at) => at !== undefined && at > succeededAt);
    return first === undefined ? [] : [{ object, first, last: failedAt ?? first }];
  });
  // The clock of Flux may have been set back.
  const again = failed.filter(({ first, last }) => Math.abs(last - first) >= gracePeriod);
  return {
    firstFailures: new Map(failed.slice(0, MAX_STORED).map(({ object, first }) => [object, first])),
    failedAgain: new Set(again.map(({ object }) => object)),
  };
}
