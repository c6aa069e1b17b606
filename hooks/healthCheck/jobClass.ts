/** HealthChecks of class job: the Jobs that they run, and the health according to these Jobs. */
import { FLUX_BINDINGS } from '../../api/kinds.ts';
import type { EpochMs, KubeObject } from '../../api/kubernetes.ts';
import type { DecoratorRequest } from '../../api/metacontroller.ts';
import type { ClusterReader, HookCall } from '../../api/ports.ts';
import type { HealthCheck, HistoryEntry, Rollout } from '../../api/types.ts';
import { boundLabel } from '../../core/binding/bindingSpec.ts';
import { CLOCK_DIFFERENCE_MS, type HealthStatus } from '../../core/health/healthStatus.ts';
import { type CheckJob, isFinished, type JobTemplate } from '../../core/health/job/checkJob.ts';
import { jobPlan, jobTargetOf } from '../../core/health/job/jobPlan.ts';
import { deployCutoff } from '../../core/health/knownHealth.ts';
import { requeueInterval } from '../../core/health/kustomizationCheck.ts';
import { causeOf, MAX_PODS_OF_WORKLOAD } from '../../core/health/objects/pods.ts';
import { objectsOf, sendsKind } from '../../core/kube/objectMap.ts';
import { isUnfinished } from '../../core/rollout/deployment/history.ts';
import { JOB, podsOfJob } from '../../live/objectReads.ts';

/** The time within which a Flux object that is created together with its Rollout gets its FluxBinding. */
const BINDS_WITHIN_MS = 10_000;

interface JobRun {
  /** The Jobs that should exist. */
  attachments: KubeObject[];
  after: HealthStatus | undefined;
  requeueAfterSeconds: number | undefined;
}

/**
 * Starts, keeps and removes the Jobs of a HealthCheck, and reads the health that they show.
 * @param watching the Rollouts of its namespace that select it
 */
export async function runJob(
  check: HealthCheck,
  template: JobTemplate,
  watching: readonly Rollout[],
  { attachments }: DecoratorRequest<HealthCheck>,
  call: HookCall,
): Promise<JobRun> {
  const jobs = sendsKind(attachments, JOB) ? objectsOf<CheckJob>(attachments, JOB) : undefined;
  const context = { check, template, watching, jobs };
  const target = jobTargetOf(context);
  const progress = { isBaking: false, isApplied: false, cause: undefined as string | undefined };
  let requeueAfterSeconds: number | undefined;
  if ('wanted' in target) {
    const found = jobs?.find(({ metadata }) => metadata.name === target.wanted.metadata.name);
    progress.isBaking = isUnfinished(target.head);
    progress.isApplied = progress.isBaking && !found && (await isApplied(watching[0]!, target.head, call));
    if (found) progress.cause = await causeBehind(found, call.cluster);
    if (progress.isBaking) requeueAfterSeconds = requeueSeconds(check, target.head, found, call.now);
  }
  const { jobs: wanted, status } = jobPlan(context, target, progress, call.now);
  return { attachments: wanted, after: status, requeueAfterSeconds };
}

/** Seconds to the next sync: neither a Pod that doesn't start nor a Rollout without bound objects triggers one. */
function requeueSeconds(
  check: HealthCheck,
  head: HistoryEntry,
  found: CheckJob | undefined,
  now: EpochMs,
): number | undefined {
  const interval = requeueInterval(check) / 1000;
  if (found) return isFinished(found) ? undefined : interval;
  if (head.appliedTime !== undefined) return undefined;
  return mayBindSoon(head, now) ? (deployCutoff(head) + BINDS_WITHIN_MS - now) / 1000 : interval;
}

/**
 * Whether objects may still get their FluxBindings. A deployment far in the future was made before the clock was set
 * back.
 */
function mayBindSoon(head: HistoryEntry, now: EpochMs): boolean {
  const age = now - deployCutoff(head);
  return age >= -CLOCK_DIFFERENCE_MS && age < BINDS_WITHIN_MS;
}

/** Whether all objects of the Rollout have the version: its history shows it, or no object is bound to it. */
async function isApplied({ metadata }: Rollout, head: HistoryEntry, { cluster, now }: HookCall): Promise<boolean> {
  if (head.appliedTime !== undefined) return true;
  if (mayBindSoon(head, now)) return false;
  const { namespace = '', name = '' } = metadata;
  const bindings = await cluster.list({ ...FLUX_BINDINGS, namespace, labelSelector: boundLabel(name), atMost: 1 });
  return bindings.length === 0;
}

/** The cause of a Job's state by its Pods, if they may be read. A completed Job needs none. */
async function causeBehind(job: CheckJob, cluster: ClusterReader): Promise<string | undefined> {
  if (job.status?.succeeded > 0) return undefined;
  return podsOfJob(job, MAX_PODS_OF_WORKLOAD, cluster).then(causeOf, () => undefined);
}
