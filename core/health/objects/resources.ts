/** The health of the objects in an inventory. */
import type { AnyObject, EpochMs } from '../../../api/kubernetes.ts';
import { MAX_LISTED } from '../../kube/firstFew.ts';
import { refKey } from '../../kube/names.ts';
import { formatTime } from '../../kube/time.ts';
import { artifactsOf, whyBehindSource } from './behindSource.ts';
import { deletedSince, failureTime, isBroken, latestTime, mayBeGone, type Since } from './broken.ts';
import type { InventoryResource } from './inventory.ts';
import { healthOf } from './kindHealth.ts';

export interface ObservedResource extends InventoryResource {
  /** The object; undefined if it does not exist, or if `error` is set. */
  object?: AnyObject | undefined;
  /** Why the object could not be read. */
  error?: string;
  /** Why its Pods do not run, if it is a workload whose Pods were read. */
  cause?: string | undefined;
}

/** The trouble with the object: failed or broken, or not complete yet; undefined if there is none, or it is unknown. */
export function troubleOf(
  { object, error }: ObservedResource,
  since: Since,
  now: EpochMs,
): 'broken' | 'pending' | undefined {
  if (!object || error !== undefined) return undefined;
  const { status } = healthOf(object, since.deployed, now);
  if (status === 'Failed') return 'broken';
  if (status !== 'InProgress') return undefined;
  return isBroken(object, since, now) ? 'broken' : 'pending';
}

/** Lines about objects, in inventory order. */
interface ResourceHealth {
  unhealthy: string[];
  pending: string[];
  /** Objects that do not exist and should. */
  missing: string[];
  /** Objects whose absence proves nothing. */
  gone: string[];
  errors: string[];
  /** The latest failure; undefined if no failed object has a time. */
  failedAt?: EpochMs | undefined;
}

export function resourceHealth(observed: readonly ObservedResource[], since: Since, now: EpochMs): ResourceHealth {
  const health: ResourceHealth = { unhealthy: [], pending: [], missing: [], gone: [], errors: [] };
  const times: (EpochMs | undefined)[] = [];
  const deleted = deletedSince(since, now);
  const artifacts = artifactsOf(observed.flatMap(({ object }) => object ?? []));
  for (const resource of observed) {
    const name = refKey(resource);
    if (resource.error !== undefined) {
      health.errors.push(`${resource.kind} ${name}: ${resource.error}`);
      continue;
    }
    if (!resource.object) {
      if (mayBeGone(resource)) health.gone.push(name);
      else if (deleted === undefined) health.missing.push(name);
      else {
        health.unhealthy.push(`${name} (Flux has applied it, and it does not exist)`);
        times.push(deleted);
      }
      continue;
    }
    const { status, message: own } = healthOf(resource.object, since.deployed, now, since.returns);
    const isSettled = status === 'Current' || status === 'Failed';
    const behind = isSettled && whyBehindSource(resource.object, status === 'Current' ? 'runs' : 'tried', artifacts);
    const message = resource.cause === undefined ? own : `${own}; ${resource.cause}`;
    if (behind) health.pending.push(`${name} (${behind})`);
    else if (status === 'InProgress' && isBroken(resource.object, since, now)) {
      health.unhealthy.push(`${name} (was complete, and is not since ${formatTime(since.healthyUntil!)}: ${message})`);
      times.push(since.healthyUntil);
    } else if (status === 'InProgress') health.pending.push(`${name} (${message})`);
    else if (status === 'Terminating') health.pending.push(`${name} (terminating)`);
    else if (status === 'Unknown') health.errors.push(`${resource.kind} ${name}: ${message}`);
    else if (status === 'Failed') {
      health.unhealthy.push(`${name} (${message})`);
      times.push(failureTime(resource.object));
    }
  }
  return { ...health, failedAt: latestTime(times) };
}

/** The first lines, and how many more there are. */
export function listLines(lines: readonly string[]): string {
  const shown = lines.slice(0, MAX_LISTED).join('; ');
  return lines.length <= MAX_LISTED ? shown : `${shown}; and ${lines.length - MAX_LISTED} more`;
}
