/** CompositeController `rollouts`: decides a Rollout's plan, and returns its status and children. */
import type { ObjectMap } from '../../api/metacontroller.ts';
import type { HookCall } from '../../api/ports.ts';
import type { Rollout } from '../../api/types.ts';
import { bindingsOfRollout } from '../../core/binding/boundObjects.ts';
import { eventRecord } from '../../core/kube/events.ts';
import { countsOf, durationsOf } from '../../core/rollout/deploymentMetrics.ts';
import { isStale, type Observed } from '../../core/rollout/evaluation/observed.ts';
import { type Need, type Plan, planRollout } from '../../core/rollout/plan.ts';
import { readSelectingGates } from '../../live/gateReads.ts';
import { type CompositeHook, HookError, resyncAfter } from '../hook.ts';
import { carriedDeployments, liveRollout, readBlockers, readBound, readProof } from './liveReads.ts';
import { isTriggeredByGrant, observe, relatedRules } from './observe.ts';

/**
 * The interval while live reads disagree with the cache: most objects that are read live trigger a sync when they
 * change, but not all.
 */
const LIVE_REQUEUE_SECONDS = 15;
/** The interval with a budget that was created after the Rollout's customize answer: its grant triggers no sync. */
const UNWATCHED_REQUEUE_SECONDS = 5;
/** The interval while the cache is behind. It also triggers a sync when it has caught up. */
const STALE_REQUEUE_SECONDS = 1;

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
    const requeues = [plan.requeueAfterSeconds, requeueAfterSeconds];
    return { status: plan.status, children: plan.children, ...resyncAfter(requeues) };
  },
};

/** A plan, and the objects from which it was made. */
interface Draft {
  observed: Observed;
  plan: Plan;
}

function draftOf(observed: Observed, { now }: HookCall): Draft {
  return { observed, plan: planRollout(observed, now) };
}

/** The plan that may be carried out: made again after live reads of everything on which the first plan depends. */
async function decidePlan(
  observed: Observed,
  related: ObjectMap,
  call: HookCall,
): Promise<{ plan: Plan; requeueAfterSeconds: number | undefined }> {
  const first = draftOf(observed, call);
  const proven = await withLiveProof(first, call);
  const { plan } = await withLiveBlockers(proven, call);
  if (plan.needs.size > 0) await requireFresh(observed.rollout, call);
  return { plan, requeueAfterSeconds: recheckSeconds(first.plan, plan, related) };
}

/**
 * Makes the plan again from live HealthChecks if it needs any live read, and from the proof that a version is applied
 * and healthy if it needs the proof; then again, if the new plan needs what was not read.
 */
async function withLiveProof(first: Draft, call: HookCall): Promise<Draft> {
  let draft = first;
  const met = new Set<Need>();
  while ([...draft.plan.needs].some((need) => !met.has(need))) {
    for (const need of draft.plan.needs) met.add(need);
    const read = await readProof(draft.observed, met, call);
    if (!read) return draft;
    draft = draftOf(read, call);
  }
  return draft;
}

/**
 * Makes the plan again from live reads of its blockers, if it needs them or objects carry deployments to adopt. The
 * bound objects come last: if something else blocks the version, listing them would be wasted in each sync.
 */
async function withLiveBlockers(draft: Draft, call: HookCall): Promise<Draft> {
  const carried = await deploymentsToAdopt(draft, call);
  if (!draft.plan.needs.has('blockers') && carried.length === 0) return draft;
  const { observed } = draft;
  const { namespace = '' } = observed.rollout.metadata;
  const selectingGates = await readSelectingGates(namespace, call.cluster);
  const withoutBound = draftOf({ ...observed, carried, ...(await readBlockers(observed, selectingGates, call)) }, call);
  if (!withoutBound.plan.needs.has('blockers') && !withoutBound.plan.needs.has('bindings')) return withoutBound;
  return draftOf({ ...withoutBound.observed, ...(await readBound(withoutBound.observed, selectingGates, call)) }, call);
}

/** Seconds to the next sync, if live reads block what the cache would allow. */
function recheckSeconds(first: Plan, plan: Plan, related: ObjectMap): number | undefined {
  if (plan.waitsForBudget && !isTriggeredByGrant(related)) return UNWATCHED_REQUEUE_SECONDS;
  const isBlocked = [...first.needs].some(
    (need) => !plan.needs.has(need) && !(need === 'blockers' && plan.waitsForBudget),
  );
  return isBlocked ? LIVE_REQUEUE_SECONDS : undefined;
}

/**
 * The deployments that the objects of a Rollout without a history carry: the Rollout adopts them before it deploys
 * anything.
 */
async function deploymentsToAdopt({ observed: { rollout, bindings }, plan }: Draft, { cluster }: HookCall) {
  const isFirst = !rollout.status?.history?.length && !rollout.metadata.deletionTimestamp;
  const reads = isFirst && (plan.needs.has('blockers') || bindingsOfRollout(rollout, bindings).length > 0);
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
