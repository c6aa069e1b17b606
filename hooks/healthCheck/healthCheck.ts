/**
 * DecoratorController `healthchecks`: resets the health of every class at a new deployment or retry, computes the
 * health of the classes kustomization and prometheus, and runs the Jobs of class job.
 */
import type { Kustomization } from '../../api/flux.ts';
import { FLUX_BINDINGS, KINDS, KUSTOMIZATIONS, ROLLOUTS } from '../../api/kinds.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { DecoratorRequest, DecoratorResponse } from '../../api/metacontroller.ts';
import type { ClusterReader, HookCall } from '../../api/ports.ts';
import type { HealthCheck, HistoryEntry, Rollout } from '../../api/types.ts';
import { associatedRollouts, association, needsNamespaceLabels, wakingRules } from '../../core/health/association.ts';
import { type HealthStatus, resetStatus, sameStatus, statusAfter } from '../../core/health/healthStatus.ts';
import { type CheckJob, isOver, type JobTemplate, jobTemplateOf } from '../../core/health/job/checkJob.ts';
import { jobPlan, jobTargetOf } from '../../core/health/job/jobPlan.ts';
import { deployCutoff } from '../../core/health/known.ts';
import {
  fluxIsAtWork,
  isAtRest,
  KUSTOMIZATION_CLASS,
  kustomizationRef,
  nextLookup,
  requeueInterval,
  restsAfter,
} from '../../core/health/kustomizationCheck.ts';
import { causeOf, PODS_OF_WORKLOAD } from '../../core/health/objects/pods.ts';
import {
  dueAt,
  type MetricCheck,
  metricCheckOf,
  statusAfterMeasurement,
  statusWithoutAnswer,
  statusWithProblem,
} from '../../core/health/prometheus/measurement.ts';
import { renderQuery } from '../../core/health/prometheus/query.ts';
import { type Cutoffs, cutoffsOf, needsReset } from '../../core/health/reset.ts';
import { boundLabel } from '../../core/kube/names.ts';
import { objectAt, objectsOf } from '../../core/kube/objectMap.ts';
import { isBaking } from '../../core/rollout/deployment/bake.ts';
import { namespaceLabels } from '../../live/objectReads.ts';
import { CONFLICT_RETRY_S, type DecoratorHook, resyncAfter } from '../hook.ts';
import { podsOfJob } from '../jobPods.ts';
import { evaluateKustomization, isWatchedElsewhere } from './evaluateKustomization.ts';

/** A changed label of a Namespace triggers no sync. */
const NAMESPACE_REQUEUE_MS = 600_000;
/** They are listed so often, for rules that Metacontroller keeps for twenty minutes. */
const ROLLOUTS_MS = 60_000;
/** A seeded time may lie years ahead. */
const LONGEST_WAIT_SECONDS = 3600;

