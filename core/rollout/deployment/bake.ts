/** The bake of the newest deployment: its start, its success or failure, and its retry. */
import { READY } from '../../../api/conditions.ts';
import type { EpochMs } from '../../../api/kubernetes.ts';
import type { FluxBinding, HealthCheck, HistoryEntry } from '../../../api/types.ts';
import { deployCutoff, knownHealth, knownInBake } from '../../health/knownHealth.ts';
import { falseCondition, type NewCondition, trueCondition } from '../../kube/conditions.ts';
import type { NewEvent } from '../../kube/events.ts';
import { formatTime, latestTime, parseTime, startSeconds } from '../../kube/time.ts';
import {
  APPLIED,
  BAKE_COMPLETED,
  BAKE_STARTED,
  BAKE_TIME_PASSED,
  BAKE_TIMEOUT,
  bakeTimePassedDespite,
  DEPLOY_TIMEOUT,
  deploymentEvent,
  ERROR_AFTER_BAKE_STARTED,
  ERROR_AFTER_DEPLOYMENT,
  NOTHING_BOUND,
  tagMovedMessage,
} from './deploymentMessages.ts';
import { checksRevision, type FailedCheck, failuresOf, notReady, steadyFrom } from './healthChecks.ts';
import { hasNoBake, isUnfinished } from './history.ts';
import { endedEntry, type ProgressContext, targetName, unapplied, withProgress } from './progress.ts';

export interface BakeConfig {
  /** Milliseconds. */
  bakeTime?: number;
  /** Milliseconds. */
  deployTimeout?: number;
  /** Behavior of the Go controller: time alone ends a bake, and without bake settings nothing is waited for. */
  kuberikCompat?: boolean;
}

interface BakeContext extends ProgressContext {
  config: BakeConfig;
  /** Recovery mode, BakeFailureDisabled: neither errors nor the timeout fail the deployment. */
  recovery: boolean;
  /** Whether the tag now names another image than the deployed one: nothing shows which of the two the objects run. */
  isTagMoved?: boolean;
}

interface BakeStep {
  head: HistoryEntry;
  ready?: NewCondition;
  events: NewEvent[];
  /** The next time at which the result may change without a write. */
  requeueAt?: EpochMs;
}

/** A step of the newest deployment, if there is one. */
interface HeadStep extends Omit<BakeStep, 'head'> {
  /** undefined if there is no deployment. */
  head: HistoryEntry | undefined;
  /**
   * The live reads that have to come before the step is carried out. `bindings`: the deployment becomes applied, its
   * bake starts without bound objects, or it ends or begins anew. `health`: the bake begins or ends.
   */
  needs: ('bindings' | 'health')[];
}

/**
 * The retry of the newest deployment: a user requests it for one that has failed, or the Go controller's dashboard sets
 * one whose bake has started to Deploying.
 */
export function retryHead(
  head: HistoryEntry | undefined,
  isRequested: boolean,
  healthChecks: readonly HealthCheck[],
  { kuberikCompat }: BakeConfig,
  now: EpochMs,
): HeadStep {
  const isReset = head?.bakeStatus === 'Deploying' && head.bakeStartTime !== undefined && !kuberikCompat;
  const isRetried = isRequested && head?.bakeStatus === 'Failed';
  const again = head && (isReset || isRetried) ? deployedAgain(head, healthChecks, now) : undefined;
  const message = again
    ? `Retry requested; bake status reset at ${again.lastRetryTimestamp}`
    : 'Retry ignored: the last deployment has not failed';
  const event: NewEvent = again
    ? deploymentEvent(again, 'Normal', 'RetryRequested', message)
    : { type: 'Normal', reason: 'RetryIgnored', message };
  return { head: again ?? head, needs: again ? ['bindings'] : [], events: isRequested ? [event] : [] };
}

/**
 * The progress of the newest deployment: the proof that it is applied, and its bake.
 * @param mayBake false while the Rollout's spec has problems
 */
export function advanceHead(head: HistoryEntry, context: BakeContext, mayBake: boolean): HeadStep {
  const { config, now } = context;
  const end = bakeEnd(head, config) ?? parseTime(head.bakeStartTime);
  const isBakeTimeOver = end !== undefined && end <= now;
  const proven = withProgress(head, context, isBakeTimeOver);
  // The proof is stored for a failed deployment too: its retry relies on it.
  const isNowApplied = head.appliedTime === undefined && proven.appliedTime !== undefined;
  const needs: HeadStep['needs'] = isNowApplied ? ['bindings'] : [];
  if (!isUnfinished(proven) || !mayBake) return { head: proven, needs, events: [] };
  const step = bakeStep(withGrace(proven, context), context);
  const starts = proven.bakeStartTime === undefined && step.head.bakeStartTime !== undefined;
  const ends = !isUnfinished(step.head);
  if (ends || (starts && proven.appliedTime === undefined)) needs.push('bindings');
  if (starts || ends) needs.push('health');
  return { ...step, needs };
}

