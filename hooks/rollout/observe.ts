/**
 * Everything that is read for a Rollout: first related objects from Metacontroller's caches; then, before a deployment,
 * live reads of what it depends on, because caches of different kinds lag differently and a deployment can't be undone.
 */
import { ROLLOUT_NAME_LABEL, SELECTS_ROLLOUTS_LABEL } from '../../api/annotations.ts';
import type { FluxObject, ImagePolicy } from '../../api/flux.ts';
import {
  FLUX_BINDINGS,
  GATES,
  HEALTH_CHECKS,
  KINDS,
  KINDS_WITH_MANAGED_FIELDS,
  ROLLOUT_GATES,
  ROLLOUTS,
} from '../../api/kinds.ts';
import type { CompositeRequest, ObjectMap, RelatedResourceRule } from '../../api/metacontroller.ts';
import type { ClusterReader, HookCall, ReleaseMetadata, Settings } from '../../api/ports.ts';
import type { FluxBinding, Gate, HealthCheck, Rollout, RolloutGate } from '../../api/types.ts';
import { boundObjectNames, completeBindings, currentBindings } from '../../core/binding/boundObjects.ts';
import { gatesNamedBy } from '../../core/gate/gateRefs.ts';
import { type GateSelectors, selectingGateRules } from '../../core/gate/gateSelection.ts';
import { healthCheckLabels } from '../../core/health/association.ts';
import { boundLabel, byRefKey, labelValue, refKey, without } from '../../core/kube/names.ts';
import { objectAt, objectsOf } from '../../core/kube/objectMap.ts';
import { isControlledBy } from '../../core/kube/ownerReferences.ts';
import { writeBackName } from '../../core/policy/derivedPolicy.ts';
import { policyRef, repositoryRef } from '../../core/policy/imagePolicy.ts';
import { type CarriedDeployment, deploymentsCarriedBy } from '../../core/rollout/deployment/entry.ts';
import type { Observed } from '../../core/rollout/evaluation/observed.ts';
import { requiredGatesOf } from '../../core/rollout/evaluation/requiredGates.ts';
import { foreignRefProblems, specProblems, withoutForeignRefs } from '../../core/rollout/evaluation/specProblems.ts';
import { authorsWanted } from '../../core/rollout/evaluation/versionApprovals.ts';
import {
  type Child,
  configMapChild,
  foreignMessage,
  notInstalledMessage,
  policyChild,
} from '../../core/rollout/ownedObjects.ts';
import { metadataWanted } from '../../core/rollout/release/metadata.ts';
import { untrustedMatchProblems, upstreamRefs } from '../../core/rollout/upstream/dependencies.ts';
import type { UpstreamRollouts } from '../../core/rollout/upstream/upstreamVerdict.ts';
import { listBindableObjects, listBindings, readGates, refRules } from '../../live/gateReads.ts';
import {
  listRolloutGates,
  objectsOfKinds,
  type Reads,
  readObjects,
  readServed,
  readUpstream,
  servedVersion,
} from '../../live/objectReads.ts';
import { homeLabels, homeRules, namedRules } from '../customizeRules.ts';
import { copyingOf } from './copyReads.ts';
import { watchedChecks, withRestingChecks } from './healthReads.ts';
import { budgetRules, liveBudgets } from './liveBudgets.ts';

/** The customize rules: docs/facts.md, M11 and M14. */
export async function relatedRules(
  parent: Rollout,
  { cluster, settings }: Pick<HookCall, 'cluster' | 'settings'>,
): Promise<RelatedResourceRule[]> {
  const rollout = withAllowedRefs(parent, settings);
  const { namespace = '', name = '' } = rollout.metadata;
  return [
    ...(await policyRule(rollout, cluster)),
    {
      ...ROLLOUT_GATES,
      namespace,
      labelSelector: { matchLabels: { [ROLLOUT_NAME_LABEL]: labelValue(name) } },
    },
    {
      ...FLUX_BINDINGS,
      namespace,
      labelSelector: { matchExpressions: [{ key: boundLabel(name), operator: 'Exists' }] },
    },
    ...healthCheckRule(rollout),
    // These don't depend on the existing Gates, because the answer is cached by generation (docs/facts.md, M6).
    ...selectingGateRules(namespace, SELECTS_ROLLOUTS_LABEL),
    ...(await homeRules(namespace, cluster)),
    ...(await budgetRules({ namespace, name }, cluster)),
    ...namedRules(GATES, gatesNamedBy(rollout)),
    ...namedRules(ROLLOUTS, upstreamRefs(rollout)),
  ];
}