export const healthCheckHook: DecoratorHook = {
  async customize({ parent }, call) {
    const healthCheck = parent as HealthCheck;
    const { namespace = '' } = healthCheck.metadata;
    const rules = wakingRules(healthCheck, await rolloutsBeside(namespace, call));
    // Only to trigger a sync: the annotation may change without a new customize call, so sync reads what it names now.
    // A rule for a kind that is not installed would stop the sync of this HealthCheck.
    const ref =
      healthCheck.spec?.class === KUSTOMIZATION_CLASS
        ? kustomizationRef(healthCheck, call.settings.noCrossNamespaceRefs)
        : undefined;
    if (ref && 'name' in ref && (await call.cluster.serves(KUSTOMIZATIONS))) {
      rules.push({ ...KUSTOMIZATIONS, namespace: ref.namespace, names: [ref.name] });
    }
    return { relatedResources: rules };
  },

  async sync(request, call) {
    if (request.finalizing || request.object.metadata.deletionTimestamp) return { attachments: [] };
    const healthCheck = request.object as HealthCheck;
    const { namespace = '' } = healthCheck.metadata;
    const rollouts = objectsOf<Rollout>(request.related, KINDS.Rollout);
    const own = rollouts.filter(({ metadata }) => metadata.namespace === namespace);
    const needsLabels = needsNamespaceLabels(own);
    const labels = needsLabels ? await namespaceLabels(namespace, call.cluster) : undefined;
    const concerned = associatedRollouts(own, healthCheck, labels);
    const cutoffs = cutoffsOf(concerned, call.now);
    const before = healthCheck.status;

    const template = jobTemplateOf(healthCheck);
    if (template) {
      const watching = own.filter((each) => isSelecting(each, healthCheck, labels));
      return runJob(healthCheck, template, watching, request, call);
    }
    // The reset is stored before anything is target: health of the same instant could still be the old version's.
    if (needsReset(healthCheck, concerned, call.now))
      return answer(healthCheck, resetStatus(before, call.now), cutoffs, call);
    const metricCheck = metricCheckOf(healthCheck);
    if (metricCheck) {
      const watching = concerned.filter((rollout) => association(rollout, healthCheck, labels) === 'watched');
      const measured = await measure(healthCheck, metricCheck, { watching, cutoff: cutoffs.reached }, call);
      return answer(healthCheck, measured.after, cutoffs, call, measured.requeueAfterMs);
    }
    if (healthCheck.spec?.class !== KUSTOMIZATION_CLASS)
      return answer(healthCheck, before, cutoffs, call, needsLabels ? NAMESPACE_REQUEUE_MS : undefined);

    const isWatched = isBakedOn(healthCheck, own, labels);
    if (isAtRest(healthCheck, isWatched) && fluxIsAtWork(relatedKustomization(healthCheck, request, call), call.now)) {
      return answer(healthCheck, before, cutoffs, call, requeueInterval(healthCheck));
    }
    const verdict = await evaluateKustomization(healthCheck, { rollouts, cutoff: cutoffs.reached }, call);
    const after = statusAfter(before, verdict, call.now);
    const atRest = restsAfter(healthCheck, verdict, isWatched) && !(await isWatchedElsewhere(healthCheck, call));
    return answer(healthCheck, after, cutoffs, call, nextLookup(healthCheck, atRest));
  },
};

/** At the start of a server all HealthChecks of a namespace ask. */
function rolloutsBeside(namespace: string, { cluster, recent }: HookCall) {
  const list = () => cluster.listMetadata({ ...ROLLOUTS, namespace });
  return recent.within(ROLLOUTS_MS, `rollouts ${namespace}`, list);
}

function isSelecting(rollout: Rollout, healthCheck: HealthCheck, labels: Record<string, string> | undefined): boolean {
  return !rollout.metadata.deletionTimestamp && association(rollout, healthCheck, labels) === 'watched';
}

function isBakedOn(healthCheck: HealthCheck, rollouts: readonly Rollout[], labels: Record<string, string> | undefined) {
  return rollouts.some(
    (rollout) => isBaking(rollout.status?.history?.[0]) && association(rollout, healthCheck, labels) === 'watched',
  );
}

/** As Metacontroller has it, where the annotation still names the one that the rule was made for. */
function relatedKustomization(
  healthCheck: HealthCheck,
  { related }: DecoratorRequest,
  { settings }: HookCall,
): Kustomization | undefined {
  const ref = kustomizationRef(healthCheck, settings.noCrossNamespaceRefs);
  return 'problem' in ref ? undefined : objectAt<Kustomization>(related, KINDS.Kustomization, ref.namespace, ref.name);
}

const secondsOf = (ms: number | undefined) => (ms === undefined ? undefined : ms / 1000);

/** The status where it changes, and when to sync again. */
function statusWritten(
  { status: before }: HealthCheck,
  after: HealthStatus | undefined,
  ...seconds: (number | undefined)[]
): Pick<DecoratorResponse<HealthStatus>, 'status' | 'resyncAfterSeconds'> {
  const changed = after !== undefined && !sameStatus(before, after);
  return changed ? { status: after, ...resyncAfter([CONFLICT_RETRY_S, ...seconds]) } : resyncAfter(seconds);
}

