/** Steps of a deployment after its commit: the bound Flux objects, the HealthChecks that watch it, its bake. */
import { HEALTH_CHECKS_LEFT_OUT, READY } from '../../../api/conditions.ts';
import type { FluxObject } from '../../../api/flux.ts';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { FluxBinding, HealthCheck, HistoryEntry, Rollout } from '../../../api/types.ts';
import { association, healthCheckLabels } from '../../../core/health/association.ts';
import { howToAllow, mayBeWatched } from '../../../core/health/consent.ts';
import type { HealthStatus } from '../../../core/health/healthStatus.ts';
import { countedFor } from '../../../core/health/job/checkJob.ts';
import { metricCheckOf } from '../../../core/health/prometheus/measurement.ts';
import { findCondition } from '../../../core/kube/conditions.ts';
import { parseDuration } from '../../../core/kube/duration.ts';
import { withoutEmpty } from '../../../core/kube/json.ts';
import { identityOf, refKey } from '../../../core/kube/names.ts';
import { formatTime, parseTime } from '../../../core/kube/time.ts';
import { parseDeployments } from '../../../core/managedField/deployment.ts';
import { bakeUntil, failsAt } from '../../../core/rollout/deployment/bake.ts';
import { deploymentSummary } from '../../../core/rollout/deployment/deploymentMessages.ts';
import { isInRecovery } from '../../../core/rollout/deployment/entry.ts';
import { isUnhealthy, sortedChecks } from '../../../core/rollout/deployment/healthChecks.ts';
import { hasNoBake, isUnfinished } from '../../../core/rollout/deployment/history.ts';
import { targetName, unapplied } from '../../../core/rollout/deployment/progress.ts';
import { awaitsFix } from '../../../core/rollout/rolloutConditions.ts';
import { withoutCommands } from '../../../core/text/commands.ts';
import { firstFew } from '../../../core/text/firstFew.ts';
import {
  type MeasurementView,
  type MetricView,
  objectRef,
  type Step,
  type StepState,
  targetRef,
} from '../application.ts';
import { fluxFailure } from '../fluxFailure.ts';
import { finder, objectFinder, type RelatedObjects, unreadReason, watchesOtherNamespaces } from '../related.ts';
import { blockerOf, listsAllBlockers, storedBlockers } from './storedBlockers.ts';

/** The steps for bound Flux objects. `objects`: those that could be read. */
export function bindingSteps(rollout: Rollout, bound: readonly FluxBinding[], objects: readonly FluxObject[]): Step[] {
  const find = objectFinder(objects);
  const { name, namespace = '' } = rollout.metadata;
  const [head] = rollout.status?.history ?? [];
  return bound.map((binding) => {
    const { kind = '', name: target = '' } = binding.spec?.target ?? {};
    const ready = findCondition(binding.status?.conditions, READY);
    const carried = binding.status?.applied?.find(({ rollout: of }) => of === name);
    const isApplied = head !== undefined && unapplied(head, [binding], rollout).length === 0;
    // The FluxBinding may still report the version before: as applied, or as waiting to be applied.
    const mayReportOlder =
      ready?.status === 'True' || (ready?.status === 'Unknown' && reportsOlder(binding, rollout, head));
    const isBehind = head !== undefined && !isApplied && mayReportOlder;
    const state = isBehind ? 'waits' : bindingState(isApplied, ready?.status);
    const found = state === 'blocks' ? undefined : find(kind, { namespace, name: target });
    const failure = found && fluxFailure(found);
    return {
      id: `binding/${kind}/${target}`,
      kind: 'binding' as const,
      state: failure ? ('failed' as const) : state,
      title: `${kind} ${namespace}/${target}`,
      ...withoutEmpty({
        object: targetRef(kind, { namespace, name: target }),
        version: carried?.version ?? (isApplied ? head?.version.tag : undefined),
        detail:
          failure?.message ??
          (isBehind ? `waiting for Flux to apply ${head.version.tag}` : (ready?.message ?? 'not reported yet')),
        since: failure
          ? failure.since
          : isApplied
            ? ready?.lastTransitionTime
            : laterTime(ready?.lastTransitionTime, head),
      }),
    };
  });
}

function reportsOlder({ status }: FluxBinding, { metadata }: Rollout, head: HistoryEntry | undefined): boolean {
  return parseDeployments(status?.deployed).some(
    ({ rollout, uid, id }) => rollout === metadata.name && uid === metadata.uid && id < (head?.id ?? 0),
  );
}

