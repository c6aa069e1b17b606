/**
 * DecoratorController `healthchecks`: resets the health of every class at a new deployment or retry, computes the
 * health of the classes kustomization and prometheus, and runs the Jobs of class job.
 */
import type { Kustomization } from '../../api/flux.ts';
import { KINDS, KUSTOMIZATIONS, ROLLOUTS } from '../../api/kinds.ts';
import type { DecoratorRequest, DecoratorResponse } from '../../api/metacontroller.ts';
import type { HookCall } from '../../api/ports.ts';
import type { HealthCheck, HistoryEntry, Rollout } from '../../api/types.ts';
import {
  associatedRollouts,
  association,
  labelledFor,
  needsNamespaceLabels,
  watchingRolloutRules,
} from '../../core/health/association.ts';
import { type HealthStatus, resetStatus, statusAfter, type Verdict } from '../../core/health/healthStatus.ts';
import { jobTemplateOf } from '../../core/health/job/checkJob.ts';
import { cutoffsOf, measurementCutoff, needsReset } from '../../core/health/knownHealth.ts';
import {
  allowedKustomizationRef,
  isAtRest,
  isJustReconciling,
  KUSTOMIZATION_CLASS,
  longestUnseen,
  msUntilEvaluation,
  requeueInterval,
  scheduleOf,
} from '../../core/health/kustomizationCheck.ts';
import { isMeasuredBefore, metricCheckOf } from '../../core/health/prometheus/measurement.ts';
import { sameJson } from '../../core/kube/json.ts';
import { objectAt, objectsOf } from '../../core/kube/objectMap.ts';
import { hasBakeBegun, isUnfinished } from '../../core/rollout/deployment/history.ts';
import { evaluateKustomization, isWatchedElsewhere, type KnownDeployments } from '../../live/evaluateKustomization.ts';
import { inParallel } from '../../live/inParallel.ts';
import { namespaceLabels } from '../../live/objectReads.ts';
import { CONFLICT_REQUEUE_SECONDS, type DecoratorHook, resyncAfter } from '../hook.ts';
import { runJob } from './jobClass.ts';
import { measure } from './prometheusClass.ts';

/** The interval for changed labels of a Namespace, which trigger no sync. */
const NAMESPACE_REQUEUE_SECONDS = 600;
/** The interval for Rollouts that aren't related yet, and the most of them that are read. */
const UNRELATED_REQUEUE_SECONDS = 60;
const MAX_UNRELATED = 20;
/**
 * The maximum age of a namespace's list of Rollouts in customize rules, which Metacontroller caches for twenty minutes.
 */
const ROLLOUTS_MAX_AGE_MS = 60_000;
/**
 * The part of the interval for which a verdict is reused: less than 1, so that each interval brings a new evaluation.
 */
const VERDICT_REUSE = 1 / 3;
/** The longest wait for a deployment's time: a user who writes the status can set it years ahead. */
const LONGEST_REQUEUE_SECONDS = 3600;

export const healthCheckHook: DecoratorHook<HealthCheck> = {
  async customize({ parent: healthCheck }, call) {
    const { namespace = '' } = healthCheck.metadata;
    const rules = watchingRolloutRules(healthCheck, await rolloutsOfNamespace(namespace, call));
    // Only triggers a sync: the annotation may change without a new customize call, so the sync reads what it names
    // now. A rule for a kind that isn't installed would stop the sync of this HealthCheck.
    const ref =
      healthCheck.spec?.class === KUSTOMIZATION_CLASS ? allowedKustomizationRef(healthCheck, call.settings) : undefined;
    if (ref && 'name' in ref && (await call.cluster.serves(KUSTOMIZATIONS))) {
      rules.push({ ...KUSTOMIZATIONS, namespace: ref.namespace, names: [ref.name] });
    }
    return { relatedResources: rules };
  },

  async sync(request, call) {
    const { object: healthCheck, finalizing } = request;
    if (finalizing || healthCheck.metadata.deletionTimestamp) return { attachments: [] };
    const related = objectsOf<Rollout>(request.related, KINDS.Rollout);
    const unrelated = await unrelatedWatchers(healthCheck, related, call);
    const answered = await syncWith([...related, ...unrelated], request, call);
    if (unrelated.length === 0) return answered;
    return { ...answered, ...resyncAfter([answered.resyncAfterSeconds, UNRELATED_REQUEUE_SECONDS]) };
  },
};

