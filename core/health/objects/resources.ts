/** The health of the objects in an inventory. */
import { KINDS } from '../../../api/kinds.ts';
import type { AnyObject, EpochMs } from '../../../api/kubernetes.ts';
import { fieldAt } from '../../kstatus/fields.ts';
import { groupOf, isKind, refKey } from '../../kube/names.ts';
import { MAX_LISTED } from '../../text/firstFew.ts';
import { type KnownObjects, knownObjects, lastChange, whyBehindSource } from './behindSource.ts';
import { brokenWorkload, deletedSince, failureTime, keepsPods, type Unfinished, unfinishedWorkload } from './broken.ts';
import { failedAttemptOf, workOf } from './fluxAttempts.ts';
import type { HealthContext } from './healthContext.ts';
import { type InventoryResource, parseInventory } from './inventory.ts';
import { healthOf } from './kindHealth.ts';

/** An object of an inventory, as it was read. */
export interface ObservedResource extends InventoryResource {
  /** The object; undefined if it does not exist, or if `error` is set. */
  object?: AnyObject;
  /** Why the object could not be read. */
  error?: string;
}

interface Health {
  /** `missing`: it does not exist and should. `gone`: it does not exist, which proves nothing. */
  health: 'healthy' | 'unhealthy' | 'pending' | 'missing' | 'gone' | 'unknown';
  /** Why it has this health; undefined if it is gone. */
  why?: string;
  /** The time of the failure; undefined if unknown. */
  failedAt?: EpochMs;
  /** The last change of what it runs, if it may count as unhealthy and that is known. */
  changed?: EpochMs;
  /** The time of Flux's failed attempt, if it failed only by one that may pass. */
  failedAttempt?: EpochMs;
  /** Flux's work, if it is a Kustomization that is pending only for that. */
  work?: 'applies' | 'repeats';
  /** The last time at which the workload was found complete, if it failed only by having too few Pods since. */
  seenComplete?: EpochMs;
  /** The overdue progress, if it is a workload whose deadline is over. A Pod that crashes makes it unhealthy. */
  unfinished?: Unfinished;
}

/** The health of one object of an inventory. */
export interface ObjectHealth extends Health {
  resource: ObservedResource;
  /** Why its Pods do not run, if it is a workload whose Pods were read. */
  cause?: string;
}

/**
 * The health of each object.
 * @param applied when Flux had applied everything; undefined while it has not, or if the time is unknown
 * @param related objects that are not among them, and on which their health depends
 */
export function objectHealths(
  observed: readonly ObservedResource[],
  { applied, related }: { applied: EpochMs | undefined; related: readonly AnyObject[] },
  context: HealthContext,
): ObjectHealth[] {
  const known = knownObjects([...related, ...observed.flatMap(({ object }) => object ?? [])]);
  return observed.map((resource) => {
    const { object, error } = resource;
    if (error !== undefined) return { resource, health: 'unknown', why: error };
    return {
      resource,
      ...(object ? healthOfObject(object, known, context) : healthOfAbsent(resource, applied, context)),
    };
  });
}

function healthOfObject(object: AnyObject, known: KnownObjects, context: HealthContext): Health {
  const { status, message: why } = healthOf(object, context);
  if (status === 'Terminating') return { health: 'pending', why: 'terminating' };
  if (status === 'Unknown') return { health: 'unknown', why };
  if (status === 'InProgress') {
    const broken = brokenWorkload(object, context);
    const changed = lastChange(object, known);
    if (!broken)
      return { health: 'pending', why, unfinished: unfinishedWorkload(object, context), changed, work: workOf(object) };
    const { failedAt, seenComplete } = broken;
    return {
      health: 'unhealthy',
      why: `${broken.why}: ${why}`,
      failedAt,
      seenComplete,
      changed,
    };
  }
  const behind = whyBehindSource(object, status === 'Current' ? 'runs' : 'tried', known);
  if (behind !== undefined) return { health: 'pending', why: behind };
  if (status === 'Current') return { health: 'healthy', why };
  const attempt = failedAttemptOf(object, context);
  const failedAttempt = attempt?.mayPass ? attempt.at : undefined;
  const changed = lastChange(object, known);
  return { health: 'unhealthy', why, failedAt: failureTime(object), failedAttempt, changed };
}

/**
 * Kinds that run once and may then be deleted by their controllers, for example after a Job's
 * `ttlSecondsAfterFinished`.
 */
const DELETED_WHEN_ENDED = new Set([
  'batch/Job',
  'argoproj.io/Workflow',
  'tekton.dev/PipelineRun',
  'tekton.dev/TaskRun',
]);

function healthOfAbsent(
  { apiVersion, kind }: InventoryResource,
  applied: EpochMs | undefined,
  context: HealthContext,
): Health {
  if (context.ignoresMissing || DELETED_WHEN_ENDED.has(`${groupOf(apiVersion)}/${kind}`)) return { health: 'gone' };
  const failedAt = deletedSince(applied, context);
  if (failedAt === undefined) return { health: 'missing', why: 'not found' };
  return { health: 'unhealthy', why: 'Flux has applied it, but it does not exist', failedAt };
}

/** The most workloads of HelmReleases that are read in one evaluation. */
const MAX_RELEASED = 200;

/**
 * The workloads that HelmReleases have released in this cluster, of each that is healthy. A HealthCheck can name the
 * Kustomizations of an inventory, but no HelmRelease.
 */
export function releasedWorkloads(
  objects: readonly ObjectHealth[],
): { release: AnyObject; workloads: InventoryResource[] }[] {
  let room = MAX_RELEASED;
  return objects.flatMap(({ resource: { object: release }, health }) => {
    if (!release || health !== 'healthy' || !isKind(release, KINDS.HelmRelease)) return [];
    if (fieldAt(release, ['spec', 'kubeConfig']) !== undefined) return [];
    const { resources } = parseInventory(fieldAt(release, ['status', 'inventory', 'entries']));
    const workloads = resources.filter(keepsPods).slice(0, room);
    room -= workloads.length;
    return workloads.length > 0 ? [{ release, workloads }] : [];
  });
}

/** A line about the object, for messages. */
export function healthLine({ resource, health, why, cause }: ObjectHealth): string {
  const name = refKey(resource);
  const text = [why, cause].filter((each) => each !== undefined).join('; ');
  if (health === 'unknown') return `${resource.kind} ${name}: ${text}`;
  return text === '' ? name : `${name} (${text})`;
}

/** The first lines, and how many more there are. */
export function listLines(lines: readonly string[]): string {
  const shown = lines.slice(0, MAX_LISTED).join('; ');
  return lines.length <= MAX_LISTED ? shown : `${shown}; and ${lines.length - MAX_LISTED} more`;
}
