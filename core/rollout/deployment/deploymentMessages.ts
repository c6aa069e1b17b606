/** Texts of the history and of Ready. Clients of the Go controller match them: see docs/compatibility.md. */
import type { HistoryEntry, Rollout } from '../../../api/types.ts';
import { type NewEvent, ORDER } from '../../kube/events.ts';
import { parseTime } from '../../kube/time.ts';
import { hasNoBake } from './history.ts';

export const NO_BAKE = 'No bake time configured, deployment completed immediately.';
// Messages without a bake: with no bound object; with bound objects, before and after Flux has applied the version.
export const NOTHING_BOUND = 'No bake time configured and no object is bound, deployment completed immediately.';
export const WAITING_TO_BE_APPLIED = 'Waiting for Flux to apply it to every bound object (no bake time configured).';
export const APPLIED = 'No bake time configured, deployment completed once Flux had applied it to every bound object.';
/** The text of `spec.initialVersion`. */
export const RAN_BEFORE = 'Adopted without a bake: the version was running before this Rollout was created.';
export const WAITING_FOR_HEALTH = 'Waiting for health checks to become healthy before starting bake.';
/** Why a deployment makes no progress: a closed Gate, or the suspension that it left behind. */
export const HELD = 'a Gate is closed, or has opened and an object is still suspended';
/** Replaces WAITING_FOR_HEALTH while a closed Gate, or the suspension that it left behind, holds the deployment. */
export const HELD_BY_GATE = `Held: ${HELD}. The bake starts once the version is applied and healthy.`;
/** Replaces WAITING_TO_BE_APPLIED while a closed Gate, or the suspension that it left behind, holds the deployment. */
export const HELD_BY_GATE_WITHOUT_BAKE = `Held: ${HELD}.`;
export const BAKE_STARTED = 'Bake started, monitoring for errors.';
export const BAKE_TIME_PASSED = 'Bake time completed successfully (no errors within bake time).';
/** The message of a bake in recovery mode whose errors did not count. */
export function bakeTimePassedDespite(checks: string): string {
  return `Bake time completed successfully (recovery mode: errors of ${checks} did not count).`;
}
export const BAKE_COMPLETED = 'Bake completed (no bake time configured).';
export const DEPLOY_TIMEOUT =
  'Deploy timeout reached before bake could start (health checks did not become healthy in time).';
/** The planned end of the bake is deployTimeout ago, and a HealthCheck is still not Healthy. */
export const BAKE_TIMEOUT = 'Deploy timeout reached after the bake time (health checks were not healthy).';
export const ERROR_AFTER_DEPLOYMENT = 'A HealthCheck reported an error after deployment.';
export const ERROR_AFTER_BAKE_STARTED = 'A HealthCheck reported an error after bake started.';
export function tagMovedMessage(tag: string): string {
  return `The tag ${tag} was moved to another image before the deployment had succeeded: publish that image under a new tag.`;
}
export const BAKE_CANCELLED = 'Bake cancelled due to new deployment.';
export function replacedMessage(by: string): string {
  return `Replaced by ${by} before Flux had applied it to every bound object.`;
}
/** The beginning of the text that dashboards write when a user marks a deployment successful. */
export const MARKED_SUCCESSFUL = 'Deployment manually marked as successful by user';

/** The choice of a deployment's version. InitialVersion: it ran before there was a Rollout. */
export type Trigger = 'Automatic' | 'Manual' | 'Rollback' | 'InitialVersion';

type Origin = NonNullable<HistoryEntry['origin']>;

/** The `origin` of a history entry: the cause of the deployment as data. */
export function originOf(
  trigger: Trigger,
  { isForced, isBypassed, isUnblocked }: Record<'isForced' | 'isBypassed' | 'isUnblocked', boolean>,
): Origin {
  return [
    trigger,
    ...(isForced ? (['ForceDeploy'] as const) : []),
    ...(isBypassed ? (['GateBypass'] as const) : []),
    ...(isUnblocked ? (['FailedBakeUnblock'] as const) : []),
  ];
}