/** @param requeueAfterMs when to evaluate it again */
function answer(
  healthCheck: HealthCheck,
  after: HealthStatus | undefined,
  cutoffs: Cutoffs,
  { now }: HookCall,
  requeueAfterMs?: number,
): DecoratorResponse<HealthStatus> {
  const { ahead } = cutoffs;
  const cutoffIn = ahead === undefined ? undefined : Math.min(Math.max((ahead - now) / 1000, 1), LONGEST_WAIT_SECONDS);
  return { attachments: [], ...statusWritten(healthCheck, after, secondsOf(requeueAfterMs), cutoffIn) };
}

// HealthChecks of class job: what is known of their Jobs, is decided, and is answered.

/** A Flux object that was created together with its Rollout has its FluxBinding by then. */
const BINDS_WITHIN_MS = 10_000;

/** @param watching the Rollouts of its namespace that select it */
async function runJob(
  check: HealthCheck,
  template: JobTemplate,
  watching: readonly Rollout[],
  { attachments }: DecoratorRequest,
  call: HookCall,
): Promise<DecoratorResponse<HealthStatus>> {
  // Metacontroller sends a map, even if empty, for each kind of attachment that the controller has.
  const isInstalled = attachments?.['Job.batch/v1'] !== undefined;
  const jobs = isInstalled ? objectsOf<CheckJob>(attachments, { group: 'batch', kind: 'Job' }) : undefined;
  const context = { check, template, watching, jobs };
  const target = jobTargetOf(context);
  const progress = { isBaking: false, isApplied: false, cause: undefined as string | undefined };
  let requeueMs: number | undefined;
  if ('wanted' in target) {
    const found = jobs?.find(({ metadata }) => metadata.name === target.wanted.metadata.name);
    progress.isBaking = isBaking(target.head);
    progress.isApplied = progress.isBaking && !found && (await isApplied(watching[0]!, target.head, call));
    if (found) progress.cause = await causeBehind(found, call.cluster);
    if (progress.isBaking) requeueMs = requeueAfterMs(check, target.head, found, call.now);
  }
  const { jobs: wanted, status } = jobPlan(context, target, progress, call.now);
  return { attachments: wanted, ...statusWritten(check, status, secondsOf(requeueMs)) };
}

/** A Pod that does not start triggers no sync, nor does a Rollout without bound objects. */
function requeueAfterMs(
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

/** The cause that a Job's Pods show, where they may be read. A Job that has completed needs no cause. */
async function causeBehind(job: CheckJob, cluster: ClusterReader): Promise<string | undefined> {
  if (job.status?.succeeded > 0) return undefined;
  return podsOfJob(job, PODS_OF_WORKLOAD, cluster).then(causeOf, () => undefined);
}

// Evaluates a HealthCheck of class prometheus: measures when due, and stores every measurement in its status.

/** While a query is running or queued. */
const NOT_YET_MS = 3000;

interface DeploymentsMeasured {
  /** The Rollouts of its namespace that watch it. */
  watching: readonly Rollout[];
  /** When the deployment that the health is for started, or was applied. */
  cutoff: EpochMs | undefined;
}

async function measure(
  { metadata, status }: HealthCheck,
  check: MetricCheck,
  { watching, cutoff }: DeploymentsMeasured,
  { measurements, now }: HookCall,
): Promise<{ after: HealthStatus | undefined; requeueAfterMs: number }> {
  const rendered = renderQuery(check.query, watching);
  // Whoever mends it wakes this hook: by a write of the check, or of the Rollout.
  if ('problem' in rendered) {
    return { after: statusWithProblem(status, rendered.problem, now), requeueAfterMs: check.intervalMs };
  }
  const due = dueAt(status, check, cutoff, now);
  if (now < due) return { after: status, requeueAfterMs: due - now };
  // This replica may have measured it last long ago.
  const since = Math.max(due, now - check.intervalMs);
  const { namespace = '', name = '', uid = '' } = metadata;
  const { provider } = check;
  const measurement = await measurements.measure({
    check: { namespace, name, uid },
    provider,
    query: rendered.query,
    since,
  });
  if (!measurement) return { after: statusWithoutAnswer(status, check, now), requeueAfterMs: NOT_YET_MS };
  return { after: statusAfterMeasurement(status, check, measurement, now), requeueAfterMs: check.intervalMs };
}
