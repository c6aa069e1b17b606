/** CompositeController `rollouts`: decides a Rollout's plan and answers it. */
import { SELECTS_ROLLOUTS_LABEL } from '../../api/annotations.ts';
import type { CompositeResponse, ObjectMap } from '../../api/metacontroller.ts';
import type { HookCall } from '../../api/ports.ts';
import type { Rollout, RolloutStatus } from '../../api/types.ts';
import { eventRecord } from '../../core/kube/events.ts';
import { without } from '../../core/kube/names.ts';
import { boundTo } from '../../core/rollout/deployment/progress.ts';
import { countsOf, durationsOf } from '../../core/rollout/deploymentMetrics.ts';
import type { Observed } from '../../core/rollout/evaluation/inputs.ts';
import { type GateSelectors, requiredGatesOf } from '../../core/rollout/evaluation/requiredGates.ts';
import { authorsWanted } from '../../core/rollout/evaluation/versionApprovals.ts';
import {
  type IrreversiblePlan,
  isReversible,
  type Plan,
  planRollout,
  type ReversiblePlan,
} from '../../core/rollout/plan.ts';
import { isStale } from '../../core/status/revision.ts';
import { readGates, readSelectors } from '../../live/gateReads.ts';
import { listRolloutGates } from '../../live/objectReads.ts';
import { type CompositeHook, HookError, resyncAfter } from '../hook.ts';
import { liveBudgets, wakesOnGrant } from './liveBudgets.ts';
import {
  appliedBindings,
  carriedDeployments,
  liveBindings,
  liveRollout,
  mayChangeUnseen,
  upstreamOf,
  withPresentHealth,
  withRestingChecks,
} from './liveReads.ts';
import { metadataOf, observe, withAllowedRefs } from './observe.ts';
import { relatedRules } from './relatedRules.ts';

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

declare const DECIDED_LIVE: unique symbol;
/** A plan decided from live reads: made by `decideLive` alone, at its end. */
type LiveDecided<P> = P & { readonly [DECIDED_LIVE]: true };

/** A plan that may be carried out. */
type DecidedPlan = ReversiblePlan | LiveDecided<IrreversiblePlan>;

interface Decided {
  plan: DecidedPlan;
  /** Seconds until the next sync. */
  requeueAfterSeconds?: number;
}

export const rolloutHook: CompositeHook<Rollout> = {
  async customize({ parent }, { cluster, settings }) {
    return { relatedResources: await relatedRules(withAllowedRefs(parent, settings), cluster) };
  },

  async sync(request, call) {
    const observed = await observe(request, call);
    const { plan, requeueAfterSeconds } = await decidePlan(observed, request.related, call);
    const events = plan.events.map((event) => eventRecord(event, observed.rollout, call.now));
    for (const event of events) call.events.record(event);
    for (const count of countsOf(events, plan.status)) call.metrics.count(count);
    for (const took of durationsOf(events, observed.rollout.status, plan.status)) call.metrics.observe(took);
    return answer(plan, [
      plan.resyncAfterSeconds,
      requeueAfterSeconds,
      observed.imagePolicy ? undefined : POLICY_REQUEUE_SECONDS,
      observed.configMapProblem || observed.writeBackProblem ? FOREIGN_REQUEUE_SECONDS : undefined,
      observed.upstream && mayChangeUnseen(observed.rollout, observed.upstream) ? UPSTREAM_REQUEUE_SECONDS : undefined,
    ]);
  },
};

/** The answer to Metacontroller. The type makes sure that an irreversible plan was decided from live reads. */
export function answer(
  { status, children }: DecidedPlan,
  requeues: (number | undefined)[],
): CompositeResponse<RolloutStatus> {
  return { status, children, ...resyncAfter(requeues) };
}

/**
 * The plan. It is made again from live reads of what it relies on: the bound objects, if the head counts as applied;
 * health, if the bake begins or succeeds; and everything, if the plan is irreversible.
 */
