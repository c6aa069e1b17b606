/** Events about one deployment, or a retry of it, and their order within a second. */
import type { HistoryEntry } from '../../../api/types.ts';
import type { NewEvent } from '../../kube/events.ts';
import { parseTime } from '../../kube/time.ts';

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
  return `d${hex(id)}${retry === undefined ? '' : `r${hex(retry / 1000)}`}.${step < 0 ? FIRST_REASONS.length : step}`;
}

function hex(number: number): string {
  return Math.trunc(number).toString(16).padStart(8, '0');
}