/** The later of `since` and the start of the deployment: the object may have waited for the one before already. */
function laterTime(since: string | undefined, head: HistoryEntry | undefined): string | undefined {
  if (!head) return since;
  return (parseTime(since) ?? 0) > (parseTime(head.timestamp) ?? 0) ? since : head.timestamp;
}

function bindingState(isApplied: boolean, ready: string | undefined): StepState {
  if (ready === 'True' || (isApplied && ready !== 'False')) return 'passed';
  return ready === 'False' ? 'blocks' : 'waits';
}

/** The steps for the HealthChecks that the Rollout watches, also in other namespaces. */
export function checkSteps(rollout: Rollout, related: RelatedObjects): Step[] {
  if (!healthCheckLabels(rollout.spec?.healthCheckSelector)) return [];
  const home = rollout.metadata.namespace ?? '';
  const why = unreadReason(related, 'HealthCheck', home);
  if (why !== undefined) return [unreadChecksStep('HealthChecks', why)];
  const { namespaces } = related;
  const unhealthy = blocksNothing(rollout) ? 'waits' : 'blocks';
  const steps = selectedChecks(rollout, related).map(({ check, isLeftOut }) =>
    isLeftOut
      ? leftOutStep(check, home)
      : { ...checkStep(countedFor(rollout, check), unhealthy), ...withoutEmpty({ metric: metricOf(check) }) },
  );
  if (Array.isArray(namespaces) || !watchesOtherNamespaces(rollout)) return steps;
  const unread = namespaces && 'unread' in namespaces ? namespaces.unread : 'not read here';
  return [...steps, unreadChecksStep('HealthChecks of other namespaces', unread)];
}

/** Whether no HealthCheck blocks the version that waits, such as the first or a requested one. */
function blocksNothing(rollout: Rollout): boolean {
  const { pendingVersion, history = [] } = rollout.status ?? {};
  if (history.length === 0) return true;
  if (isUnfinished(history[0]) || pendingVersion === undefined || !listsAllBlockers(rollout)) return false;
  const blockers = storedBlockers(rollout, pendingVersion);
  // Health isn't listed for a release that is too young, which it blocks once that is old enough.
  return !blockerOf(blockers, 'Health') && !blockerOf(blockers, 'MinimumAge');
}

/** The HealthChecks that the Rollout selects, in order, and whether each is left out because it hasn't consented. */
function selectedChecks(
  rollout: Rollout,
  { healthChecks, namespaces }: RelatedObjects,
): { check: HealthCheck; isLeftOut: boolean }[] {
  const home = rollout.metadata.namespace ?? '';
  const find = finder<KubeObject>(Array.isArray(namespaces) ? namespaces : NO_NAMESPACES);
  const namespaceOf = (check: HealthCheck) => find({ namespace: '', name: check.metadata.namespace ?? '' });
  const selected = healthChecks.filter(
    (check) => association(rollout, check, namespaceOf(check)?.metadata.labels ?? {}) === 'watched',
  );
  // Without this condition the Rollout watches all of them, even without consent (WATCH_WITHOUT_CONSENT).
  const hasLeftOut = findCondition(rollout.status?.conditions, HEALTH_CHECKS_LEFT_OUT)?.status === 'True';
  return sortedChecks(selected).map((check) => ({
    check,
    isLeftOut:
      hasLeftOut &&
      check.metadata.namespace !== home &&
      ![check, namespaceOf(check)].some((each) => mayBeWatched(each, home)),
  }));
}

function watchedChecks(rollout: Rollout, related: RelatedObjects): HealthCheck[] {
  return selectedChecks(rollout, related).flatMap(({ check, isLeftOut }) => (isLeftOut ? [] : [check]));
}

const NO_NAMESPACES: readonly KubeObject[] = [];

function unreadChecksStep(title: string, why: string): Step {
  return { id: 'check', kind: 'check', state: 'unknown', title, detail: `could not be read: ${why}` };
}

function leftOutStep(check: HealthCheck, home: string): Step {
  return { ...checkStep(check, 'waits'), state: 'unknown', detail: `not watched: ${howToAllow(home)}` };
}

