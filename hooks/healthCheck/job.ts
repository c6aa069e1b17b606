/** HealthChecks of class job: what is known of their Jobs, is decided, and is answered. */
import { FLUX_BINDINGS } from '../../api/kinds.ts';
import type { EpochMs, KubeObject } from '../../api/kubernetes.ts';
import type { DecoratorRequest, DecoratorResponse } from '../../api/metacontroller.ts';
import type { ClusterReader, HookCall } from '../../api/ports.ts';
import type { HealthCheck, HistoryEntry, Rollout } from '../../api/types.ts';
import { isBaking } from '../../core/deployment/bake.ts';
import { deployCutoff } from '../../core/health/cutoff.ts';
import { jobPlan, judgedOf } from '../../core/health/job/plan.ts';
import type { CheckJob } from '../../core/health/job/run.ts';
import type { JobTemplate } from '../../core/health/job/template.ts';
import { isOver } from '../../core/health/job/verdict.ts';
import { causeOf, PODS_OF_WORKLOAD } from '../../core/health/objects/pods.ts';
import { requeueInterval } from '../../core/health/spec.ts';
import { type HealthStatus, sameStatus } from '../../core/health/status.ts';
import { boundLabel } from '../../core/kube/names.ts';
import { objectsOf } from '../../core/kube/objectMap.ts';

/** A Flux object that was created together with its Rollout has its FluxBinding by then. */
const BINDS_WITHIN_MS = 10_000;

/** @param watching the Rollouts of its namespace that select it */
export async function runJob(
  check: HealthCheck,
  template: JobTemplate,
  watching: readonly Rollout[],
  { attachments }: DecoratorRequest,
  call: HookCall,
): Promise<DecoratorResponse<HealthStatus>> {
  // Metacontroller sends a map, even if empty, for each kind of attachment that the controller has.
  const isInstalled = attachments?.['Job.batch/v1'] !== undefined;
  const jobs = isInstalled ? objectsOf<CheckJob>(attachments, { group: 'batch', kind: 'Job' }) : undefined;
  const world = { check, template, watching, jobs };
  const judged = judgedOf(world);
  const progress = { isBaking: false, isApplied: false, cause: undefined as string | undefined };
  let lookMs: number | undefined;
  if ('wanted' in judged) {
    const found = jobs?.find(({ metadata }) => metadata.name === judged.wanted.metadata.name);
    progress.isBaking = isBaking(judged.head);
    progress.isApplied = progress.isBaking && !found && (await isApplied(watching[0]!, judged.head, call));
    if (found) progress.cause = await causeBehind(found, call.cluster);
    if (progress.isBaking) lookMs = nextLookMs(check, judged.head, found, call.now);
  }
  const { jobs: wanted, status } = jobPlan(world, judged, progress, call.now);
  const changed = !sameStatus(check.status, status);
  const waits = [...(changed ? [1] : []), ...(lookMs === undefined ? [] : [lookMs / 1000])];
  return {
    attachments: wanted,
    ...(changed && { status }),
    ...(waits.length > 0 && { resyncAfterSeconds: Math.min(...waits) }),
  };
}

/** Nobody tells of a Pod that does not start, nor of a Rollout that no object is bound to. */
function nextLookMs(
  check: HealthCheck,
  head: HistoryEntry,
  found: CheckJob | undefined,
  now: EpochMs,
): number | undefined {
  if (found) return isOver(found) ? undefined : requeueInterval(check);
  if (head.appliedTime !== undefined) return undefined;
  const bindsIn = deployCutoff(head) + BINDS_WITHIN_MS - now;
  return bindsIn > 0 ? bindsIn : requeueInterval(check);
}

/** A Rollout says when all of its objects have the version. It says nothing where no object is bound to it. */
async function isApplied({ metadata }: Rollout, head: HistoryEntry, { cluster, now }: HookCall): Promise<boolean> {
  if (head.appliedTime !== undefined) return true;
  if (now < deployCutoff(head) + BINDS_WITHIN_MS) return false;
  const { namespace = '', name = '' } = metadata;
  const bindings = await cluster.list({ ...FLUX_BINDINGS, namespace, labelSelector: boundLabel(name), atMost: 1 });
  return bindings.length === 0;
}

/** What its Pods show, where they may be read. A Job that has completed needs no cause. */
async function causeBehind({ metadata, status }: CheckJob, cluster: ClusterReader): Promise<string | undefined> {
  if (status?.succeeded > 0) return undefined;
  const { namespace = '', name, uid } = metadata;
  try {
    const pods = await cluster.list<KubeObject<any, any>>({
      apiVersion: 'v1',
      resource: 'pods',
      namespace,
      labelSelector: `batch.kubernetes.io/job-name=${name}`,
      atMost: PODS_OF_WORKLOAD,
    });
    return causeOf(pods.filter((pod) => pod.metadata.ownerReferences?.some((owner) => owner.uid === uid)));
  } catch {
    return undefined;
  }
}
