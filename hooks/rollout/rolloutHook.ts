/** CompositeController `rollouts`: decides a Rollout's plan, and returns its status and children. */
import type { CompositeResponse, ObjectMap } from '../../api/metacontroller.ts';
import type { HookCall } from '../../api/ports.ts';
import type { Rollout, RolloutStatus } from '../../api/types.ts';
import { bindingsOfRollout } from '../../core/binding/boundObjects.ts';
import { eventRecord } from '../../core/kube/events.ts';
import { countsOf, durationsOf } from '../../core/rollout/deploymentMetrics.ts';
import type { Observed } from '../../core/rollout/evaluation/observed.ts';
import { withAllowedRefs } from '../../core/rollout/evaluation/specProblems.ts';
import { type Plan, planRollout } from '../../core/rollout/plan.ts';
import { isStale } from '../../core/status/revision.ts';
import { readSelectors } from '../../live/gateReads.ts';
import { type CompositeHook, HookError, resyncAfter } from '../hook.ts';
import { readChecks, withPresentHealth } from './healthReads.ts';
import { carriedDeployments, liveRollout, readBindingsAfterApply, readBlockers, readBound } from './liveReads.ts';
import { liveImagePolicy, mayChangeUnseen, observe } from './observe.ts';
import { isTriggeredByGrant, relatedRules } from './relatedRules.ts';

/** The interval without an ImagePolicy: the creation of one that no rule relates triggers no sync. */
const POLICY_REQUEUE_SECONDS = 30;
/** The interval while another ConfigMap or ImagePolicy has a child's name: its deletion triggers no sync. */
const FOREIGN_REQUEUE_SECONDS = 30;
/**
 * The interval with upstream Rollouts: neither the consent of a Namespace nor a change that ends a cycle triggers a
 * sync.
 */
const UPSTREAM_REQUEUE_SECONDS = 60;
/**
 * The interval while live reads disagree with the cache: most objects that are read live trigger a sync when they
 * change, but not all.
 */
const LIVE_REQUEUE_SECONDS = 15;
/** The interval with a budget that was created after the Rollout's customize answer: its grant triggers no sync. */
const UNWATCHED_REQUEUE_SECONDS = 5;
/** The interval while the cache is behind. It also triggers a sync when it has caught up. */
const STALE_REQUEUE_SECONDS = 1;

declare const DECIDED: unique symbol;
/** A plan that may be carried out. Only `decidePlan` makes one, at its end. */
type DecidedPlan = Plan & { readonly [DECIDED]: true };

export const rolloutHook: CompositeHook<Rollout> = {
  async customize({ parent }, call) {
    return { relatedResources: await relatedRules(parent, call) };
  },

  async sync(request, call) {
    const observed = await observe(request, call);
    const { plan, requeueAfterSeconds } = await decidePlan(observed, request.related, call);
    const events = plan.events.map((event) => eventRecord(event, observed.rollout, call.now));
    for (const event of events) call.events.record(event);
    for (const count of countsOf(events, plan.status)) call.metrics.count(count);
    for (const took of durationsOf(events, observed.rollout.status, plan.status)) call.metrics.observe(took);
    return toResponse(plan, [
      plan.resyncAfterSeconds,
      requeueAfterSeconds,
      observed.imagePolicy ? undefined : POLICY_REQUEUE_SECONDS,
      observed.configMapProblem || observed.writeBackProblem ? FOREIGN_REQUEUE_SECONDS : undefined,
      observed.upstream && mayChangeUnseen(observed.rollout, observed.upstream) ? UPSTREAM_REQUEUE_SECONDS : undefined,
    ]);
  },
};

export function toResponse(
  { status, children }: DecidedPlan,
  requeues: (number | undefined)[],
): CompositeResponse<RolloutStatus> {
  return { status, children, ...resyncAfter(requeues) };
}