/** @param unhealthy the state of the step if the HealthCheck is Unhealthy */
function checkStep(check: HealthCheck, unhealthy: StepState): Step {
  const ref = identityOf(check);
  const { status = 'Pending', message, lastChangeTime } = check.status ?? {};
  return {
    id: `check/${refKey(ref)}`,
    kind: 'check',
    state: status === 'Healthy' ? 'passed' : isUnhealthy(check) ? unhealthy : 'waits',
    title: `HealthCheck ${refKey(ref)}`,
    object: objectRef('HealthCheck', ref),
    detail: message ? `${status}: ${withoutCommands(message)}` : status,
    ...withoutEmpty({ since: lastChangeTime }),
  };
}

/** The step for the end of the newest deployment: its bake, if it bakes. */
export function bakeSteps(rollout: Rollout, bound: readonly FluxBinding[], related: RelatedObjects): Step[] {
  const [head] = rollout.status?.history ?? [];
  if (!head?.bakeStatus) return [];
  const bakeTime = parseDuration(rollout.spec?.bakeTime);
  const deployTimeout = parseDuration(rollout.spec?.deployTimeout);
  const started = parseTime(head.bakeStartTime);
  const times = withoutEmpty({ bakeTime, deployTimeout });
  const isRecovery = isInRecovery(rollout.status?.conditions);
  const endOf = () =>
    started === undefined ? failsAt(head, times, isRecovery) : bakeUntil(head, times, watchedChecks(rollout, related));
  const waiting = unapplied(head, bound, rollout);
  // A bake that has begun doesn't end by its time while a bound object lacks the version.
  const endsByTime = isUnfinished(head) && !awaitsFix(rollout) && (started === undefined || waiting.length === 0);
  const end = endsByTime ? endOf() : undefined;
  const until = end === undefined ? undefined : formatTime(end);
  const isWithoutBake = hasNoBake(head, rollout);
  const summary =
    isWithoutBake && head.bakeStatus === 'Succeeded' ? 'completed, without a bake' : deploymentSummary(head, rollout);
  const detail =
    isUnfinished(head) && waiting.length > 0 ? `waits for ${firstFew(waiting.map(targetName), 3)}` : summary;
  return [
    {
      id: 'bake',
      kind: 'bake',
      state: BAKE_STATES[head.bakeStatus] ?? 'unknown',
      title: `${isWithoutBake ? 'Deployment' : 'Bake'} of ${head.version.tag}`,
      version: head.version.tag,
      detail,
      ...withoutEmpty({
        since: head.bakeEndTime ?? head.bakeStartTime ?? head.lastRetryTimestamp ?? head.timestamp,
        until,
      }),
    },
  ];
}

const BAKE_STATES: Record<string, StepState> = {
  Deploying: 'waits',
  InProgress: 'waits',
  Succeeded: 'passed',
  Failed: 'failed',
  Cancelled: 'passed',
};

// Measurements of a HealthCheck of class prometheus, as numbers: a reporter may store any text as a value.

type StoredMeasurement = NonNullable<NonNullable<HealthStatus['prometheus']>['measurements']>[number];

/** The format in which the hook writes numbers. */
const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/;
/** The largest absolute value: differences and quotients of such numbers are finite. */
const MAX_NUMBER = 1e100;

/** The measurements of a HealthCheck; undefined if it is of another class, or has no valid measurement. */
export function metricOf(check: HealthCheck): MetricView | undefined {
  const requested = metricCheckOf(check);
  const measurements = (check.status?.prometheus?.measurements ?? [])
    .flatMap(measurementOf)
    .reverse()
    .sort((a, b) => a.at.localeCompare(b.at));
  if (!requested || measurements.length === 0) return undefined;
  const { min, max } = requested.range;
  return { ...withoutEmpty({ min: boundedNumber(min), max: boundedNumber(max) }), measurements };
}

function measurementOf({ time, result, value = '' }: StoredMeasurement): MeasurementView[] {
  const at = parseTime(time);
  if (at === undefined) return [];
  const hasValue = (result === 'InRange' || result === 'OutOfRange') && NUMBER.test(value);
  return [
    { at: formatTime(at), result, ...withoutEmpty({ value: hasValue ? boundedNumber(Number(value)) : undefined }) },
  ];
}

function boundedNumber(value: number | undefined): number | undefined {
  return value !== undefined && Math.abs(value) <= MAX_NUMBER ? value : undefined;
}
