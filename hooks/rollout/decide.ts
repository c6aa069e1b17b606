/** Decides a Rollout's plan: what cannot be taken back is planned a second time, from live reads. */
import type { ObjectMap } from '../../api/metacontroller.ts';
import type { HookCall } from '../../api/ports.ts';
import type { Rollout } from '../../api/types.ts';
import { boundTo } from '../../core/deployment/progress.ts';
import { authorsWanted } from '../../core/evaluation/approvals.ts';
import type { Observed } from '../../core/evaluation/observed.ts';
import { gatesToPass, type Selectors } from '../../core/evaluation/requiredGates.ts';
import { refKey } from '../../core/kube/names.ts';
import {
  type IrreversiblePlan,
  isReversible,
  type Plan,
  planRollout,
  type ReversiblePlan,
} from '../../core/rollout/plan.ts';
import { isStale } from '../../core/status/revision.ts';
import { HookError } from '../hook.ts';
import { liveBudgets, wakesOnGrant } from './budgets.ts';
import {
  carriedDeployments,
  liveBindings,
  liveGates,
  liveRollout,
  liveRolloutGates,
  liveSelectors,
  withLiveGates,
} from './liveReads.ts';
import { followed, metadataOf } from './observe.ts';
import { withRestingChecks } from './restingChecks.ts';
import { liveStages } from './stages.ts';

/** Where live reads disagree with the cache: most of what they saw triggers a sync when it changes, but not all. */
const LIVE_LOOK_S = 15;
/** Nothing triggers a sync when the budget that holds a version is younger than the Rollout's rules. */
const UNWATCHED_LOOK_S = 5;
/** A cache that is behind triggers a sync itself when it has caught up. */
const STALE_LOOK_S = 1;

declare const JUDGED: unique symbol;
/** Only `judgeLive` makes one, at its end. */
type LiveJudged<P> = P & { readonly [JUDGED]: true };

/** A plan that may be carried out. */
export type DecidedPlan = ReversiblePlan | LiveJudged<IrreversiblePlan>;

export interface Decided {
  plan: DecidedPlan;
  /** Seconds after which to look again. */
  lookAgain?: number;
}

export async function decide(observed: Observed, related: ObjectMap, call: HookCall): Promise<Decided> {
  const plan = planRollout(observed, call.now);
  const carried = await carriedBefore(observed, plan, call);
  if (!isReversible(plan) || carried.length > 0) return judgeLive({ ...observed, carried }, related, call);
  if (!plan.endsApply) return { plan };
  const bindings = await withLiveGates(observed.rollout, await liveBindings(observed.rollout, call), call);
  const again = planRollout({ ...observed, bindings }, call.now);
  if (!isReversible(again)) return judgeLive(observed, related, call);
  return again.endsApply ? { plan: again } : { plan: again, lookAgain: LIVE_LOOK_S };
}

/** A Rollout without a history adopts what its objects carry, before it deploys anything. */
async function carriedBefore({ rollout, bindings }: Observed, plan: Plan, { cluster }: HookCall) {
  const isFirst = !rollout.status?.history?.length && !rollout.metadata.deletionTimestamp;
  const reads = isFirst && (!isReversible(plan) || boundTo(rollout, bindings).length > 0);
  return reads ? carriedDeployments(rollout, cluster) : [];
}

/**
 * The one way to a new head of the history, whoever asked for it, and to the copy of a release: all that may be in its way is read live.
 * The bound objects come last: for a Rollout that is held anyway, each of its syncs would list those of its namespace.
 */
async function judgeLive(observed: Observed, related: ObjectMap, call: HookCall): Promise<Decided> {
  const { rollout } = observed;
  const selectors = await liveSelectors(rollout, call.cluster);
  const gateRefs = gatesToPass(rollout, observed.bindings, selectors);
  const [rolloutGates, gates, stages, budgets, healthChecks] = await Promise.all([
    liveRolloutGates(rollout, call.cluster),
    liveGates(gateRefs, call.cluster),
    liveStages(followed(rollout, call.settings), call),
    liveBudgets(rollout, call.cluster),
    withRestingChecks(rollout, observed.healthChecks, call),
  ]);
  const said = metadataOf(rollout, observed.imagePolicy, authorsWanted(rolloutGates, gates, rollout), call);
  const live = { ...observed, gateRefs, gates, rolloutGates, stages, budgets, healthChecks, ...said };
  const plan = planRollout(live, call.now);
  if (!isReversible(plan)) return judgeBound(live, selectors, call);
  if (!plan.waitsForBudget) return { plan, lookAgain: LIVE_LOOK_S };
  return wakesOnGrant(related) ? { plan } : { plan, lookAgain: UNWATCHED_LOOK_S };
}

/** The rest of `judgeLive`: the Gates of the objects that are bound to the Rollout now, and the Rollout as it is stored. */
async function judgeBound(observed: Observed, selectors: Selectors, call: HookCall): Promise<Decided> {
  const { rollout } = observed;
  const bindings = await withLiveGates(rollout, observed.bindings, call);
  const gateRefs = gatesToPass(rollout, bindings, selectors);
  const known = new Set(observed.gateRefs.map(refKey));
  const others = gateRefs.filter((ref) => !known.has(refKey(ref)));
  const gates = [...observed.gates, ...(await liveGates(others, call.cluster))];
  const plan = planRollout({ ...observed, bindings, gateRefs, gates }, call.now);
  if (isReversible(plan)) return { plan, lookAgain: LIVE_LOOK_S };
  await requireFresh(rollout, call);
  return { plan: plan as LiveJudged<IrreversiblePlan> };
}

/**
 * A deployment is decided from the Rollout that is stored, or not at all: a pin, a Gate or a withdrawn request that was
 * accepted a moment ago may not have reached Metacontroller's cache. What is accepted after this read meets the
 * ValidatingAdmissionPolicy `rollout-history`.
 */
async function requireFresh(rollout: Rollout, { cluster }: HookCall): Promise<void> {
  if (!isStale(rollout, await liveRollout(rollout, cluster))) return;
  const { namespace, name } = rollout.metadata;
  throw new HookError(
    429,
    `Rollout '${namespace}/${name}' has changed since it was sent: nothing is deployed from the older one`,
    STALE_LOOK_S,
  );
}