async function policyRule(rollout: Rollout, cluster: ClusterReader): Promise<RelatedResourceRule[]> {
  const ref = policyRef(rollout);
  const apiVersion = ref && (await servedVersion('ImagePolicy', cluster));
  if (!apiVersion) return [];
  return [{ apiVersion, resource: KINDS.ImagePolicy.resource, namespace: ref.namespace, names: [ref.name] }];
}

/**
 * The rule for HealthChecks of the Rollout's own namespace; `watchedChecks` reads others live once they consent.
 * None for an invalid selector, which would fail the sync: the plan reports the problem.
 */
function healthCheckRule({ metadata, spec }: Rollout): RelatedResourceRule[] {
  const labelSelector = healthCheckLabels(spec?.healthCheckSelector);
  if (!labelSelector || specProblems(spec ?? {}).length > 0) return [];
  return [{ ...HEALTH_CHECKS, namespace: metadata.namespace ?? '', labelSelector }];
}

/** The Rollout, without the references that this installation forbids. */
function withAllowedRefs(rollout: Rollout, { noCrossNamespaceRefs }: Settings): Rollout {
  return noCrossNamespaceRefs ? withoutForeignRefs(rollout) : rollout;
}

/** The inputs of a plan: related objects, which may be stale; and live reads of consent, children and Jobs. */
export async function observe(request: CompositeRequest<Rollout>, call: HookCall): Promise<Observed> {
  const { parent: rollout, related } = request;
  const { namespace = '' } = rollout.metadata;
  const reached = withAllowedRefs(rollout, call.settings);
  const imagePolicy = await imagePolicyOf(reached, related, call.cluster);
  const forbidden = call.settings.noCrossNamespaceRefs ? foreignRefProblems(rollout) : [];
  const untrusted = call.settings.trustPublishers ? [] : untrustedMatchProblems(rollout);
  const relatedGates = objectsOf<Gate>(related, KINDS.Gate);
  const gates = byRefKey(relatedGates);
  const rolloutGates = objectsOf<RolloutGate>(related, KINDS.RolloutGate);
  const namespaceLabels = await homeLabels(namespace, related, relatedGates, call.cluster);
  const watched = await watchedChecks(rollout, objectsOf<HealthCheck>(related, KINDS.HealthCheck), call);
  const upstream = await upstreamOf(reached, call, objectsOf<Rollout>(related, KINDS.Rollout));
  const copying = await copyingOf(request, imagePolicy, call);
  const derivedPolicy = objectAt<ImagePolicy>(
    request.children,
    KINDS.ImagePolicy,
    namespace,
    writeBackName(rollout) ?? '',
  );
  const writeBackProblem = await childProblem(policyChild(rollout), request, call.cluster);
  return {
    rollout,
    imagePolicy,
    copying,
    derivedPolicy,
    writeBackProblem,
    rolloutGates,
    bindings: objectsOf<FluxBinding>(related, KINDS.FluxBinding),
    ...watched,
    problems: [...forbidden, ...untrusted, ...watched.problems, ...(writeBackProblem ? [writeBackProblem] : [])],
    gateRefs: requiredGatesOf([reached], [], { gates: relatedGates, namespaceLabels }),
    gates,
    upstream,
    carried: [],
    ...metadataOf(rollout, imagePolicy, authorsWanted(rolloutGates, gates, rollout), call),
    configMapProblem: await childProblem(configMapChild(rollout), request, call.cluster),
    onFailure: call.settings.onFailure,
    likeKuberik: call.settings.likeKuberik ?? false,
  };
}

/** The Rollout's ImagePolicy, read live if the customize answer is older than the ImagePolicy or its CRD. */
async function imagePolicyOf(
  rollout: Rollout,
  related: ObjectMap,
  cluster: ClusterReader,
): Promise<ImagePolicy | undefined> {
  const ref = policyRef(rollout);
  if (!ref) return undefined;
  const cached = objectAt<ImagePolicy>(related, KINDS.ImagePolicy, ref.namespace, ref.name);
  return cached ?? readServed<ImagePolicy>('ImagePolicy', ref, cluster);
}

/**
 * Why a child can't be written: the installation lacks its kind, or another object has its name. Metacontroller sends
 * only our own children, so a missing child is either not created yet, or its name is taken.
 */
async function childProblem(
  child: Child | undefined,
  { parent: rollout, children }: CompositeRequest<Rollout>,
  cluster: ClusterReader,
): Promise<string | undefined> {
  if (!child || rollout.metadata.deletionTimestamp) return undefined;
  const { kind, apiVersion, resource, name } = child;
  const { namespace = '' } = rollout.metadata;
  // Metacontroller sends a map, even if empty, for each kind of child that the controller has.
  const ours = children?.[`${kind}.${apiVersion}`];
  if (!ours) return notInstalledMessage(child);
  if (ours[`${namespace}/${name}`]) return undefined;
  const found = await cluster.get({ apiVersion, resource, namespace, name });
  return found && !isControlledBy(found, rollout.metadata.uid) ? foreignMessage(child) : undefined;
}