/** The deployment after the next step of its bake, if there is one. */
export function bakeStep(head: HistoryEntry, context: BakeContext): BakeStep {
  const { rollout, bound, healthChecks, config, recovery, now } = context;
  const home = rollout.metadata.namespace;
  const started = parseTime(head.bakeStartTime);
  const unappliedObjects = unapplied(head, bound, rollout);
  if (!config.kuberikCompat && hasNoBake(head, rollout)) {
    return unappliedObjects.length > 0 ? { head, events: [] } : appliedStep(head, context);
  }
  if (context.isTagMoved && !config.kuberikCompat)
    return failedStep(head, tagMovedMessage(head.version.tag), [], context);

  const deadline = started === undefined ? failsAt(head, config, recovery) : undefined;
  const mayStart =
    started === undefined && unappliedObjects.length === 0 && notReady(healthChecks, head, home).length === 0;
  // This sync may be late, after an outage of the hooks: a version that is applied and healthy has not failed.
  if (deadline !== undefined && now > deadline && (config.kuberikCompat || !mayStart)) {
    return failedStep(head, timeoutMessage('before', unappliedObjects), notReady(healthChecks, head, home), context);
  }
  // Health from before the apply is the old version's, unless the check can distinguish versions.
  const isApplied = started !== undefined || unappliedObjects.length === 0;
  const watched = isApplied ? healthChecks : healthChecks.filter(checksRevision);
  const errors = failuresOf(watched, head);
  if (!recovery && errors.length > 0) {
    return failedStep(head, started === undefined ? ERROR_AFTER_DEPLOYMENT : ERROR_AFTER_BAKE_STARTED, errors, context);
  }
  if (started !== undefined) return continueBake(head, context);
  if (mayStart) return startBake(head, context);
  return { head, events: [], ...(deadline !== undefined && { requeueAt: deadline + 1 }) };
}

/** The end of a deployment that does not bake. Ready reports it as deployed already, except after a retry. */
function appliedStep(head: HistoryEntry, { bound, rollout, now }: BakeContext): BakeStep {
  const message = bound.length > 0 ? APPLIED : NOTHING_BOUND;
  const done = endedEntry(head, 'Succeeded', message, rollout, now);
  return {
    head: done,
    ...(head.lastRetryTimestamp && { ready: trueCondition(READY, 'RolloutSucceeded', message) }),
    events: [deploymentEvent(done, 'Normal', 'DeploymentApplied', message)],
  };
}

/**
 * The time at which the deployment fails by deployTimeout, unless its bake has started by then, or ended after its
 * bakeTime. undefined without deployTimeout, in recovery mode, and while a closed Gate holds the deployment.
 */
export function failsAt(head: HistoryEntry, config: BakeConfig, isRecovery: boolean): EpochMs | undefined {
  if (config.deployTimeout === undefined || isRecovery || head.waitingSince !== undefined) return undefined;
  const started = parseTime(head.bakeStartTime);
  const from = started === undefined ? deployCutoff(head) : (bakeEnd(head, config) ?? started);
  return from + config.deployTimeout + ((head.waitedSeconds ?? 0) + (head.graceSeconds ?? 0)) * 1000;
}

/** A sync is requested for the deadline. If it comes this much later, there was an outage. */
const OUTAGE_MS = 60_000;
/** The time for reports about objects and health to follow after an outage. */
const REPORTED_WITHIN_MS = 60_000;

/**
 * The head, with a later deadline if the deadline passed in an outage of the hooks, Metacontroller or the API server.
 * The hooks that report about objects and health have not run either. The write of the status triggers them.
 * A deployTimeout that is already over when a user sets it looks like an outage, and gets the same grace.
 */
function withGrace(head: HistoryEntry, { config, recovery, now }: BakeContext): HistoryEntry {
  const deadline = config.kuberikCompat ? undefined : failsAt(head, config, recovery);
  if (deadline === undefined || now <= deadline + OUTAGE_MS) return head;
  const seconds = Math.ceil((now + REPORTED_WITHIN_MS - deadline) / 1000);
  return { ...head, graceSeconds: (head.graceSeconds ?? 0) + seconds };
}

/** @param objects those that have not applied the deployment */
function timeoutMessage(when: 'before' | 'after', objects: readonly FluxBinding[]): string {
  if (objects.length === 0) return when === 'before' ? DEPLOY_TIMEOUT : BAKE_TIMEOUT;
  const what = when === 'before' ? 'before bake could start' : 'after the bake time';
  return `Deploy timeout reached ${what} (not applied to ${objects.map(targetName).join(', ')}).`;
}

/** The message of a bake that has succeeded. Only in recovery mode there may be errors, which did not fail it. */
function passedMessage(errors: readonly FailedCheck[]): string {
  if (errors.length === 0) return BAKE_TIME_PASSED;
  const [first, ...others] = errors.map(({ namespace, name }) => `HealthCheck '${namespace}/${name}'`);
  return bakeTimePassedDespite(others.length > 0 ? `${first} and ${others.length} more` : `${first}`);
}