async function decidePlan(observed: Observed, related: ObjectMap, call: HookCall): Promise<Decided> {
  const { rollout } = observed;
  const first = planRollout(observed, call.now);
  let [plan, read] = [first, observed];
  if (plan.trustsBindings && isReversible(plan)) {
    read = { ...read, bindings: await appliedBindings(rollout, call) };
    plan = planRollout(read, call.now);
  }
  if (plan.trustsHealth) {
    read = { ...read, healthChecks: await withPresentHealth(rollout, read.healthChecks, call) };
    plan = planRollout(read, call.now);
  }
  const carried = await deploymentsToAdopt(observed, plan, call);
  if (!isReversible(plan) || carried.length > 0) return decideLive({ ...read, carried }, related, call);
  const isHeldBack = (first.trustsBindings && !plan.trustsBindings) || (first.trustsHealth && !plan.trustsHealth);
  return isHeldBack ? { plan, requeueAfterSeconds: LIVE_REQUEUE_SECONDS } : { plan };
}

/**
 * The deployments that the objects of a Rollout without a history carry: the Rollout adopts them before it deploys
 * anything.
 */
async function deploymentsToAdopt({ rollout, bindings }: Observed, plan: Plan, { cluster }: HookCall) {
  const isFirst = !rollout.status?.history?.length && !rollout.metadata.deletionTimestamp;
  const reads = isFirst && (!isReversible(plan) || boundTo(rollout, bindings).length > 0);
  return reads ? carriedDeployments(rollout, cluster) : [];
}

/**
 * The only function that may add a head to the history, or start the copy of a release: all possible blockers are read
 * live.
 * The bound objects come last: if something else holds the Rollout, listing them would be wasted in each sync.
 */
async function decideLive(observed: Observed, related: ObjectMap, call: HookCall): Promise<Decided> {
  const { rollout } = observed;
  const { namespace = '' } = rollout.metadata;
  const allowed = withAllowedRefs(rollout, call.settings);
  const selectors = await readSelectors(namespace, SELECTS_ROLLOUTS_LABEL, call.cluster);
  const gateRefs = requiredGatesOf([allowed], observed.bindings, selectors);
  const [rolloutGates, gates, upstream, budgets, healthChecks] = await Promise.all([
    listRolloutGates(rollout, call.cluster),
    readGates(gateRefs, call.cluster),
    upstreamOf(allowed, call),
    liveBudgets(rollout, call.cluster),
    withRestingChecks(rollout, observed.healthChecks, call),
  ]);
  const releaseMetadata = metadataOf(rollout, observed.imagePolicy, authorsWanted(rolloutGates, gates, rollout), call);
  const live = { ...observed, gateRefs, gates, rolloutGates, upstream, budgets, healthChecks, ...releaseMetadata };
  const plan = planRollout(live, call.now);
  if (!isReversible(plan) || plan.trustsBindings) return decideBound(live, selectors, call);
  if (!plan.waitsForBudget) return { plan, requeueAfterSeconds: LIVE_REQUEUE_SECONDS };
  return wakesOnGrant(related) ? { plan } : { plan, requeueAfterSeconds: UNWATCHED_REQUEUE_SECONDS };
}

/**
 * The rest of `decideLive`: the Gates of the objects that are bound to the Rollout now, and the Rollout as it is
 * stored.
 */
async function decideBound(observed: Observed, selectors: GateSelectors, call: HookCall): Promise<Decided> {
  const { rollout } = observed;
  const bindings = await liveBindings(rollout, observed.bindings, call);
  const gateRefs = requiredGatesOf([withAllowedRefs(rollout, call.settings)], bindings, selectors);
  const others = without(gateRefs, observed.gateRefs);
  const gates = new Map([...observed.gates, ...(await readGates(others, call.cluster))]);
  const plan = planRollout({ ...observed, bindings, gateRefs, gates }, call.now);
  if (isReversible(plan)) return { plan, requeueAfterSeconds: LIVE_REQUEUE_SECONDS };
  await requireFresh(rollout, call);
  return { plan: plan as LiveDecided<IrreversiblePlan> };
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
