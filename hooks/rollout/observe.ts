/** Reads the inputs of a Rollout's first plan. Most come from Metacontroller's caches, which may be stale. */
import type { ImagePolicy } from '../../api/flux.ts';
import { KINDS } from '../../api/kinds.ts';
import type { CompositeRequest, ObjectMap } from '../../api/metacontroller.ts';
import type { ClusterReader, HookCall, ReleaseMetadata } from '../../api/ports.ts';
import type { FluxBinding, Gate, HealthCheck, Rollout, RolloutGate } from '../../api/types.ts';
import { byRefKey, refKey } from '../../core/kube/names.ts';
import { objectAt, objectsOf } from '../../core/kube/objectMap.ts';
import { isControlledBy } from '../../core/kube/ownerReferences.ts';
import { writeBackName } from '../../core/policy/derivedPolicy.ts';
import { policyRef, repositoryRef } from '../../core/policy/imagePolicy.ts';
import { mayAwaitMetadata } from '../../core/rollout/deployment/rollback.ts';
import { gatesOfRollouts } from '../../core/rollout/evaluation/gatesOfRollout.ts';
import type { Observed } from '../../core/rollout/evaluation/observed.ts';
import { forbiddenProblems, withAllowedRefs } from '../../core/rollout/evaluation/specProblems.ts';
import { authorsWanted } from '../../core/rollout/evaluation/versionApprovals.ts';
import {
  type Child,
  configMapChild,
  foreignMessage,
  notInstalledMessage,
  policyChild,
} from '../../core/rollout/ownedObjects.ts';
import { metadataWanted } from '../../core/rollout/release/metadata.ts';
import { upstreamRefs } from '../../core/rollout/upstream/dependencies.ts';
import type { UpstreamRollouts } from '../../core/rollout/upstream/upstreamVerdict.ts';
import { type Reads, readServed, readUpstream } from '../../live/objectReads.ts';
import { homeLabels } from '../customizeRules.ts';
import { copyingOf } from './copyReads.ts';
import { watchedChecks } from './healthReads.ts';

/** The inputs of a plan: related objects, which may be stale; and live reads of consent, children and Jobs. */
export async function observe(request: CompositeRequest<Rollout>, call: HookCall): Promise<Observed> {
  const { parent: rollout, related } = request;
  const { namespace = '' } = rollout.metadata;
  const reached = withAllowedRefs(rollout, call.settings);
  const imagePolicy = await imagePolicyOf(reached, related, call.cluster);
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
    problems: [
      ...forbiddenProblems(rollout, call.settings),
      ...watched.problems,
      ...(writeBackProblem ? [writeBackProblem] : []),
    ],
    // Gates of bound objects aren't related: readBlockers adds them.
    requiredGates: gatesOfRollouts([reached], [], { gates: relatedGates, namespaceLabels }),
    gates,
    upstream,
    carried: [],
    ...metadataOf(rollout, imagePolicy, authorsWanted(rolloutGates, gates, rollout), call),
    configMapProblem: await childProblem(configMapChild(rollout), request, call.cluster),
    onFailure: call.settings.onFailure,
    kuberikCompat: call.settings.kuberikCompat ?? false,
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
  return cached ?? liveImagePolicy(rollout, cluster);
}

/** The ImagePolicy that the Rollout names, live. */
export async function liveImagePolicy(rollout: Rollout, cluster: ClusterReader): Promise<ImagePolicy | undefined> {
  const ref = policyRef(rollout);
  return ref && readServed<ImagePolicy>('ImagePolicy', ref, cluster);
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

/**
 * The metadata of the releases that a decision needs, by tag, and the tags whose metadata may still arrive.
 * @param authorsOf the tags whose authors a decision needs
 */
export function metadataOf(
  rollout: Rollout,
  policy: ImagePolicy | undefined,
  authorsOf: readonly string[],
  { metadata: cache, settings, now }: HookCall,
): Pick<Observed, 'metadata' | 'awaited'> {
  const ref = policyRef(rollout);
  const repository = policy && repositoryRef(policy);
  if (!ref || !repository) return { metadata: {}, awaited: [] };
  const image = policy.status?.latestRef?.name;
  const { namespace = '' } = rollout.metadata;
  const isUrgent = mayAwaitMetadata(rollout, settings.onFailure, now);
  const found: Record<string, ReleaseMetadata> = {};
  const awaited: string[] = [];
  for (const wanted of metadataWanted(rollout, policy, authorsOf)) {
    const lookup = { policy: ref, repository, namespace, isUrgent, ...wanted, ...(image && { image }) };
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
export async function upstreamOf(
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