function startBake(head: HistoryEntry, context: BakeContext): BakeStep {
  const at = startSeconds(context.now);
  // deployTimeout begins anew after the bake.
  const { waitedSeconds, waitingSince, graceSeconds, ...rest } = head;
  const baking = {
    ...rest,
    bakeStatus: 'InProgress',
    bakeStatusMessage: BAKE_STARTED,
    bakeStartTime: formatTime(at),
    // Even without a healthCheckSelector: one that is set during the bake may select a check that is already Unhealthy.
    ...(!context.config.kuberikCompat && {
      knownHealth: knownInBake({ knownHealth: [], ...rest }, context.healthChecks),
    }),
  };
  const started = deploymentEvent(baking, 'Normal', 'BakeTimeStarted', 'Bake time started, monitoring for errors.');
  const step = continueBake(baking, context);
  return { ...step, events: [started, ...step.events] };
}

/** The next step of a bake that has started: it continues, waits for health after bakeTime, or ends. */
function continueBake(head: HistoryEntry, context: BakeContext): BakeStep {
  const { config, healthChecks, bound, rollout, recovery, now } = context;
  const { bakeTime, kuberikCompat } = config;
  const end = bakeEnd(head, config) ?? now;
  if (now < end) return { head, events: [], requeueAt: end };
  const unappliedObjects = kuberikCompat ? [] : unapplied(head, bound, rollout);
  const waits = kuberikCompat ? [] : notReady(healthChecks, head, rollout.metadata.namespace);
  if (unappliedObjects.length + waits.length > 0) {
    const deadline = failsAt(head, config, recovery);
    if (deadline !== undefined && now > deadline)
      return failedStep(head, timeoutMessage('after', unappliedObjects), waits, context);
    return { head, events: [], ...(deadline !== undefined && { requeueAt: deadline + 1 }) };
  }
  const until = bakeUntil(head, config, healthChecks);
  if (until !== undefined && now < until) return { head, events: [], requeueAt: until };
  const message = bakeTime === undefined ? BAKE_COMPLETED : passedMessage(failuresOf(healthChecks, head));
  const done = endedEntry(head, 'Succeeded', message, rollout, now);
  return {
    head: done,
    ready: trueCondition(READY, 'BakeTimePassed', message),
    events: [deploymentEvent(done, 'Normal', 'BakeTimePassed', message)],
  };
}

/**
 * The end of bakeTime; undefined without bakeTime, or before the bake has started. If no object was bound at the start
 * of the bake, and one is bound during it, bakeTime counts from the time at which that object applies the version.
 */
export function bakeEnd(head: HistoryEntry, { bakeTime, kuberikCompat }: BakeConfig): EpochMs | undefined {
  const started = parseTime(head.bakeStartTime);
  if (started === undefined || bakeTime === undefined) return undefined;
  const applied = kuberikCompat ? undefined : parseTime(head.appliedTime);
  return Math.max(started, applied ?? started) + bakeTime;
}

/**
 * The end of the bake if all checks stay Healthy: the end of its bakeTime, and of the grace periods of checks that
 * became Healthy again. undefined before the bake has started, and if it waits for neither.
 */
export function bakeUntil(
  head: HistoryEntry,
  config: BakeConfig,
  healthChecks: readonly HealthCheck[],
): EpochMs | undefined {
  return latestTime([bakeEnd(head, config), config.kuberikCompat ? undefined : steadyFrom(healthChecks, head)]);
}

function failedStep(
  head: HistoryEntry,
  message: string,
  checks: FailedCheck[],
  { rollout, now }: BakeContext,
): BakeStep {
  const ended = endedEntry(head, 'Failed', message, rollout, now);
  const failed = { ...ended, ...(checks.length > 0 && { failedHealthChecks: checks }) };
  return {
    head: failed,
    ready: falseCondition(READY, 'BakeTimeFailed', message),
    events: [deploymentEvent(failed, 'Warning', 'BakeTimeFailed', message)],
  };
}

/**
 * The head at the beginning of another attempt. `appliedTime` stays, because the policy `rollout-history` forbids its
 * removal; comparisons with it therefore also use the time of the retry.
 */
function deployedAgain(head: HistoryEntry, checks: readonly HealthCheck[], now: EpochMs): HistoryEntry {
  const { bakeStatusMessage, bakeStartTime, bakeEndTime, failedHealthChecks, ...others } = head;
  const { waitedSeconds, waitingSince, graceSeconds, ...rest } = others;
  return {
    ...rest,
    bakeStatus: 'Deploying',
    lastRetryTimestamp: formatTime(now),
    knownHealth: rest.knownHealth && knownHealth(checks, rest.knownHealth),
  };
}
