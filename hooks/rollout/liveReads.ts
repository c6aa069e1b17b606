/**
 * Live reads of everything that a deployment depends on: caches of different kinds lag differently, and a deployment
 * can't be undone.
 */
import type { FluxObject, ImagePolicy } from '../../api/flux.ts';
import { CLUSTER_ROLLOUT_BUDGETS, KINDS_WITH_MANAGED_FIELDS, ROLLOUT_BUDGETS, ROLLOUTS } from '../../api/kinds.ts';
import type { ClusterReader, HookCall, ReleaseMetadata, ResourceRef } from '../../api/ports.ts';
import type { Budget, FluxBinding, Rollout } from '../../api/types.ts';
import { boundObjectNames, completeBindings, currentBindings } from '../../core/binding/boundObjects.ts';
import { type Budgets, budgetsOf, namespaceSelectorOf } from '../../core/budget/selectingBudgets.ts';
import type { SelectingGates } from '../../core/gate/gateSelection.ts';
import { without } from '../../core/kube/names.ts';
import { LIMITS } from '../../core/limits.ts';
import { policyRef, repositoryRef } from '../../core/policy/imagePolicy.ts';
import { type CarriedDeployment, deploymentsCarriedBy } from '../../core/rollout/deployment/entry.ts';
import { gatesOfRollouts } from '../../core/rollout/evaluation/gatesOfRollout.ts';
import type { Observed } from '../../core/rollout/evaluation/observed.ts';
import { mayAwaitMetadata } from '../../core/rollout/evaluation/rollback.ts';
import { authorsWanted } from '../../core/rollout/evaluation/versionApprovals.ts';
import type { Need } from '../../core/rollout/plan.ts';
import { releasesToLookUp } from '../../core/rollout/release/metadata.ts';
import { listBindableObjects, listBindings, readGates } from '../../live/gateReads.ts';
import {
  listRolloutGates,
  namespaceLabels,
  objectsOfKinds,
  readObjects,
  readServed,
  readUpstream,
} from '../../live/objectReads.ts';
import { readChecks, withPresentHealth, withRestingChecks } from './healthReads.ts';

/**
 * Reads the proof that a version is applied and healthy live. It reads the HealthChecks always, and the FluxBindings
 * for the need `bindings`. For `health` it reads the ImagePolicy and the present health, which may differ from the
 * stored reports. Resolves to undefined if there is nothing to read: then the plan needn't be made again, which takes
 * long with many candidates.
 */
export async function readProof(
  observed: Observed,
  needs: ReadonlySet<Need>,
  call: HookCall,
): Promise<Observed | undefined> {
  const { rollout } = observed;
  const [checks, bindings] = await Promise.all([
    readChecks(observed, call),
    needs.has('bindings') ? readBindingsAfterApply(rollout, call) : observed.bindings,
  ]);
  const read = { ...observed, ...checks, bindings };
  if (!needs.has('health')) return checks || needs.has('bindings') ? read : undefined;
  const [healthChecks, imagePolicy] = await Promise.all([
    withPresentHealth(rollout, read.healthChecks, call),
    liveImagePolicy(rollout, call.cluster),
  ]);
  return { ...read, healthChecks, imagePolicy };
}

/** Reads live everything that may block a version, except the Gates of objects that were bound a moment ago. */
export async function readBlockers(
  { rollout, bindings, healthChecks }: Observed,
  selectingGates: SelectingGates,
  call: HookCall,
): Promise<Partial<Observed>> {
  const requiredGates = gatesOfRollouts([rollout], bindings, selectingGates, call.settings);
  const [imagePolicy, rolloutGates, gates, upstream, budgets, checks] = await Promise.all([
    liveImagePolicy(rollout, call.cluster),
    listRolloutGates(rollout, call.cluster),
    readGates(requiredGates.refs, call.cluster),
    readUpstream(rollout, call),
    liveBudgets(rollout, call.cluster),
    withRestingChecks(rollout, healthChecks, call),
  ]);
  const metadata = lookUpMetadata(rollout, imagePolicy, authorsWanted(rolloutGates, gates, rollout), call);
  return { imagePolicy, requiredGates, gates, rolloutGates, upstream, budgets, healthChecks: checks, ...metadata };
}

/** The ImagePolicy that the Rollout names, live. */
export async function liveImagePolicy(rollout: Rollout, cluster: ClusterReader): Promise<ImagePolicy | undefined> {
  const ref = policyRef(rollout);
  return ref && readServed<ImagePolicy>('ImagePolicy', ref, cluster);
}

/**
 * The metadata of the releases that a decision needs, by tag, and the tags whose metadata may still arrive.
 * @param authorsOf the tags whose authors a decision needs
 */
export function lookUpMetadata(
  rollout: Rollout,
  policy: ImagePolicy | undefined,
  authorsOf: readonly string[],
  { metadata: cache, settings, now }: HookCall,
): Pick<Observed, 'metadata' | 'awaitedMetadata'> {
  const ref = policyRef(rollout);
  const repository = policy && repositoryRef(policy);
  if (!ref || !repository) return { metadata: {}, awaitedMetadata: [] };
  const image = policy.status?.latestRef?.name;
  const { namespace = '' } = rollout.metadata;
  const isUrgent = mayAwaitMetadata(rollout, settings.onFailure, now);
  const found: Record<string, ReleaseMetadata> = {};
  const awaitedMetadata: string[] = [];
  for (const wanted of releasesToLookUp(rollout, policy, authorsOf)) {
    const lookup = { policy: ref, repository, namespace, isUrgent, ...wanted, ...(image && { image }) };
    const metadata = cache.lookup(lookup);
    if (metadata) found[wanted.tag] = metadata;
    else if (cache.isAwaited(lookup)) awaitedMetadata.push(wanted.tag);
  }
  return { metadata: found, awaitedMetadata };
}

