/** CompositeController `rollouts`: gathers what a Rollout's plan needs, and decides a deployment twice. */
import type { ImagePolicy } from '../../api/flux.ts';
import { KINDS } from '../../api/kinds.ts';
import type { CompositeRequest, CompositeResponse, ObjectMap } from '../../api/metacontroller.ts';
import type { HookCall, ReleaseMetadata, Settings } from '../../api/ports.ts';
import type { FluxBinding, Gate, HealthCheck, Rollout, RolloutGate, RolloutStatus } from '../../api/types.ts';
import { boundTo } from '../../core/deployment/progress.ts';
import { authorsWanted } from '../../core/evaluation/approvals.ts';
import { foreignRefs, withoutForeignRefs } from '../../core/evaluation/foreignReferences.ts';
import type { Observed } from '../../core/evaluation/observed.ts';
import { gatesToPass } from '../../core/evaluation/requiredGates.ts';
import { eventRecord } from '../../core/kube/events.ts';
import { objectAt, objectsOf } from '../../core/kube/objectMap.ts';
import { policyRef, repositoryRef } from '../../core/policy/imagePolicy.ts';
import { metadataWanted } from '../../core/release/metadata.ts';
import { countsOf } from '../../core/rollout/counts.ts';
import { durationsOf } from '../../core/rollout/durations.ts';
import { type Plan, planRollout } from '../../core/rollout/plan.ts';
import { isStale } from '../../core/status/revision.ts';
import { homeLabels } from '../home.ts';
import { type CompositeHook, HookError } from '../hook.ts';
import { liveBudgets, wakesOnGrant } from './budgets.ts';
import { copyingOf } from './copying.ts';
import {
  carriedDeployments,
  configMapIsForeign,
  liveBindings,
  liveGates,
  liveImagePolicy,
  liveRollout,
  liveRolloutGates,
  liveSelectors,
} from './liveReads.ts';
import { relatedRules } from './relatedRules.ts';
import { withRestingChecks } from './restingChecks.ts';
import { liveStages, mayChangeUnseen, stagesOf } from './stages.ts';
import { watchedChecks } from './watchedChecks.ts';

/** Nothing triggers a sync when an ImagePolicy that no rule relates appears. */
const POLICY_LOOK_S = 30;
/** Nothing triggers a sync when a ConfigMap in its way is deleted. */
const FOREIGN_LOOK_S = 30;
/** Nothing triggers a sync when the Namespace of a stage begins to consent, or a circle ends elsewhere. */
const STAGE_LOOK_S = 60;
/** Where live reads disagree with the cache: most of what they saw triggers a sync when it changes, but not all. */
const LIVE_LOOK_S = 15;
/** Nothing triggers a sync when the budget that holds a version is younger than the Rollout's rules. */
const UNWATCHED_LOOK_S = 5;
/** A cache that is behind triggers a sync itself when it has caught up. */
const STALE_LOOK_S = 1;

export const rolloutHook: CompositeHook = {
  async customize({ parent }, { cluster, settings }) {
    return { relatedResources: await relatedRules(followed(parent as unknown as Rollout, settings), cluster) };
  },

  async sync(request, call) {
    const observed = await observe(request, call);
    const cached = planRollout(observed, call.now);
    const { plan, lookAgain } = await decidedTwice(observed, cached, request.related, call);
    if (plan.commits || plan.startsCopy) await requireFresh(observed.rollout, call);
    const events = plan.events.map((event) => eventRecord(event, observed.rollout, call.now));
    for (const event of events) call.events.record(event);
    for (const count of countsOf(events, plan.status)) call.metrics.count(count);
    for (const took of durationsOf(events, observed.rollout.status, plan.status)) call.metrics.observe(took);
    const looks = [
      plan.resyncAfterSeconds,
      lookAgain,
      observed.imagePolicy ? undefined : POLICY_LOOK_S,
      observed.configMapIsForeign ? FOREIGN_LOOK_S : undefined,
      observed.stages && mayChangeUnseen(observed.rollout, observed.stages) ? STAGE_LOOK_S : undefined,
    ];
    return answer(plan, looks);
  },
};

function followed(rollout: Rollout, { noCrossNamespaceRefs }: Settings): Rollout {
  return noCrossNamespaceRefs ? withoutForeignRefs(rollout) : rollout;
}

