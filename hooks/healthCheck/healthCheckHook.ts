/**
 * DecoratorController `healthchecks`: resets the health of every class at a new deployment or retry, computes the
 * health of the classes kustomization and prometheus, and runs the Jobs of class job.
 */
import type { Kustomization } from '../../api/flux.ts';
import { KINDS, KUSTOMIZATIONS, ROLLOUTS } from '../../api/kinds.ts';
import type { DecoratorRequest, DecoratorResponse } from '../../api/metacontroller.ts';
import type { HookCall } from '../../api/ports.ts';
import type { HealthCheck, Rollout } from '../../api/types.ts';
import {
  associatedRollouts,
  association,
  needsNamespaceLabels,
  watchingRolloutRules,
} from '../../core/health/association.ts';
import { type HealthStatus, resetStatus, sameStatus, statusAfter } from '../../core/health/healthStatus.ts';
import { jobTemplateOf } from '../../core/health/job/checkJob.ts';
import {
  isAtRest,
  isJustReconciling,
  KUSTOMIZATION_CLASS,
  kustomizationRef,
  msUntilEvaluation,
  requeueInterval,
  restsAfter,
} from '../../core/health/kustomizationCheck.ts';
import { metricCheckOf } from '../../core/health/prometheus/measurement.ts';
import { type Cutoffs, cutoffsOf, needsReset } from '../../core/health/reset.ts';
import { objectAt, objectsOf } from '../../core/kube/objectMap.ts';
import { isBaking } from '../../core/rollout/deployment/bake.ts';
import { namespaceLabels } from '../../live/objectReads.ts';
import { CONFLICT_RETRY_S, type DecoratorHook, resyncAfter } from '../hook.ts';
import { evaluateKustomization, isWatchedElsewhere } from './evaluateKustomization.ts';
import { runJob } from './jobClass.ts';
import { measure } from './prometheusClass.ts';

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
    const rules = watchingRolloutRules(healthCheck, await rolloutsBeside(namespace, call));
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
      const { attachments, after, requeueAfterMs } = await runJob(healthCheck, template, watching, request, call);
      return { attachments, ...statusWritten(healthCheck, after, secondsOf(requeueAfterMs)) };
    }
    // The reset is stored before anything is measured or evaluated: a report of the same instant could still be the old
    // version's.
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
    const related = relatedKustomization(healthCheck, request, call);
    if (isAtRest(healthCheck, isWatched) && isJustReconciling(related, call.now)) {
      return answer(healthCheck, before, cutoffs, call, requeueInterval(healthCheck));
    }
    const verdict = await evaluateKustomization(healthCheck, { rollouts, cutoff: cutoffs.reached }, call);
    const after = statusAfter(before, verdict, call.now);
    const isWoken = related !== undefined || !verdict.waitsForEvent;
    const rests = isWoken && restsAfter(healthCheck, verdict, isWatched);
    const atRest = rests && !(await isWatchedElsewhere(healthCheck, call));
    return answer(healthCheck, after, cutoffs, call, msUntilEvaluation(healthCheck, atRest));
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

/** As Metacontroller has it, if the annotation still names the one that the rule was made for. */
function relatedKustomization(
  healthCheck: HealthCheck,
  { related }: DecoratorRequest,
  { settings }: HookCall,
): Kustomization | undefined {
  const ref = kustomizationRef(healthCheck, settings.noCrossNamespaceRefs);
  return 'problem' in ref ? undefined : objectAt<Kustomization>(related, KINDS.Kustomization, ref.namespace, ref.name);
}

const secondsOf = (ms: number | undefined) => (ms === undefined ? undefined : ms / 1000);

/** The status if it changes, and when to sync again. */
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