async function syncWith(
  rollouts: readonly Rollout[],
  request: DecoratorRequest<HealthCheck>,
  call: HookCall,
): Promise<DecoratorResponse<HealthStatus>> {
  const { object: healthCheck } = request;
  const { namespace = '' } = healthCheck.metadata;
  const own = rollouts.filter(({ metadata }) => metadata.namespace === namespace);
  const needsLabels = needsNamespaceLabels(own);
  const labels = needsLabels ? await namespaceLabels(namespace, call.cluster) : undefined;
  const concerned = associatedRollouts(own, healthCheck, labels);
  const watches = (rollout: Rollout) => association(rollout, healthCheck, labels) === 'watched';

  const template = jobTemplateOf(healthCheck);
  if (template) {
    const watching = own.filter((rollout) => !rollout.metadata.deletionTimestamp && watches(rollout));
    const { attachments, after, requeueAfterSeconds } = await runJob(healthCheck, template, watching, request, call);
    return { attachments, ...statusWritten(healthCheck, after, requeueAfterSeconds) };
  }
  const { reached, ahead } = cutoffsOf(concerned, call.now);
  const untilCutoff = ahead && Math.min(Math.max((ahead - call.now) / 1000, 1), LONGEST_REQUEUE_SECONDS);
  const answer = ({ after, requeueAfterSeconds }: Evaluated) => {
    return { attachments: [], ...statusWritten(healthCheck, after, requeueAfterSeconds, untilCutoff) };
  };
  // The reset is stored before anything is measured or evaluated: a report of the same second could still be about
  // the old version.
  const metricCheck = metricCheckOf(healthCheck);
  const measuredFrom = measurementCutoff(concerned, call.now);
  const wasMeasuredBefore = metricCheck !== undefined && isMeasuredBefore(healthCheck.status, measuredFrom);
  if (wasMeasuredBefore || needsReset(healthCheck, concerned, call.now))
    return answer({ after: resetStatus(healthCheck.status, call.now) });
  if (metricCheck) {
    const deployments = { watching: concerned.filter(watches), cutoff: measuredFrom };
    return answer(await measure(healthCheck, metricCheck, deployments, call));
  }
  if (healthCheck.spec?.class !== KUSTOMIZATION_CLASS)
    return answer({
      after: healthCheck.status,
      requeueAfterSeconds: needsLabels ? NAMESPACE_REQUEUE_SECONDS : undefined,
    });

  const heads = own.filter(watches).flatMap(({ status }) => status?.history?.[0] ?? []);
  const related = relatedKustomization(healthCheck, request, call);
  const deployments = { rollouts, cutoff: reached };
  return answer(await evaluate(healthCheck, related, deployments, heads.filter(isUnfinished), call));
}

/**
 * The Rollouts that may watch the HealthCheck by labels that it has got since its customize answer, which
 * Metacontroller caches (docs/facts.md, M6): they aren't related, and trigger no sync.
 */
async function unrelatedWatchers(
  healthCheck: HealthCheck,
  related: readonly Rollout[],
  call: HookCall,
): Promise<Rollout[]> {
  const { namespace = '', labels } = healthCheck.metadata;
  const isWatched = related.some((rollout) => association(rollout, healthCheck, undefined) === 'watched');
  if (isWatched || !labels) return [];
  const known = new Set(related.map(({ metadata }) => metadata.uid));
  const labelled = labelledFor(healthCheck, await rolloutsOfNamespace(namespace, call));
  const others = labelled.filter(({ metadata }) => !known.has(metadata.uid)).slice(0, MAX_UNRELATED);
  const read = await inParallel(others, ({ metadata: { name = '' } }) =>
    call.cluster.get<Rollout>({ ...ROLLOUTS, namespace, name }),
  );
  return read.filter((rollout) => rollout !== undefined);
}