async function observe(request: CompositeRequest, call: HookCall): Promise<Observed> {
  const rollout = request.parent as unknown as Rollout;
  const { related } = request;
  const reached = followed(rollout, call.settings);
  const ref = policyRef(reached);
  const imagePolicy = ref
    ? (objectAt<ImagePolicy>(related, KINDS.ImagePolicy, ref.namespace, ref.name) ??
      (await liveImagePolicy(reached, call.cluster)))
    : undefined;
  const forbidden = call.settings.noCrossNamespaceRefs ? foreignRefs(rollout) : [];
  const gates = objectsOf<Gate>(related, KINDS.Gate);
  const rolloutGates = objectsOf<RolloutGate>(related, KINDS.RolloutGate);
  const namespaceLabels = await homeLabels(rollout.metadata.namespace ?? '', related, gates, call.cluster);
  const watched = await watchedChecks(rollout, objectsOf<HealthCheck>(related, KINDS.HealthCheck), call);
  const stages = await stagesOf(reached, objectsOf<Rollout>(related, KINDS.Rollout), call);
  // Metacontroller sends a map, even if empty, for each kind of child that the controller has.
  const keepsConfigMaps = request.children?.['ConfigMap.v1'] !== undefined;
  const copying = await copyingOf(request, imagePolicy, call);
  return {
    rollout,
    imagePolicy,
    ...(copying && { copying }),
    rolloutGates,
    bindings: objectsOf<FluxBinding>(related, KINDS.FluxBinding),
    ...watched,
    problems: [...forbidden, ...watched.problems],
    gateRefs: gatesToPass(reached, [], { gates, namespaceLabels }),
    gates,
    ...(stages && { stages }),
    metadata: metadataOf(rollout, imagePolicy, authorsWanted(rolloutGates, gates, rollout), call),
    configMapIsForeign: keepsConfigMaps && (await configMapIsForeign(request, call.cluster)),
    configMapUnsupported: !keepsConfigMaps && Boolean(rollout.spec?.releaseConfigMap?.name),
    onFailure: call.settings.onFailure,
  };
}

function metadataOf(
  rollout: Rollout,
  policy: ImagePolicy | undefined,
  others: readonly string[],
  call: HookCall,
): Record<string, ReleaseMetadata> {
  const ref = policyRef(rollout);
  if (!ref || !policy) return {};
  const repository = repositoryRef(policy);
  if (!repository) return {};
  const image = policy.status?.latestRef?.name;
  const found = metadataWanted(rollout, policy, others).flatMap(({ tag, digest }) => {
    const { namespace } = rollout.metadata;
    const metadata = call.metadata.lookup({
      policy: ref,
      repository,
      tag,
      ...(namespace && { namespace }),
      ...(digest && { digest }),
      ...(image && { image }),
    });
    return metadata ? [[tag, metadata] as const] : [];
  });
  return Object.fromEntries(found);
}

/**
 * What cannot be taken back is decided a second time from live reads: the start of a bake, from the bindings of all bound
 * objects; a new head, and the copy of what is to become one, from RolloutGates, stages, budgets, HealthChecks at rest and Gates, those of
 * bound objects included.
 */
async function decidedTwice(
  observed: Observed,
  first: Plan,
  related: ObjectMap,
  call: HookCall,
): Promise<{ plan: Plan; lookAgain?: number }> {
  const { rollout } = observed;
  if (first.startsBake) {
    const bindings = await liveBindings(rollout, call.cluster);
    const again = { ...observed, bindings };
    const plan = planRollout(again, call.now);
    if (!plan.startsBake) return { plan, lookAgain: LIVE_LOOK_S };
    return plan.commits || plan.startsCopy ? judgedLive(again, related, call) : { plan };
  }
  const isFirst = !rollout.status?.history?.length && !rollout.metadata.deletionTimestamp;
  if (isFirst && (first.commits || boundTo(rollout, observed.bindings).length > 0)) {
    const carried = await carriedDeployments(rollout, call.cluster);
    if (carried.length > 0) return { plan: planRollout({ ...observed, carried }, call.now) };
  }
  return first.commits || first.startsCopy ? judgedLive(observed, related, call) : { plan: first };
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

async function judgedLive(
  observed: Observed,
  related: ObjectMap,
  call: HookCall,
): Promise<{ plan: Plan; lookAgain?: number }> {
  const { rollout, bindings } = observed;
  const gateRefs = gatesToPass(rollout, bindings, await liveSelectors(rollout, call.cluster));
  const [rolloutGates, gates, stages, budgets, healthChecks] = await Promise.all([
    liveRolloutGates(rollout, call.cluster),
    liveGates(gateRefs, call.cluster),
    liveStages(followed(rollout, call.settings), call),
    liveBudgets(rollout, call.cluster),
    withRestingChecks(rollout, observed.healthChecks, call),
  ]);
  const metadata = metadataOf(rollout, observed.imagePolicy, authorsWanted(rolloutGates, gates, rollout), call);
  const live = { gateRefs, gates, rolloutGates, stages, budgets, healthChecks, metadata };
  const plan = planRollout({ ...observed, ...live }, call.now);
  if (plan.commits || plan.startsCopy) return { plan };
  if (!plan.waitsForBudget) return { plan, lookAgain: LIVE_LOOK_S };
  return wakesOnGrant(related) ? { plan } : { plan, lookAgain: UNWATCHED_LOOK_S };
}

function answer({ status, configMap, copyJob }: Plan, looks: (number | undefined)[]): CompositeResponse<RolloutStatus> {
  const seconds = looks.filter((look) => look !== undefined);
  return {
    status,
    children: [...(configMap ? [configMap] : []), ...(copyJob ? [copyJob] : [])],
    ...(seconds.length > 0 && { resyncAfterSeconds: Math.min(...seconds) }),
  };
}