/** The budgets that select the Rollout, as they are now. */
async function liveBudgets(rollout: Rollout, cluster: ClusterReader): Promise<Budgets> {
  const { namespace = '' } = rollout.metadata;
  const lists = await Promise.all([
    listBudgets(CLUSTER_ROLLOUT_BUDGETS, cluster),
    listBudgets({ ...ROLLOUT_BUDGETS, namespace }, cluster),
  ]);
  const budgets = lists.flat();
  const isNeeded = budgets.some((budget) => namespaceSelectorOf(budget) !== undefined);
  const labels = isNeeded ? await namespaceLabels(namespace, cluster) : {};
  const isTruncated = lists.some(({ length }) => length > LIMITS.listedBudgets);
  return budgetsOf(rollout, budgets, labels, isTruncated);
}

/** The budgets: one more than the limit if there are too many; none while the CRD isn't installed. */
async function listBudgets(ref: ResourceRef, cluster: ClusterReader): Promise<Budget[]> {
  if (!(await cluster.serves(ref))) return [];
  return cluster.list<Budget>({ ...ref, atMost: LIMITS.listedBudgets + 1 });
}

/** The objects that are bound to the Rollout now, with their Gates. */
export async function readBound(
  observed: Observed,
  selectingGates: SelectingGates,
  call: HookCall,
): Promise<Pick<Observed, 'bindings' | 'requiredGates' | 'gates'>> {
  const { rollout } = observed;
  const objects = await liveBoundObjects(rollout, observed.bindings, call);
  const bindings = currentBindings([rollout], objects, observed.bindings, selectingGates, call.settings);
  const requiredGates = gatesOfRollouts([rollout], bindings, selectingGates, call.settings);
  const others = await readGates(without(requiredGates.refs, observed.requiredGates.refs), call.cluster);
  return { bindings, requiredGates, gates: new Map([...observed.gates, ...others]) };
}

/** The Rollout as it is stored; undefined if it is gone. */
export function liveRollout({ metadata }: Rollout, cluster: ClusterReader): Promise<Rollout | undefined> {
  const { namespace = '', name = '' } = metadata;
  return cluster.get<Rollout>({ ...ROLLOUTS, namespace, name });
}

// The objects bound to the Rollout, live.

/** The Rollout's deployments that Flux objects of its namespace carry. */
export async function carriedDeployments({ metadata }: Rollout, cluster: ClusterReader): Promise<CarriedDeployment[]> {
  const { namespace = '', name = '' } = metadata;
  const objects = await objectsOfKinds(KINDS_WITH_MANAGED_FIELDS, namespace, cluster);
  return deploymentsCarriedBy(objects, name);
}

/** The maximum age of the list of objects once the newest deployment is applied: see `readBindingsAfterApply`. */
const MAX_AGE_AFTER_APPLY_MS = 5000;
/** The maximum age before a deployment, which reads the bound objects of the list again: see `liveBoundObjects`. */
const MAX_AGE_BEFORE_DEPLOYMENT_MS = 1000;
/** The most reads of single objects. With more bound objects, the Rollout lists the namespace's objects instead. */
const MAX_OBJECT_READS = 8;

/**
 * The bindings of the objects bound to the Rollout, for a deployment that seems to be applied everywhere. Their Gates
 * don't matter. An object that was bound in the last seconds may be missing: the webhook has given it the version.
 */
async function readBindingsAfterApply(rollout: Rollout, call: HookCall): Promise<FluxBinding[]> {
  const bindings = await listBindings([rollout], call.cluster);
  const objects = await recentBindableObjects(rollout, MAX_AGE_AFTER_APPLY_MS, call);
  return completeBindings([rollout], objects, bindings);
}

/**
 * The objects bound to the Rollout, as they are now. A list of thousands of objects takes a quarter of a second of the
 * API server's time, and in a burst each Rollout of the namespace needs one. So they share one list, and all but the
 * one that lists read their own objects again. Only an object that was bound within the last second and has no
 * FluxBinding yet may be missing: the webhook holds it.
 */
async function liveBoundObjects(
  rollout: Rollout,
  bindings: readonly FluxBinding[],
  call: HookCall,
): Promise<readonly FluxObject[]> {
  // The first deployment often comes a moment after its objects were bound.
  if (!rollout.status?.history?.length) return recentBindableObjects(rollout, 0, call);
  let isListedNow = false;
  const listed = await recentBindableObjects(rollout, MAX_AGE_BEFORE_DEPLOYMENT_MS, call, () => {
    isListedNow = true;
  });
  if (isListedNow) return listed;
  const known = boundObjectNames(rollout, bindings, listed);
  return known.length > MAX_OBJECT_READS ? recentBindableObjects(rollout, 0, call) : readObjects(known, call.cluster);
}

/**
 * The metadata of the objects that annotations may bind to a Rollout of the namespace, at most `maxAgeMs` old.
 * @param onList called if they are listed for this call
 */
function recentBindableObjects(
  { metadata }: Rollout,
  maxAgeMs: number,
  { cluster, sharedReads }: HookCall,
  onList?: () => void,
): Promise<FluxObject[]> {
  const { namespace = '' } = metadata;
  return sharedReads.recent(maxAgeMs, `bound in ${namespace}`, () => {
    onList?.();
    return listBindableObjects(namespace, cluster);
  });
}
