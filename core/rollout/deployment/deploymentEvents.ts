/** Events about one deployment, or a retry of it, and their order within a second. */
import type { HistoryEntry } from '../../../api/types.ts';
import type { NewEvent } from '../../kube/events.ts';
import { parseTime } from '../../kube/time.ts';

/** Events that begin a deployment, in order. Events that end it come after all of these. */
const COURSE = [
  'AutomaticRollback',
  'RetryRequested',
  'DeploymentAdopted',
  'DeploymentSucceeded',
  'BakeTimeDeploying',
  'BakeTimeStarted',
];

/** A retried deployment starts and ends again: its Events are about the retry. */
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

/** Identifies a deployment, or a retry of it, among all of its Rollout's. */
function deploymentKey({ id, timestamp, lastRetryTimestamp }: HistoryEntry): string {
  return [id ?? timestamp, ...(lastRetryTimestamp ? [lastRetryTimestamp] : [])].join('/');
}

/** `d0000000c.3`, a retry of it `d0000000cr65f0a1b2.1`: by deployment, then by retry, then by step. */
function orderOf({ id = 0, lastRetryTimestamp }: HistoryEntry, reason: string): string {
  const retry = parseTime(lastRetryTimestamp);
  const step = COURSE.indexOf(reason);
  return `d${hex(id)}${retry === undefined ? '' : `r${hex(retry / 1000)}`}.${step < 0 ? COURSE.length : step}`;
}

function hex(number: number): string {
  return Math.trunc(number).toString(16).padStart(8, '0');
}