/** The `message` of a history entry without one from the user. */
export function historyMessage(origin: Origin, rolledBackFrom: string | undefined): string {
  const [trigger] = origin;
  if (trigger === 'InitialVersion') return 'Adopted: spec.initialVersion';
  if (trigger === 'Rollback') return `Automatic rollback from ${rolledBackFrom}`;
  return [
    `${trigger} deployment`,
    ...(origin.includes('ForceDeploy') ? ['with force deploy'] : []),
    ...(origin.includes('GateBypass') ? ['with gate bypass'] : []),
    ...(origin.includes('FailedBakeUnblock') ? ['with failed bake unblock'] : []),
  ].join(', ');
}

/** The bypass and the unblocking without which the deployment would have waited, for Ready and the Event. */
function exceptionsOf({ origin = [] }: HistoryEntry): string[] {
  return [
    ...(origin.includes('GateBypass') ? ['gate bypass'] : []),
    ...(origin.includes('FailedBakeUnblock') ? ['failed bake unblock'] : []),
  ];
}

/** The message of Ready after a deployment. */
export function readyMessage(head: HistoryEntry, rollout: Rollout): string {
  const exceptions = exceptionsOf(head);
  const how = exceptions.length > 0 ? ` with ${exceptions.join(' and ')}` : '';
  return `Release deployed successfully${how}. ${deploymentSummary(head, rollout)}`;
}

export function deployedMessage(head: HistoryEntry): string {
  const notes = exceptionsOf(head).map((each) => ` (with ${each})`);
  return `Successfully deployed version ${head.version.tag}${notes.join('')}`;
}

/** The progress of a deployment in a few words. */
export function deploymentSummary(head: HistoryEntry, rollout: Rollout): string {
  const isAwaited = head.bakeStatus === 'Deploying' && head.waitingSince === undefined && hasNoBake(head, rollout);
  return isAwaited ? 'Waiting for Flux to apply it to every bound object' : bakeSummary(head);
}

/** The state of a bake in a few words. */
export function bakeSummary(head: HistoryEntry | undefined): string {
  if (!head) return 'No deployment history';
  const detail = head.bakeStatusMessage ? `: ${head.bakeStatusMessage}` : '';
  switch (head.bakeStatus) {
    case undefined:
      return 'No bake status';
    case 'Deploying':
      return head.waitingSince === undefined
        ? 'Waiting for health checks to become healthy before starting bake'
        : `Held: ${HELD}`;
    case 'InProgress':
      return 'Baking in progress, monitoring for errors';
    case 'Succeeded':
      return 'Bake completed successfully';
    case 'Failed':
      return `Bake failed${detail}`;
    case 'Cancelled':
      return `Bake cancelled${detail}`;
    default:
      return `Unknown bake status: ${head.bakeStatus}`;
  }
}

// Events about a deployment, or a retry of it, and their order within a second.

/** The reasons of Events that begin a deployment, in order. Events that end it come after these. */
const FIRST_REASONS = [
  'AutomaticRollback',
  'RetryRequested',
  'DeploymentAdopted',
  'DeploymentSucceeded',
  'BakeTimeDeploying',
  'BakeTimeStarted',
];

/** An Event about a deployment, or about its latest retry: a retried deployment starts and ends again. */
export function deploymentEvent(
  entry: HistoryEntry,
  type: NewEvent['type'],
  reason: string,
  message: string,
): NewEvent {
  return {
    ...{ type, reason, message },
    about: deploymentKey(entry),
    order: orderOf(entry, reason),
    version: entry.version.tag,
  };
}

/** The key of a deployment, or of a retry, within its Rollout. */
function deploymentKey({ id, timestamp, lastRetryTimestamp }: HistoryEntry): string {
  return [id ?? timestamp, ...(lastRetryTimestamp ? [lastRetryTimestamp] : [])].join('/');
}

/** The order of an Event: by deployment, retry and reason, such as `d0000000c.3` or `d0000000cr65f0a1b2.1`. */
function orderOf({ id = 0, lastRetryTimestamp }: HistoryEntry, reason: string): string {
  const retry = parseTime(lastRetryTimestamp);
  const step = FIRST_REASONS.indexOf(reason);
  return `${ORDER.deployment}${hex(id)}${retry === undefined ? '' : `r${hex(retry / 1000)}`}.${step < 0 ? FIRST_REASONS.length : step}`;
}

function hex(number: number): string {
  return Math.trunc(number).toString(16).padStart(8, '0');
}