/**
 * The plan, computed again from live reads of what it depends on. Each step sees the plan of the step before it:
 * 1. The HealthChecks.
 * 2. The FluxBindings, if the head counts as applied.
 * 3. Health and the ImagePolicy, if the bake begins or ends.
 * 4. Everything that may block the plan, if it is irreversible.
 * 5. The bound objects. They come last: if something else holds the Rollout, listing them would be wasted in each sync.
 */
async function decidePlan(
  observed: Observed,
  related: ObjectMap,
  call: HookCall,
): Promise<{ plan: DecidedPlan; requeueAfterSeconds: number | undefined }> {
  const { rollout } = observed;
  const first = planRollout(observed, call.now);
  let [inputs, plan] = [observed, first];
  const planAgain = (read: Partial<Observed>) => {
    inputs = { ...inputs, ...read };
    plan = planRollout(inputs, call.now);
  };
  if (plan.isIrreversible || plan.dependsOnBindings || plan.dependsOnHealth) planAgain(await readChecks(inputs, call));
  if (plan.dependsOnBindings && !plan.isIrreversible)
    planAgain({ bindings: await readBindingsAfterApply(rollout, call) });
  if (plan.dependsOnHealth) {
    planAgain({
      healthChecks: await withPresentHealth(rollout, inputs.healthChecks, call),
      imagePolicy: await liveImagePolicy(withAllowedRefs(rollout, call.settings), call.cluster),
    });
  }
  const carried = await deploymentsToAdopt(inputs, plan, call);
  if (plan.isIrreversible || carried.length > 0) {
    const selectors = await readSelectors(rollout.metadata.namespace ?? '', call.cluster);
    planAgain({ carried, ...(await readBlockers(inputs, selectors, call)) });
    if (plan.isIrreversible || plan.dependsOnBindings) planAgain(await readBound(inputs, selectors, call));
  }
  if (plan.isIrreversible || plan.dependsOnHealth) await requireFresh(rollout, call);
  return { plan: plan as DecidedPlan, requeueAfterSeconds: recheckSeconds(first, plan, related) };
}

/** Seconds to the next sync, if live reads block what the cache would allow. */
function recheckSeconds(first: Plan, plan: Plan, related: ObjectMap): number | undefined {
  const isHeldBack =
    (first.dependsOnBindings && !plan.dependsOnBindings) ||
    (first.dependsOnHealth && !plan.dependsOnHealth) ||
    (first.isIrreversible && !plan.isIrreversible && !plan.waitsForBudget);
  if (plan.waitsForBudget && !isTriggeredByGrant(related)) return UNWATCHED_REQUEUE_SECONDS;
  return isHeldBack ? LIVE_REQUEUE_SECONDS : undefined;
}

/**
 * The deployments that the objects of a Rollout without a history carry: the Rollout adopts them before it deploys
 * anything.
 */
async function deploymentsToAdopt({ rollout, bindings }: Observed, plan: Plan, { cluster }: HookCall) {
  const isFirst = !rollout.status?.history?.length && !rollout.metadata.deletionTimestamp;
  const reads = isFirst && (plan.isIrreversible || bindingsOfRollout(rollout, bindings).length > 0);
  return reads ? carriedDeployments(rollout, cluster) : [];
}

/**
 * Throws unless the plan was made from the stored Rollout. A pin, a Gate, a longer bakeTime or the withdrawal of a
 * request that was accepted a moment ago might not have reached Metacontroller's cache. The ValidatingAdmissionPolicy
 * `rollout-history` covers what is accepted after this read.
 */
async function requireFresh(rollout: Rollout, { cluster }: HookCall): Promise<void> {
  if (!isStale(rollout, await liveRollout(rollout, cluster))) return;
  const { namespace, name } = rollout.metadata;
  throw new HookError(
    429,
    `Metacontroller sent an older Rollout '${namespace}/${name}' than the API server has: nothing was decided, retry in ${STALE_REQUEUE_SECONDS} s`,
    STALE_REQUEUE_SECONDS,
  );
}