/** The metadata of the releases that a decision needs, by tag, and the tags whose metadata may still arrive. */
function metadataOf(
  rollout: Rollout,
  policy: ImagePolicy | undefined,
  others: readonly string[],
  { metadata: cache }: HookCall,
): Pick<Observed, 'metadata' | 'awaited'> {
  const ref = policyRef(rollout);
  const repository = policy && repositoryRef(policy);
  if (!ref || !repository) return { metadata: {}, awaited: [] };
  const image = policy.status?.latestRef?.name;
  const { namespace = '' } = rollout.metadata;
  const found: Record<string, ReleaseMetadata> = {};
  const awaited: string[] = [];
  for (const wanted of metadataWanted(rollout, policy, others)) {
    const lookup = { policy: ref, repository, namespace, ...wanted, ...(image && { image }) };
    const metadata = cache.lookup(lookup);
    if (metadata) found[wanted.tag] = metadata;
    else if (cache.isAwaited(lookup)) awaited.push(wanted.tag);
  }
  return { metadata: found, awaited };
}

/**
 * The upstream Rollouts of a Rollout, `spec.after`, read live before a deployment.
 * Their own upstream Rollouts are always read live: a change of them must trigger no sync.
 * @param cached the related Rollouts, instead of live reads
 */
async function upstreamOf(
  rollout: Rollout,
  call: Reads,
  cached?: readonly Rollout[],
): Promise<UpstreamRollouts | undefined> {
  const refs = upstreamRefs(rollout);
  if (refs.length === 0) return undefined;
  const byKey = cached && byRefKey(cached);
  return readUpstream(rollout, call, byKey && refs.map((ref) => [refKey(ref), byKey.get(refKey(ref))] as const));
}

/**
 * Whether the upstream Rollouts may change without a sync: neither a Namespace's consent nor the end of a cycle
 * triggers one.
 */
export function mayChangeUnseen(rollout: Rollout, { found, problem }: UpstreamRollouts): boolean {
  return problem !== undefined || upstreamRefs(rollout).length > found.length;
}

// Live reads before a deployment.

/** Reads live everything that may block a version, except the Gates of objects that were bound a moment ago. */
export async function readBlockers(
  { rollout, imagePolicy, bindings, healthChecks }: Observed,
  selectors: GateSelectors,
  call: HookCall,
): Promise<Partial<Observed>> {
  const allowed = withAllowedRefs(rollout, call.settings);
  const gateRefs = requiredGatesOf([allowed], bindings, selectors);
  const [rolloutGates, gates, upstream, budgets, checks] = await Promise.all([
    listRolloutGates(rollout, call.cluster),
    readGates(gateRefs, call.cluster),
    upstreamOf(allowed, call),
    liveBudgets(rollout, call.cluster),
    withRestingChecks(rollout, healthChecks, call),
  ]);
  const metadata = metadataOf(rollout, imagePolicy, authorsWanted(rolloutGates, gates, rollout), call);
  return { gateRefs, gates, rolloutGates, upstream, budgets, healthChecks: checks, ...metadata };
}

/** The objects that are bound to the Rollout now, with their Gates. */
export async function readBound(
  observed: Observed,
  selectors: GateSelectors,
  call: HookCall,
): Promise<Pick<Observed, 'bindings' | 'gateRefs' | 'gates'>> {
  const { rollout } = observed;
  const objects = await liveBoundObjects(rollout, observed.bindings, call);
  const bindings = currentBindings([rollout], objects, observed.bindings, selectors, refRules(call.settings));
  const gateRefs = requiredGatesOf([withAllowedRefs(rollout, call.settings)], bindings, selectors);
  const others = await readGates(without(gateRefs, observed.gateRefs), call.cluster);
  return { bindings, gateRefs, gates: new Map([...observed.gates, ...others]) };
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
export async function readBindingsAfterApply(rollout: Rollout, call: HookCall): Promise<FluxBinding[]> {
  const bindings = await listBindings([rollout], call.cluster);
  const objects = await recentBindableObjects(rollout, MAX_AGE_AFTER_APPLY_MS, call);
  return completeBindings([rollout], objects, bindings);
}

/**
 * The objects bound to the Rollout, as they are now. In a burst each Rollout of the namespace needs a list, and a list
 * of thousands takes a quarter of a second of the API server's time: so they share one, and all but the one that lists
 * read their own objects again. Only an object that was bound within the last second and has no FluxBinding yet may be
 * missing: the webhook holds it.
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