interface Evaluated {
  after: HealthStatus | undefined;
  /** When to evaluate the HealthCheck again. */
  requeueAfterSeconds?: number;
}

/**
 * The status of a HealthCheck of class kustomization, and when to evaluate it again.
 * A HealthCheck at rest isn't evaluated while Flux reconciles its Kustomization.
 * @param unfinished the deployments that watch it: they bake, or wait for their bake
 */
async function evaluate(
  healthCheck: HealthCheck,
  related: Kustomization | undefined,
  deployments: Omit<KnownDeployments, 'unseen'>,
  unfinished: readonly HistoryEntry[],
  call: HookCall,
): Promise<Evaluated> {
  const { status: before } = healthCheck;
  const watched = unfinished.some(hasBakeBegun) ? 'inBake' : unfinished.length > 0 ? 'beforeBake' : 'no';
  const alone = scheduleOf(healthCheck, { watched, isTriggered: related !== undefined });
  if (isAtRest(healthCheck, alone) && isJustReconciling(related, call.now)) {
    return { after: before, requeueAfterSeconds: alone.interval / 1000 };
  }
  const schedule = { ...alone, mayRest: alone.mayRest && !(await isWatchedElsewhere(healthCheck, call)) };
  const read = () => evaluateKustomization(healthCheck, { ...deployments, unseen: longestUnseen(schedule) }, call);
  const verdict = await (related ? recentVerdict(healthCheck, related, deployments, call, read) : read());
  const after = statusAfter(before, verdict, call.now);
  const requeueAfterMs = msUntilEvaluation({ ...healthCheck, status: after }, verdict, schedule, call.now);
  return { after, requeueAfterSeconds: requeueAfterMs / 1000 };
}

/**
 * The verdict; a recent one is reused if nothing has changed since. Each write of a Rollout, and of Flux's progress,
 * triggers a sync, and in a burst these syncs follow one another for seconds.
 */
function recentVerdict(
  healthCheck: HealthCheck,
  { metadata: { resourceVersion } }: Kustomization,
  { cutoff }: Pick<KnownDeployments, 'cutoff'>,
  { sharedReads }: HookCall,
  read: () => Promise<Verdict>,
): Promise<Verdict> {
  const { namespace, name, uid, generation, annotations } = healthCheck.metadata;
  // The key needs the name: a forged request with another object's uid must not decide about that object.
  const key = JSON.stringify(['verdict', namespace, name, uid, generation, annotations, resourceVersion, cutoff]);
  return sharedReads.recent(requeueInterval(healthCheck) * VERDICT_REUSE, key, read);
}

/** The Rollouts of the namespace, listed once for all its HealthChecks. */
function rolloutsOfNamespace(namespace: string, { cluster, sharedReads }: HookCall) {
  const list = () => cluster.listMetadata({ ...ROLLOUTS, namespace });
  return sharedReads.recent(ROLLOUTS_MAX_AGE_MS, `rollouts ${namespace}`, list);
}

/** The Kustomization that Metacontroller sent; undefined if the annotation names another one now. */
function relatedKustomization(
  healthCheck: HealthCheck,
  { related }: DecoratorRequest<HealthCheck>,
  { settings }: HookCall,
): Kustomization | undefined {
  const ref = allowedKustomizationRef(healthCheck, settings);
  return 'problem' in ref ? undefined : objectAt<Kustomization>(related, KINDS.Kustomization, ref.namespace, ref.name);
}

/** The status if it changes, and when to sync again. */
function statusWritten(
  { status: before }: HealthCheck,
  after: HealthStatus | undefined,
  ...seconds: (number | undefined)[]
): Pick<DecoratorResponse<HealthStatus>, 'status' | 'resyncAfterSeconds'> {
  const isChanged = after !== undefined && !sameJson(before ?? {}, after);
  return isChanged ? { status: after, ...resyncAfter([CONFLICT_REQUEUE_SECONDS, ...seconds]) } : resyncAfter(seconds);
}
