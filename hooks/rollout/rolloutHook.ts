/** CompositeController `rollouts`: decides a Rollout's plan and answers it. */
import { SELECTS_ROLLOUTS_LABEL } from '../../api/annotations.ts';
import type { CompositeResponse, ObjectMap } from '../../api/metacontroller.ts';
import type { HookCall } from '../../api/ports.ts';
import type { Rollout, RolloutStatus } from '../../api/types.ts';
import { bindingsOfRollout } from '../../core/binding/boundObjects.ts';
import { eventRecord } from '../../core/kube/events.ts';
import { countsOf, durationsOf } from '../../core/rollout/deploymentMetrics.ts';
import type { Observed } from '../../core/rollout/evaluation/observed.ts';
import { type Plan, planRollout } from '../../core/rollout/plan.ts';
import { isStale } from '../../core/status/revision.ts';
import { readSelectors } from '../../live/gateReads.ts';
import { type CompositeHook, HookError, resyncAfter } from '../hook.ts';
import { readChecks, withPresentHealth } from './healthReads.ts';
import { wakesOnGrant } from './liveBudgets.ts';
import {
  carriedDeployments,
  liveRollout,
  mayChangeUnseen,
  observe,
  readBindingsAfterApply,
  readBlockers,
  readBound,
  relatedRules,
} from './observe.ts';

/** Nothing triggers a sync when an ImagePolicy that no rule relates appears. */
const POLICY_REQUEUE_SECONDS = 30;
/** Nothing triggers a sync when a ConfigMap or ImagePolicy that blocks it is deleted. */
const FOREIGN_REQUEUE_SECONDS = 30;
/**
 * No sync is triggered when the Namespace of an upstream Rollout begins to consent, or when a change of another Rollout
 * ends a cycle.
 */
const UPSTREAM_REQUEUE_SECONDS = 60;
/** Live reads disagree with the cache: most objects read live trigger a sync when they change, but not all. */
const LIVE_REQUEUE_SECONDS = 15;
/** No sync is triggered by a budget that was created after the Rollout's customize answer. */
const UNWATCHED_REQUEUE_SECONDS = 5;
/** A cache that is behind triggers a sync itself when it has caught up. */
const STALE_REQUEUE_SECONDS = 1;

declare const DECIDED: unique symbol;
/** A plan that may be carried out: made by `decidePlan` alone, at its end. */
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
 * The plan. It is made again from live reads of what it depends on: the HealthChecks; the bound objects, if the head
 * counts as applied; health, if the bake begins or ends; and everything that may block it, if it is irreversible.
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
  if (plan.isIrreversible || plan.dependsOnBindings || plan.dependsOnHealth)
    planAgain({ healthChecks: await readChecks(rollout, inputs.healthChecks, call) });
  if (plan.dependsOnBindings && !plan.isIrreversible)
    planAgain({ bindings: await readBindingsAfterApply(rollout, call) });
  if (plan.dependsOnHealth) planAgain({ healthChecks: await withPresentHealth(rollout, inputs.healthChecks, call) });
  const carried = await deploymentsToAdopt(inputs, plan, call);
  if (plan.isIrreversible || carried.length > 0) {
    const selectors = await readSelectors(rollout.metadata.namespace ?? '', SELECTS_ROLLOUTS_LABEL, call.cluster);
    planAgain({ carried, ...(await readBlockers(inputs, selectors, call)) });
    // The bound objects come last: if something else holds the Rollout, listing them would be wasted in each sync.
    if (plan.isIrreversible || plan.dependsOnBindings) planAgain(await readBound(inputs, selectors, call));
    if (plan.isIrreversible) await requireFresh(rollout, call);
  }
  return { plan: plan as DecidedPlan, requeueAfterSeconds: recheckSeconds(first, plan, related) };
}

/** Seconds until the next sync, if live reads hold back what the cache would let through. */
function recheckSeconds(first: Plan, plan: Plan, related: ObjectMap): number | undefined {
  const isHeldBack =
    (first.dependsOnBindings && !plan.dependsOnBindings) ||
    (first.dependsOnHealth && !plan.dependsOnHealth) ||
    (first.isIrreversible && !plan.isIrreversible && !plan.waitsForBudget);
  if (plan.waitsForBudget && !wakesOnGrant(related)) return UNWATCHED_REQUEUE_SECONDS;
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
 * A deployment is decided from the Rollout that is stored, or not at all: a pin, a Gate or a withdrawn request that was
 * accepted a moment ago might not have reached Metacontroller's cache.
 * What is accepted after this read meets the ValidatingAdmissionPolicy `rollout-history`.
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
